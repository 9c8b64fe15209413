"""The data of the overview's table and of the regressions page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from seatrial.compare import CaseComparison, Tally
from seatrial.escaping import clipped, legible
from seatrial.report.casefile import case_summary, weight
from seatrial.report.evidence import Evidence, Side

SENTENCE_SHOWN = 600
"""Characters of a sentence of ours that may quote an agent."""


def table(
    evidence: Evidence, cases: Sequence[CaseComparison], paged: Collection[str]
) -> dict[str, Any]:
    """A row a case in the order given, as lists: thousands of rows must load at once.

    Args:
        evidence: what is reported.
        cases: in their order.
        paged: those whose row links to more.
    """
    return {
        "columns": [
            "id", "title", "group", "required", "negative", "weak", "outcome", "concern", "forbidden",
            "baseline", "live", "candidate", "evidence", "sentence", "page", "worst",
        ],
        "rows": [
            [
                case.case,
                shown(case.title),
                shown(case.group),
                int(case.required),
                int(case.negative),
                int(bool(case.weak)),
                case.outcome.value,
                evidence.concern(case) or "",
                int(case.forbidden),
                _tally(case.baseline),
                _tally(case.live),
                _tally(case.candidate),
                weight(case.evidence),
                shown(case.sentence),
                int(case.case in paged),
                _worst(case),
            ]
            for case in cases
        ],
    }  # fmt: skip


def regression(
    evidence: Evidence, case: CaseComparison, casefile: Mapping[str, Any]
) -> dict[str, Any]:
    """What the regressions page says of a case a reviewer must look at."""
    because = ""
    if case.worst is not None:
        because = next(
            (c["because"] for c in casefile["checks"] if c["place"] == case.worst.place), ""
        )
    return {
        **case_summary(evidence, case),
        "worst": _worst(case),
        "because": because,
        "parted": parting(casefile),
        "invalid": [
            [trial["number"], trial["cause"], trial["detail"]]
            for trial in casefile["sides"]["candidate"]["trials"]
            if trial["cause"]
        ],
        "command": shown(evidence.reproduction(case.case)),
    }


def parting(casefile: Mapping[str, Any]) -> dict[str, Any] | None:
    """Where the two trials shown first part: the step on either side, and a link to it."""
    candidate, baseline = casefile["chosen"]
    at = next((at for c, b, at in casefile["pairs"] if [c, b] == [candidate, baseline]), None)
    if at is None or (first := casefile["firsts"][at]) is None:
        return None
    old, new, kind, _ = casefile["alignments"][at][first]
    steps = {
        side: next(t["steps"] for t in casefile["sides"][side]["trials"] if t["number"] == number)
        for side, number in (("candidate", candidate), ("baseline", baseline))
    }
    left = None if old is None else steps["baseline"][old]
    right = None if new is None else steps["candidate"][new]
    anchor = right["anchor"] if right else f"baseline-{left['anchor']}" if left else ""
    return {
        "kind": kind,
        "baseline": left and _in_a_line(left),
        "candidate": right and _in_a_line(right),
        "trials": [candidate, baseline],
        "anchor": anchor,
    }


def invalid_causes(evidence: Evidence) -> list[tuple[str, dict[Side, Counter[str]]]]:
    """Causes of invalid trials, most frequent first: cause → side → case → trials."""
    causes: dict[str, dict[Side, Counter[str]]] = {}
    sides: tuple[Side, ...] = ("candidate", "baseline")
    for side in sides:
        for record in evidence.records(side):
            if record.cause is not None:
                by_side = causes.setdefault(record.cause.value, {s: Counter() for s in sides})
                by_side[side][record.case] += 1
    return sorted(
        causes.items(), key=lambda item: (-sum(map(Counter.total, item[1].values())), item[0])
    )


def selection_reasons(evidence: Evidence) -> list[tuple[str, int]]:
    """Why cases were selected, most frequent first."""
    plan = evidence.runs["candidate"].manifest.plan
    return Counter(
        reason for case in plan if case.selected for reason in case.reasons
    ).most_common()


def percent(share: float) -> str:
    """A share as `83.3 %`."""
    return f"{100 * share:.1f} %"


def points(share: float) -> str:
    """A difference of two shares as `4.2 points`."""
    return f"{100 * share:.1f} points"


def shown(text: str) -> str:
    """A sentence, legible and not too long."""
    return legible(clipped(text, SENTENCE_SHOWN))


def _worst(case: CaseComparison) -> dict[str, Any] | None:
    worst = case.worst
    if worst is None:
        return None
    return {
        "trial": worst.trial,
        "turn": worst.turn,
        "call": worst.call,
        "check": shown(worst.check),
        "reason": shown(worst.reason),
        "place": shown(worst.place),
    }


def _in_a_line(step: Mapping[str, Any]) -> str:
    if step["kind"] != "called":
        return shown(f"{step['name']}: {step['text']}")
    arguments = ", ".join(f"{path}: {value}" for path, value in step["arguments"])
    refused = "" if step["refused"] is None else f" — beyond its rights: {step['refused']}"
    return shown(f"{step['name']}({arguments}){refused}")


def _tally(tally: Tally | None) -> list[float] | None:
    if tally is None:
        return None
    low, high = round(tally.low, 3), round(tally.high, 3)
    return [tally.passed, tally.valid, tally.invalid, tally.forbidden, low, high, tally.added]
