"""The page about `seatrial check` names every code, and no other."""

import re
from pathlib import Path

import yaml

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reference" / "check.md"
OF_FILES = {
    "function",
    "source",
    "settings",
    "link",
    "not-a-file",
    "unreadable",
    "too-large",
    "more",
}
"""Codes that tests/component/test_loading_tree.py, test_loading_yaml.py and
tests/e2e/test_check_command.py, test_cli_diff_arm.py and test_workspace_checks_by_functions.py show."""


OF_PEOPLE = {"persona-without-name", "several-currencies", "unknown-ending"}
"""Codes that tests/unit/test_loading_people.py shows, which takes several fixtures."""
OF_REUSE = {
    "defaults",
    "extends-itself",
    "matrix",
    "never-extended",
    "no-default",
    "no-price",
    "takes-itself-in",
    "wrong-kind",
}
"""Codes that test_loading_reuse.py, test_loading_matrices.py, test_loading_price_lists.py and
test_loading_suites.py in tests/unit show, which take several files."""
OF_THE_DAY = {"quarantine-expired"}
"""Codes that tests/component/test_cli_check_warnings.py shows."""
OF_VERSIONS = {"older-schema", "newer-schema"}
"""Codes that tests/unit/test_loading_migrations.py shows."""
WARNINGS = {
    "no-program",
    "in-no-suite",
    "no-arm",
    "review-stale",
    "unused-fixture",
    "few-negative",
    "already-so",
    "all-skippable",
    "beyond-role",
    "not-every-arm",
    "no-function",
    "real-mail",
    "real-host",
    "real-iban",
    "real-card",
    "real-id",
    "real-phone",
    "real-data",
    "secret",
}
"""Codes that tests/unit/test_loading_advice.py, test_loading_lifelike.py and
tests/component/test_workspace_targets.py show."""


def test_every_code_has_its_line_in_the_reference():
    rows = yaml.safe_load((TESTS / "fixtures" / "bad_documents.yaml").read_text(encoding="utf-8"))
    shown = {re.findall(r"\w[\w-]*", said)[0] for row in rows for said in row["problems"]}
    documented = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(documented) == sorted(
        shown | OF_FILES | OF_PEOPLE | OF_REUSE | OF_THE_DAY | OF_VERSIONS | WARNINGS
    )
