"""The data of one case's page: both sides' trials, step by step, and how they align."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seatrial.compare import CaseComparison
from seatrial.documents import Answers, Case
from seatrial.records import TrialRecord
from seatrial.report.alignment import Row, align, distance, first_divergence
from seatrial.report.evidence import Evidence, Side
from seatrial.report.expectations import check_label, expected_changes, goal_label
from seatrial.report.trials import (
    PARTS_SHOWN,
    VALUE_SHOWN,
    ShownTrial,
    shown_text,
    shown_value,
)
from seatrial.trace import Trace
from seatrial.verdicts import Outcome, Verdict

Traced = Mapping[Side, Sequence[tuple[TrialRecord, Trace | None]]]
"""What `Evidence.traced` gives."""


def case_file(evidence: Evidence, case: CaseComparison, traced: Traced) -> dict[str, Any]:
    """What `assets/case.js` shows. Every text in it is legible; none of it is escaped for HTML."""
    sides = {
        side: [ShownTrial(record, trace) for record, trace in trials]
        for side, trials in traced.items()
    }
    alignments, pairs = _alignments(sides.get("baseline", []), sides["candidate"])
    document = _document(evidence, case.case)
    return {
        "case": {
            **case_summary(evidence, case),
            "component": case.component,
            "reasons": [shown_text(r) for r in case.reasons],
            "place": shown_text(evidence.place(case.case)),
            "messages": [shown_text(m) for m in _messages(evidence, document)] if document else [],
            "role": document.role if document else None,
            "world": document.world if document else None,
            "mocked": [shown_text(told) for told in _mocked_undeclared(evidence, document)],
        },
        "command": shown_text(evidence.reproduction(case.case)),
        "revision": evidence.revision(),
        "checks": _checks(evidence, case.case, document, sides),
        "expected": expected_changes(document) if document else [],
        "sides": {
            side: {
                "arm": shown_text(evidence.arms[side]),
                "run": shown_text(evidence.runs[side].manifest.run),
                "trials": [trial.data() for trial in trials],
            }
            for side, trials in sides.items()
        },
        "alignments": [[_row(row) for row in rows] for rows in alignments],
        "firsts": [first_divergence(rows) for rows in alignments],
        "pairs": [[candidate, baseline, at] for (candidate, baseline), at in pairs.items()],
        "chosen": _chosen(case, sides, alignments, pairs),
    }


def case_summary(evidence: Evidence, case: CaseComparison) -> dict[str, Any]:
    """What every page says of a case."""
    return {
        "id": case.case,
        "title": shown_text(case.title),
        "group": shown_text(case.group),
        "required": case.required,
        "negative": case.negative,
        "weak": bool(case.weak),
        "outcome": case.outcome.value,
        "concern": evidence.concern(case),
        "forbidden": case.forbidden,
        "baseline": case.baseline.model_dump(mode="json") if case.baseline else None,
        "live": case.live.model_dump(mode="json") if case.live else None,
        "candidate": case.candidate.model_dump(mode="json") if case.candidate else None,
        "evidence": weight(case.evidence),
        "sentence": shown_text(case.sentence),
    }


def weight(evidence: float | None) -> str:
    """An e-value as people read it: `1,300 : 1`; empty where it does not speak against no change."""
    if evidence is None or evidence <= 1:
        return ""
    if evidence >= 1e15:
        return "beyond 10¹⁵ : 1"
    return f"{evidence:,.0f} : 1" if evidence >= 10 else f"{evidence:.2g} : 1"


def raw_file(case: CaseComparison, traced: Traced) -> dict[str, Any]:
    """The comparison, every record and every trace of a case, uncut."""
    sides: dict[str, Any] = {
        side: [
            {
                "record": record.model_dump(mode="json"),
                "trace": trace.model_dump(mode="json") if trace else None,
            }
            for record, trace in trials
        ]
        for side, trials in traced.items()
    }
    return {"comparison": case.model_dump(mode="json"), **sides}


def _row(row: Row) -> list[Any]:
    return [
        row.baseline,
        row.candidate,
        row.kind,
        [shown_value(p) for p in row.paths[:PARTS_SHOWN]],
    ]


def _messages(evidence: Evidence, case: Case) -> Sequence[str]:
    """What the agent is told; where somebody talks whose messages nobody wrote, what that person wants."""
    if not case.persona:
        return case.messages
    for run in evidence.runs.values():
        if case.id in run.catalog.cases:
            return [f"{person.id} talks: {person.goal}" for person in run.catalog.personas(case)]
    return ()


def _document(evidence: Evidence, case: str) -> Case | None:
    for run in evidence.runs.values():
        if case in run.catalog.cases:
            return run.catalog.cases[case]
    return None


def _mocked_undeclared(evidence: Evidence, case: Case | None) -> list[str]:
    """Tools that were mocked though their server does not say whether they only read, each with the reason."""
    fixtures = evidence.runs["candidate"].catalog.fixtures
    answers = fixtures.get(case.answers) if case is not None and case.answers is not None else None
    if not isinstance(answers, Answers):
        return []
    return [
        f"{name}, which does not say whether it only reads: {tool.reason}"
        for name, tool in answers.tools.items()
        if tool.allow_undeclared
    ]


def _checks(
    evidence: Evidence, case: str, document: Case | None, sides: dict[Side, list[ShownTrial]]
) -> list[dict[str, Any]]:
    """Every check of the case in its order, then those that only a finding tells of."""
    checks = {
        path: {
            "path": path,
            "check": check.check,
            "label": shown_text(check_label(check), VALUE_SHOWN),
            "turn": turn,
            "severity": check.severity,
            "because": shown_text(check.because),
            "place": shown_text(evidence.place(case, path)),
        }
        for path, turn, check in (document.placed_checks() if document else ())
    }
    if document is not None and document.attack is not None:
        path = "attack.goal"
        checks[path] = {
            "path": path,
            "check": "attack",
            "label": shown_text(goal_label(document.attack), VALUE_SHOWN),
            "turn": None,
            "severity": "critical",
            "because": "",
            "place": shown_text(evidence.place(case, path)),
        }
    for trials in sides.values():
        for finding in (f for trial in trials for f in trial.record.findings):
            checks.setdefault(
                finding.path,
                {
                    "path": shown_text(finding.path),
                    "check": shown_text(finding.check),
                    "label": "",
                    "turn": None,
                    "severity": finding.severity,
                    "because": "",
                    "place": shown_text(finding.place),
                },
            )
    return list(checks.values())


def _alignments(
    baseline: Sequence[ShownTrial], candidate: Sequence[ShownTrial]
) -> tuple[list[tuple[Row, ...]], dict[tuple[int, int], int]]:
    """Every alignment once, and for each pair of trials (candidate, baseline) which one is theirs.

    Trials that did the same align in the same way, so most pairs share one.
    """
    alignments: list[tuple[Row, ...]] = []
    known: dict[Any, int] = {}
    pairs: dict[tuple[int, int], int] = {}
    for new in candidate:
        for old in baseline:
            key = (new.signature, old.signature)
            if key not in known:
                known[key] = len(alignments)
                alignments.append(align(old.steps, new.steps))
            pairs[new.record.number, old.record.number] = known[key]
    return alignments, pairs


def _chosen(
    case: CaseComparison,
    sides: dict[Side, list[ShownTrial]],
    alignments: list[tuple[Row, ...]],
    pairs: dict[tuple[int, int], int],
) -> list[int | None]:
    """The trials shown first: the candidate's worst beside the passing baseline trial nearest to it.

    For an improved case the other way round: a passing trial beside one that failed before.
    """
    improved = case.outcome is Outcome.IMPROVED
    candidate = next(_preferred(case, sides["candidate"], passing=improved), None)
    baseline = list(_preferred(case, sides.get("baseline", []), passing=not improved))
    if candidate is None or not baseline:
        return [candidate, baseline[0] if baseline else None]
    verdicts = {t.record.number: t.record.verdict for t in sides["baseline"]}
    alike = [b for b in baseline if verdicts[b] == verdicts[baseline[0]]]
    return [candidate, min(alike, key=lambda b: (distance(alignments[pairs[candidate, b]]), b))]


def _preferred(
    case: CaseComparison, trials: Sequence[ShownTrial], *, passing: bool
) -> Iterator[int]:
    """Numbers of trials, the one that shows most first."""
    order = (
        [Verdict.PASSED, Verdict.FAILED, Verdict.INVALID]
        if passing
        else [Verdict.FAILED, Verdict.INVALID, Verdict.PASSED]
    )
    worst = case.worst.trial if case.worst and not passing else None
    records = [trial.record for trial in trials]
    records.sort(
        key=lambda r: (
            r.number != worst if worst else False,
            order.index(r.verdict),
            passing == r.forbidden,
            r.number,
        )
    )
    return (record.number for record in records)
