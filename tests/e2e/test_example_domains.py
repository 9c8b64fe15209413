"""The four example domains: how many cases there are, and that the released agents solve them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.shell import ROOT, seatrial

from seatrial import loading
from seatrial.documents import Catalog
from seatrial.documents.case import GROUPS
from seatrial.store import Run
from seatrial.verdicts import Verdict

EXAMPLE = ROOT / "examples" / "domains"
DOMAINS = ("documentation", "ontology", "trip", "workspace")
TRIALS = 5


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return loading.load(loading.read_tree(EXAMPLE))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("domains") / "run"
    plan = ("--suite", "all", "--trials", str(TRIALS), "--seed", "5")
    code, _, errors = seatrial(EXAMPLE, "run", *plan, "--out", str(folder))
    assert code == 0, errors
    return Run.open(folder)


def test_each_group_has_eight_cases_and_a_case_in_every_domain(catalog: Catalog):
    written = {case.written_as: case for case in catalog.cases.values()}  # variants count once
    groups = Counter(case.group for case in written.values())
    both = {(case.agent, case.group) for case in written.values()}

    assert {group: count for group, count in groups.items() if count < 8} == {}
    assert both == {(domain, group) for domain in DOMAINS for group in GROUPS}


def test_each_case_proves_itself():
    code, told, errors = seatrial(EXAMPLE, "check", "--prove")

    assert code == 0, told + errors


def test_released_agents_solve_each_case_in_most_trials(catalog: Catalog, run: Run):
    passed = dict.fromkeys(catalog.cases, 0)
    for record in run.records():
        assert record.verdict != Verdict.INVALID, record.detail
        passed[record.case] += record.verdict == Verdict.PASSED

    assert {case: n for case, n in passed.items() if n < 0.8 * TRIALS} == {}


def test_released_agents_do_nothing_forbidden(run: Run):
    assert [r.case for r in run.records() if r.forbidden] == []


def test_agents_are_no_answer_key(catalog: Catalog):
    """An agent knows its rules and nothing of a case: neither ids nor what is said."""
    for file in sorted(Path(EXAMPLE, "agents").iterdir()):
        if file.suffix not in {".py", ".toml"}:
            continue
        text = file.read_text(encoding="utf-8")
        known = [c.id for c in catalog.cases.values() if c.id in text]
        known += [m for c in catalog.cases.values() for m in c.messages if m in text]
        assert known == [], file.name
        assert "cases/" not in text
