"""The import rules in pyproject.toml cover the modules that exist."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PURE = (
    "selftest", "monitor", "loosening", "markdown", "gate", "sharding", "adaptive", "compare", "selection",
    "plan", "checks", "comparability", "state", "stats", "redaction", "costs", "escaping", "runtimes", "drafts",
    "stand_ins", "shapes", "importing", "documents", "tools", "trace", "verdicts", "records", "errors",
)  # fmt: skip


@pytest.mark.parametrize(
    ("contract", "modules"),
    [
        ("Words and rules touch nothing outside", PURE),
        ("The gateway speaks MCP without the SDK", ("gateway",)),
    ],
)
def test_contract_lists_each_of_its_modules_that_exists(contract: str, modules: tuple[str, ...]):
    existing = {f"seatrial.{name}" for name in modules if _exists(name)}

    assert set(_contracts()[contract]["source_modules"]) == existing


def _exists(name: str) -> bool:
    package = ROOT / "src" / "seatrial"
    return (package / f"{name}.py").exists() or (package / name / "__init__.py").exists()


def _contracts():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {rule["name"]: rule for rule in pyproject["tool"]["importlinter"]["contracts"]}
