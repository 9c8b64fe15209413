"""What went wrong, each at the line of the expectation that failed: what annotations and SARIF tell."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from seatrial.compare import CaseComparison
from seatrial.escaping import clipped, legible
from seatrial.report.evidence import Evidence, Side
from seatrial.verdicts import Finding, Severity, Status, Verdict

Level = Literal["error", "warning", "notice"]

_TEXT_SHOWN = 1_000
_PLACE = re.compile(r"(?P<path>[^:]+):(?P<line>[1-9]\d{0,8}):(?P<column>[1-9]\d{0,8})")
_LEVELS: dict[Severity, Level] = {"critical": "error", "warning": "warning", "info": "notice"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One expectation that failed, or one case that has none which could be named."""

    level: Level
    """error: the case is worse. warning: there is no verdict about it, or the check says so. notice: only to know."""
    rule: str
    """The kind of check; `case` where none can be named."""
    case: str
    expectation: str
    """Where it stands within its case, for example `checks[2]`."""
    title: str
    text: str
    """Sentences, and the command that runs the case again; legible, on several lines."""
    path: str = ""
    """Of the file, from the root of the repository; empty where none is known."""
    line: int = 1
    column: int = 1


def marks(evidence: Evidence, *, folder: str = "") -> tuple[Mark, ...]:
    """Every mark, the worst case first, and in a case the expectation that its comparison names.

    An expectation is told that failed in a greater share of the candidate's trials than of the
    baseline's; of a case that nothing can be said against in this way there is one mark with its sentence.

    Args:
        evidence: what is told.
        folder: where the paths of documents begin within the repository; empty at its root.
    """
    return tuple(
        mark
        for case in evidence.worst_first()
        if evidence.concern(case)
        for mark in _of_case(evidence, case, folder)
    )


def _of_case(evidence: Evidence, case: CaseComparison, folder: str) -> Iterator[Mark]:
    worse = evidence.concern(case) == "worse"
    word = "forbidden action" if case.forbidden else case.outcome.value
    title = legible(f"{case.case}: {word}{', required' if case.required else ''}")
    again = f"Run it again: {evidence.reproduction(case.case)}"
    old, old_trials = _failures(evidence, "baseline", case.case)
    new, new_trials = _failures(evidence, "candidate", case.case)
    named = case.worst.place if case.worst else ""
    told = False
    for path, found in sorted(new.items(), key=lambda item: item[1][0][1].place != named):
        before = len(old.get(path, ()))
        if len(found) * max(1, old_trials) <= before * new_trials:
            continue
        told = True
        number, finding = found[0]
        counts = f"failed in {len(found)} of {new_trials} valid trials"
        counts += f", in {before} of the baseline's {old_trials}" if old_trials else ""
        yield _mark(
            evidence,
            case.case,
            path,
            level=_LEVELS[finding.severity] if worse or finding.severity != "critical" else "warning",
            rule=finding.check,
            title=title,
            place=finding.place,
            folder=folder,
            lines=[_shown(finding.reason), f"{_step(number, finding)}: {finding.check} {counts}.", again],
        )  # fmt: skip
    if not told:
        yield _mark(
            evidence,
            case.case,
            "",
            level="error" if worse else "warning",
            rule="case",
            title=title,
            place="",
            folder=folder,
            lines=[_shown(case.sentence), again],
        )


def _mark(
    evidence: Evidence,
    case: str,
    expectation: str,
    *,
    level: Level,
    rule: str,
    title: str,
    place: str,
    folder: str,
    lines: list[str],
) -> Mark:
    found = _PLACE.fullmatch(place) or _PLACE.fullmatch(evidence.place(case, expectation))
    path = ""
    if found is not None and not (
        found["path"].startswith("/") or ".." in found["path"].split("/")
    ):
        path = f"{folder}/{found['path']}" if folder else found["path"]
    return Mark(
        level=level,
        rule=rule,
        case=case,
        expectation=expectation,
        title=title,
        text="\n".join(line for line in lines if line),
        path=path,
        line=int(found["line"]) if found and path else 1,
        column=int(found["column"]) if found and path else 1,
    )


def _failures(
    evidence: Evidence, side: Side, case: str
) -> tuple[dict[str, list[tuple[int, Finding]]], int]:
    """Where an expectation stands → the number of each valid trial in which it failed; and how many are valid."""
    failures: dict[str, list[tuple[int, Finding]]] = defaultdict(list)
    valid = [r for r in evidence.trials(side, case) if r.verdict is not Verdict.INVALID]
    for record in valid:
        for finding in record.findings:
            if finding.status is Status.FAILED:
                failures[finding.path].append((record.number, finding))
    return failures, len(valid)


def _step(trial: int, finding: Finding) -> str:
    parts = (("trial", trial), ("turn", finding.turn), ("call", finding.call))
    return ", ".join(f"{noun} {number}" for noun, number in parts if number is not None)


def _shown(text: str) -> str:
    return legible(clipped(" ".join(text.split()), _TEXT_SHOWN))
