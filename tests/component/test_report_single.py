"""The report as one file: it says the same, and stays in its bounds."""

import json
import re

import pytest
from tests import report_samples

from seatrial.compare import CaseComparison
from seatrial.gate import Ruling
from seatrial.report import Evidence, single_page
from seatrial.verdicts import Gate, Outcome


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return report_samples.evidence(tmp_path_factory.mktemp("runs"))


def test_page_has_the_ruling_its_grounds_and_every_script_by_its_digest(evidence: Evidence):
    page = single_page(evidence)

    assert "<title>Gate closed - Seatrial report</title>" in page
    assert "Gate closed" in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert policy[1].count("'sha256-") == page.count("<script>") + page.count("<style>")
    assert len(page) < 200_000


def test_trials_beyond_the_bound_are_counted_on_the_page(evidence: Evidence):
    page = single_page(evidence, limit=12_000)

    cards = _data(page, "seatrialRegressions")
    assert 0 < len(cards) < 3
    left = re.search(r"(\d) more cases? to look at do(?:es)? not fit", page)
    assert left
    assert len(cards) + int(left[1]) == 3


def test_thousands_of_cases_stay_in_the_bound(evidence: Evidence):
    long = "x" * 500
    cases = tuple(
        CaseComparison(case=f"case-{n}", title=long, outcome=Outcome.UNCHANGED, sentence=long)
        for n in range(5_000)
    )
    comparison = evidence.comparison.model_copy(update={"cases": cases})
    many = Evidence(
        comparison=comparison, ruling=evidence.ruling, candidate=evidence.runs["candidate"]
    )

    page = single_page(many)

    assert len(page) < 3_000_000
    rows = len(_data(page, "seatrialTable")["rows"])
    assert f"{5_000 - rows:,}".replace(",", "") + " more rows do not fit" in page.replace(
        "&#44;", ""
    )


def test_page_of_an_open_gate_has_nothing_to_look_at(evidence: Evidence):
    cases = tuple(
        c.model_copy(update={"outcome": Outcome.UNCHANGED, "forbidden": False, "candidate": None})
        for c in evidence.comparison.cases
    )
    fine = Evidence(
        comparison=evidence.comparison.model_copy(update={"cases": cases}),
        ruling=Ruling(ruling=Gate.OPEN, headline="Open: fine"),
        candidate=evidence.runs["candidate"],
    )

    page = single_page(fine)

    assert "Nothing to look at" in page
    assert _data(page, "seatrialRegressions") == []
    assert 'id="regressions"' not in page


def _data(page: str, name: str):
    found = re.search(rf"globalThis\.{name} = JSON\.parse\('(.*?)'\);", page)
    assert found
    return json.loads(found[1].replace("\\u0027", "'").replace("\\\\", "\\"))
