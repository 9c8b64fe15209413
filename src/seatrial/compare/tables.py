"""The suite in parts: by group, category, tag and provenance.

As in the suite's own mean only whole first batches count, and only cases with valid trials on both sides, so that
the two means of a row are of the same cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from seatrial.compare.judging import Contest, Judgement
from seatrial.compare.matching import Entry
from seatrial.compare.model import Mean, Table, TableRow
from seatrial.compare.sides import CaseFacts, Trials
from seatrial.compare.suite import in_means, pairs
from seatrial.documents import GROUPS
from seatrial.stats.paired import drop
from seatrial.stats.passk import mean_pass_k
from seatrial.verdicts import Outcome

NOT_GIVEN = "not given"
"""The row of cases of which nobody says how they came to be."""

By = Literal["group", "category", "tag", "provenance"]


def tables(
    matched: Sequence[Entry], contests: Iterable[Contest], judged: Mapping[str, Judgement]
) -> tuple[Table, ...]:
    """A table for each kind of part that the suite has.

    Args:
        matched: the cases.
        contests: those that are judged.
        judged: what was said of them.
    """
    facts = [entry.facts for entry in matched if not entry.removed]
    contested = {contest.case: contest for contest in contests}
    kinds: tuple[By, ...] = ("group", "category", "tag", "provenance")
    found = []
    for by in kinds:
        parts: dict[str, list[CaseFacts]] = {}
        for case in facts:
            for name in _names(case, by):
                parts.setdefault(name, []).append(case)
        if by == "provenance" and set(parts) <= {NOT_GIVEN}:
            continue
        if parts:
            rows = (_row(name, parts[name], contested, judged) for name in _ordered(parts, by))
            found.append(Table(by=by, rows=tuple(rows)))
    return tuple(found)


def _names(case: CaseFacts, by: By) -> Iterator[str]:
    """The rows that a case stands in."""
    match by:
        case "group":
            if case.group:
                yield case.group
        case "category":
            yield "required" if case.required else "not required"
            if case.negative:
                yield "negative"
        case "tag":
            yield from dict.fromkeys(case.tags)
        case "provenance":
            yield case.provenance or NOT_GIVEN


def _ordered(parts: Mapping[str, object], by: By) -> list[str]:
    order: tuple[str, ...] = (
        GROUPS if by == "group" else ("required", "not required") if by == "category" else ()
    )
    return [name for name in order if name in parts] + sorted(set(parts) - set(order))


def _row(
    name: str,
    facts: Sequence[CaseFacts],
    contested: Mapping[str, Contest],
    judged: Mapping[str, Judgement],
) -> TableRow:
    contests = [contested[f.case] for f in facts if f.case in contested]
    compared = [c for c in contests if in_means(c)]
    fell = drop(pairs(compared))
    outcomes = Counter(judged[c.case].outcome for c in contests)
    return TableRow(
        name=name,
        cases=len(facts),
        compared=len(compared),
        baseline=_mean(c.baseline for c in compared),
        candidate=_mean(c.candidate for c in compared),
        drop=fell.drop if fell else None,
        drop_upper=fell.upper if fell else None,
        regressed=outcomes[Outcome.REGRESSED],
        improved=outcomes[Outcome.IMPROVED],
        undecided=outcomes[Outcome.UNDECIDED],
    )


def _mean(trials: Iterable[Trials]) -> Mean | None:
    found = mean_pass_k([t.for_means for t in trials], 1)
    return Mean(value=found.value, low=found.low, high=found.high) if found else None
