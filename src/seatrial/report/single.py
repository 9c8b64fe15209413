"""The report as one file: it holds its style, its scripts and its data, asks for nothing, and has a bounded size.

For what cannot serve a folder: an artifact of a fork's run, a private repository, a mail. It is the simple form of
the site: the overview, and for each case to look at the two trials that show most.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any

from markupsafe import Markup

from seatrial.compare import CaseComparison
from seatrial.escaping import embedded_json, script_data
from seatrial.report.casefile import case_file
from seatrial.report.evidence import Evidence
from seatrial.report.overview import regression, table
from seatrial.report.pages import whole_page
from seatrial.report.policy import with_policy

LIMIT = 6_000_000
"""Bytes of data in the file; what surrounds it is about 100 KB."""
_ROWS_LIMIT = 2_000_000
_POLICY = "default-src 'none'; script-src {scripts}; style-src {styles}; base-uri 'none'; form-action 'none'"
_SCRIPTS = ("page.js", "overview.js")
_SCRIPTS_OF_CASES = ("regressions.js", "single.js")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What goes onto the page, and how much does not."""

    rows: list[CaseComparison]
    cards: list[dict[str, Any]]
    trials: dict[str, dict[str, Any]]


def single_page(evidence: Evidence, *, limit: int = LIMIT) -> str:
    """HTML of one page, with at most `limit` bytes of rows and trials. What did not fit is counted on it."""
    ordered = evidence.worst_first()
    concerns = sum(evidence.concern(case) is not None for case in ordered)
    chosen = _choose(evidence, ordered, limit)
    here = frozenset(chosen.trials)
    data = [
        script_data("seatrialTable", table(evidence, chosen.rows, here)),
        script_data("seatrialRegressions", chosen.cards),
        script_data("seatrialTrials", chosen.trials),
    ]
    assets = [*_SCRIPTS, *(_SCRIPTS_OF_CASES if concerns else ("single.js",))]
    page = whole_page(
        evidence,
        here,
        concerns=concerns,
        about_rows=_about_rows(len(ordered) - len(chosen.rows)),
        left_out=_left_out(concerns - len(chosen.cards)),
        style=Markup(_asset("report.css") + _asset("single.css")),
        scripts=[Markup(text) for text in (*data, *map(_asset, assets))],
    )
    return with_policy(page, _POLICY)


def _choose(evidence: Evidence, ordered: list[CaseComparison], limit: int) -> _Chosen:
    chosen = _Chosen([], [], {})
    left = min(_ROWS_LIMIT, limit // 3)
    for case in ordered:
        left -= len(embedded_json(table(evidence, [case], ())["rows"])) + 1
        if left < 0:
            break
        chosen.rows.append(case)
    left = limit - min(_ROWS_LIMIT, limit // 3)
    for case in ordered:
        if not evidence.concern(case):
            continue
        data = case_file(evidence, case, evidence.traced(case.case))
        card, trials = regression(evidence, case, data), _shown_trials(data)
        left -= len(embedded_json([card, {case.case: trials}]))
        if left < 0:
            break
        chosen.cards.append(card)
        chosen.trials[case.case] = trials
    return chosen


def _shown_trials(data: dict[str, Any]) -> dict[str, Any]:
    """Side → the trial of it that shows most."""
    return {
        side: trial
        for side, number in zip(("candidate", "baseline"), data["chosen"], strict=True)
        for trial in data["sides"].get(side, {"trials": ()})["trials"]
        if trial["number"] == number
    }


def _about_rows(left_out: int) -> str:
    told = "A case to look at is told below, with the two trials that show most of it."
    if not left_out:
        return told
    noun = "row does" if left_out == 1 else "rows do"
    return f"{left_out} more {noun} not fit into this file; `seatrial compare` has them all. {told}"


def _left_out(cards: int) -> str:
    if not cards:
        return ""
    noun = "case to look at does" if cards == 1 else "cases to look at do"
    return f"{cards} more {noun} not fit into this file; `seatrial report` has them all."


def _asset(name: str) -> str:
    return (resources.files("seatrial.report") / "assets" / name).read_text(encoding="utf-8")
