"""The comparison as Markdown for a job's summary page: the ruling first, worst cases next, all bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from seatrial import markdown
from seatrial.compare import BaselineInfo, CaseComparison, Tally
from seatrial.escaping import clipped, fenced, prose, verbatim
from seatrial.report.evidence import Evidence
from seatrial.report.overview import invalid_causes, percent, points
from seatrial.verdicts import Outcome

BUDGET = 900_000
"""Bytes of UTF-8. GitHub drops a summary of more than 1 MiB as a whole."""

_COLUMNS = ("outcome", "case", "group", "required", "baseline", "candidate", "what the trials say")
_OPENED = 3
"""Cases that are unfolded to begin with."""
_NAMED = 5
"""Cases that are named in a sentence."""
_PROSE_SHOWN = 1_000
_QUOTE_SHOWN = 4_000


def summary(evidence: Evidence, *, budget: int = BUDGET) -> str:
    """Markdown of at most `budget` bytes. What did not fit is counted at its end.

    Agents' and documents' text is either escaped prose or in a fence: it cannot mention anybody, link,
    show an image or end a marker.
    """
    cases = evidence.worst_first()
    told = [case for case in cases if evidence.concern(case)]
    rest = [case for case in cases if not evidence.concern(case)]
    others = [case for case in rest if case.outcome is not Outcome.CARRIED]
    reserve = 500  # for the sentences on what is left out
    parts = [*_head(evidence, budget // 3)]
    left = budget - reserve - markdown.size(parts)
    sections = [_case(evidence, case, opened=n < _OPENED) for n, case in enumerate(told)]
    shown, left = markdown.fitting(sections, left)
    if shown:
        parts += ["### To look at", *shown]
    if len(shown) < len(told):
        parts.append(
            f"{len(told) - len(shown)} more cases to look at do not fit here; "
            "they are in the report and in `seatrial compare`."
        )
    rows = [_row(case) for case in others]
    fit, _ = markdown.fitting([markdown.row(row) for row in rows], left - 200)
    if fit:
        title = f"{len(others)} other cases"
        parts.append(markdown.folded(title, _COLUMNS, rows[: len(fit)]))
    if len(fit) < len(rows):
        parts.append(f"{len(rows) - len(fit)} more rows do not fit here; the report has them all.")
    if carried := len(rest) - len(others):
        noun = "case is" if carried == 1 else "cases are"
        parts.append(f"{carried} {noun} carried, not touched by this change.")
    return "\n\n".join(parts) + "\n"


def _head(evidence: Evidence, budget: int) -> Iterator[str]:
    comparison, ruling = evidence.comparison, evidence.ruling
    yield markdown.heading(ruling, _PROSE_SHOWN)
    yield from markdown.grounds(ruling, _PROSE_SHOWN, budget)
    candidate = f"{comparison.candidate_arm} {comparison.candidate_version}".rstrip()
    yield (
        f"Candidate **{_prose(candidate)}** (suite {_prose(comparison.suite)}, run "
        f"{_prose(comparison.run)}) against {_baseline(comparison.baseline)}."
    )
    counts = Counter(case.outcome.value for case in comparison.cases)
    if counts:
        yield " · ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    if overall := comparison.overall:
        yield (
            f"Mean pass rate over {overall.cases} cases: {percent(overall.baseline_mean)} before, "
            f"{percent(overall.candidate_mean)} now; drop {points(overall.drop)}, at most "
            f"{points(overall.drop_upper)} (95 %), margin {points(overall.margin)}."
        )
    if cut := comparison.cut_short:
        named = ", ".join(cut[:_NAMED]) + (f" and {len(cut) - _NAMED} more" if cut[_NAMED:] else "")
        yield _prose(f"Left out of means, not run to the end of the first batch: {named}.")
    causes = [
        f"{cause.replace('_', ' ')}: {sides['candidate'].total()} of the candidate, "
        f"{sides['baseline'].total()} of the baseline"
        for cause, sides in invalid_causes(evidence)
    ]
    if causes:
        yield f"Invalid trials, which do not count on either side: {'; '.join(causes)}."


def _baseline(baseline: BaselineInfo | None) -> str:
    if baseline is None:
        return "no baseline"
    name = f"{baseline.arm} {baseline.version}".rstrip()
    approved = f"approved by {baseline.approved_by}" if baseline.approved_by else ""
    if baseline.override:
        approved += f", though its gate was not open: {baseline.override}"
    facts = [f"run {baseline.run}", baseline.where, approved, baseline.reason]
    return f"**{_prose(name)}** ({_prose('; '.join(clipped(f, 300) for f in facts if f))})"


def _case(evidence: Evidence, case: CaseComparison, *, opened: bool) -> str:
    lines = [
        f"<details{' open' if opened else ''}><summary><b>{_prose(case.case)}</b> {markdown.outcome(case)}: "
        f"{_prose(case.sentence)}</summary>",
        f"{_prose(case.title)}",
        f"Baseline {_rate(case.baseline)}{_beside(case.live)}, candidate {_rate(case.candidate)}.",
    ]
    if worst := case.worst:
        place = f" — expected at {_prose(worst.place)}" if worst.place else ""
        lines += [
            f"{markdown.step(worst)}, {_prose(worst.check)}{place}",
            fenced(clipped(worst.reason, _QUOTE_SHOWN)),
        ]
    lines += [verbatim(clipped(evidence.reproduction(case.case), _QUOTE_SHOWN)), "</details>"]
    return "\n\n".join(line for line in lines if line)


def _row(case: CaseComparison) -> tuple[str, ...]:
    required = ", ".join(
        word for word, fits in (("yes", case.required), ("weak", case.weak)) if fits
    )
    return (
        case.outcome.value, _prose(case.case), _prose(case.group), required,
        _rate(case.baseline), _rate(case.candidate), _prose(case.sentence),
    )  # fmt: skip


def _beside(live: Tally | None) -> str:
    return f", the release beside it {_rate(live)}" if live else ""


def _rate(tally: Tally | None) -> str:
    return markdown.rate(tally, in_full=True)


def _prose(text: str) -> str:
    return prose(clipped(text, _PROSE_SHOWN))
