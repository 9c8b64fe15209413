"""Every public task that is at hand is imported, and the documents are right."""

import gzip
import json
from typing import Any

import pytest
from tests.data import shared

from seatrial import loading
from seatrial.importing import FORMATS
from seatrial.loading.writing import written


def files(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(shared.folder(name).iterdir()):
        plain = path.name.removesuffix(".gz")
        if plain.startswith("runs_") or not plain.endswith((".json", ".jsonl")):
            continue
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        lines = plain.endswith(".jsonl")
        found[plain] = [json.loads(x) for x in text.splitlines()] if lines else json.loads(text)
    return found


@pytest.mark.parametrize(
    ("shape", "name", "tasks"),
    [("tau2", "tau2-bench", 60), ("tau2", "tau-bench", 50), ("agentdojo", "agentdojo", 248)],
)
def test_every_task_becomes_a_case_that_is_right(shape: str, name: str, tasks: int):
    imported = FORMATS[shape](files(name), "clerk")
    cases = [d for d in imported.documents.values() if d["kind"] == "case"]
    checks = [check for case in cases for check in case["checks"]]

    assert imported.tasks == len(cases) == tasks
    assert all(checks[0]["check"] == "end_state" for checks in (case["checks"] for case in cases))
    assert sum("solution" in case for case in cases) > 0.8 * tasks
    assert any(len(check) > 1 for check in checks)
    texts = {
        path: written(doc, dense=("objects",)).encode() for path, doc in imported.documents.items()
    }
    catalog = loading.load(texts)
    assert len(catalog.cases) == tasks
