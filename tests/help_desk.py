"""The example help desk in a repository of its own, with one arm that is changed in place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import yaml
from tests.shell import ROOT
from tests.work_trees import WorkTree

from seatrial.store import Run

REFUND, TRACK, ASK = (
    "refund-damaged-lamp",
    "track-parcel-on-its-way",
    "refund-without-order-number",
)
FOLDERS = {REFUND: "task", TRACK: "task", ASK: "clarify"}
ARM = "arms/desk.yaml"
RULES = "agent/rules/now.json"
WORLD = "fixtures/helpdesk.yaml"
APPROVED = ("--approved-by", "Rita Releaser <rita@example.org>")
NO_SETTINGS = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def case_file(case: str) -> str:
    return f"cases/{FOLDERS[case]}/{case}.yaml"


def repository(folder: Path, *cases: str, trials: int = 2, **suite: Any) -> WorkTree:
    """A committed repository with these cases (all three when none is named)."""
    chosen = cases or tuple(FOLDERS)
    tree = WorkTree.init(folder)
    example = ROOT / "examples" / "helpdesk"
    (folder / "agent" / "rules").mkdir(parents=True)
    for file in ("agent.py", "mcp_client.py"):
        shutil.copy(example / file, folder / "agent" / file)
    shutil.copy(example / "rules" / "1.4.0.json", folder / RULES)
    shutil.copytree(ROOT / "fixtures", folder / "fixtures")
    (folder / "cases").mkdir()
    shutil.copy(ROOT / "cases" / "defaults.yaml", folder / "cases")
    for case in chosen:
        (folder / case_file(case)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / case_file(case), folder / case_file(case))
    arm = {
        "kind": "arm",
        "id": "desk",
        "agent": "helpdesk",
        "version": "1.4.0",
        "adapter": {"type": "command", "command": ["{python}", "agent/agent.py", "now"]},
        "sources": {
            "rules": RULES,
            "code": ["agent/agent.py", "agent/mcp_client.py"],
        },
    }
    small = {"kind": "suite", "id": "small", "cases": list(chosen), "trials": trials, **suite}
    for path, document in ((ARM, arm), ("suites/small.yaml", small)):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    tree.commit({".gitignore": ".seatrial/\n__pycache__/\n"})
    return tree


def document(tree: WorkTree, path: str) -> Any:
    """A document, to be changed and written back."""
    return yaml.safe_load((tree.root / path).read_text(encoding="utf-8"))


def rewrite(tree: WorkTree, path: str, changed: Any) -> None:
    tree.write({path: yaml.safe_dump(changed, sort_keys=False, allow_unicode=True)})


def rules(tree: WorkTree, **changed: Any) -> None:
    """Change what the agent goes by."""
    found = json.loads((tree.root / RULES).read_text(encoding="utf-8"))
    tree.write({RULES: json.dumps({**found, **changed}, indent=1)})


def newest(tree: WorkTree) -> Run:
    """The newest run of the repository."""
    return Run.open(sorted((tree.root / ".seatrial" / "runs").iterdir())[-1])
