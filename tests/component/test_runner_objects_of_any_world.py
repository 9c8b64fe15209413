"""Checks of what there is at the end, in a world whose document does not hold its start."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml
from tests.shell import seatrial

from seatrial import store
from seatrial.checks.again import grade_again
from seatrial.errors import ExitCode

SCRIPT = """
CREATE TABLE member (id TEXT PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO member VALUES ('m-1', 'Ada Berg'), ('m-2', 'Tom Vik');
CREATE TABLE visit (id TEXT PRIMARY KEY, of TEXT NOT NULL);
"""
WORLD = {
    "kind": "fixture",
    "type": "world",
    "world": "sqlite",
    "id": "club",
    "now": "2026-05-04T11:30:00Z",
    "script": "fixtures/club.sql",
    "tools": {
        "join": {
            "description": "Take a member in.",
            "parameters": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
                "required": ["id", "name"],
            },
            "sql": "INSERT INTO member VALUES (:id, :name)",
        }
    },
}
CASE = {
    "kind": "case",
    "id": "take-in",
    "title": "A new member is taken in",
    "group": "task",
    "agent": "clerk",
    "world": "club",
    "task": "Take Eve Moor in as m-3.",
    "checks": [
        {"check": "object_exists", "type": "member", "key": "m-1"},
        {"check": "object_exists", "type": "member", "properties": {"name": "Eve Moor"}, "count": 1},
        {"check": "object_exists", "type": "member", "count": 3},
        {"check": "object_absent", "type": "member", "properties": {"name": "Adam"}},
        {"check": "object_absent", "type": "visit"},
        {"check": "object_exists", "type": "member", "key": "m-2", "created_during_trial": True,
         "severity": "info"},
    ],
}  # fmt: skip
ARM = {
    "kind": "arm",
    "id": "joins",
    "agent": "clerk",
    "version": "1.0",
    "adapter": {"type": "python", "target": "club_agent:joins"},
}
AGENT = """\
def joins(text, seat):
    seat.call("join", id="m-3", name="Eve Moor")
    return "Welcome."
"""


def test_objects_of_a_database_are_looked_for_as_they_are_at_the_end_and_again_from_the_store(
    tmp_path: Path,
):
    suite = {"kind": "suite", "id": "all", "cases": ["take-in"], "trials": 1}
    for path, document in {
        "fixtures/club.yaml": WORLD,
        "cases/take-in.yaml": CASE,
        "arms/joins.yaml": ARM,
        "suites/all.yaml": suite,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    (tmp_path / "fixtures" / "club.sql").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "club_agent.py").write_text(AGENT, encoding="utf-8")

    code, out, error = seatrial(tmp_path, "run", "--suite", "all", "--arm", "joins", "--out", "r")

    assert code == ExitCode.OPEN, error
    assert out.splitlines()[0] == "take-in  joins  1/1 passed", out + error
    shutil.rmtree(tmp_path / "fixtures")
    run = store.Run.open(tmp_path / "r")
    (record,) = run.records()
    trace = run.trace(record)
    assert [f.status.value for f in record.findings] == ["passed"] * 5 + ["failed"]
    assert grade_again(run.catalog, trace) == record.findings
    assert trace.beginning is not None
    assert trace.beginning.types == ("member", "visit")
    assert trace.beginning.objects == {
        "member": {
            "m-1": {"id": "m-1", "name": "Ada Berg"},
            "m-2": {"id": "m-2", "name": "Tom Vik"},
        }
    }
