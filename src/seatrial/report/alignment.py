"""Two trajectories set side by side, so that the first step where they part is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from seatrial.report.steps import Step

Kind = Literal["same", "wording", "answer", "arguments", "baseline_only", "candidate_only"]
"""wording: another text was said or replied. answer: the same call was answered otherwise.
arguments: the same tool was called with other arguments."""

# Whole numbers, so that equal costs are equal in whatever order they are added up.
_ONE = 1_000_000 << 20
_DIFFERS = 1
"""Far less than any cost: among alignments of equal cost the one with fewer rows that differ is taken, which is
the same seen from either side."""
_GAP = _ONE + _DIFFERS
_ARGUMENTS_COST = 900_000
_ANSWER_COST = 50_000


@dataclass(frozen=True, slots=True)
class Row:
    """One line of two columns."""

    baseline: int | None
    """Index of the step, None where the baseline has none here."""
    candidate: int | None
    kind: Kind
    paths: tuple[str, ...] = ()
    """Paths of the arguments that differ, or that only one of both has."""


def align(baseline: Sequence[Step], candidate: Sequence[Step]) -> tuple[Row, ...]:
    """Every step of both, in order, at least cost.

    What was said or replied in a turn stands beside what was said or replied in the same turn. Within
    a turn, calls are aligned by edit distance (Needleman and Wunsch 1970): only calls of the same tool can
    stand beside each other; that costs nothing when arguments and answer are the same, and otherwise the
    share of arguments that differ; a step without a partner costs 1. Among alignments of equal cost
    fewer rows differ, and then a step finds its partner as early as possible.
    """
    left, right = _by_turn(baseline), _by_turn(candidate)
    rows: list[Row] = []
    for turn in sorted(left.keys() | right.keys()):
        rows += _align_turn(baseline, candidate, left.get(turn, []), right.get(turn, []))
    return tuple(rows)


def first_divergence(rows: Sequence[Row]) -> int | None:
    """The first row where both did something else; another wording counts only when nothing else differs."""
    for soft in (False, True):
        for index, row in enumerate(rows):
            if row.kind != "same" and (soft or row.kind != "wording"):
                return index
    return None


def distance(rows: Sequence[Row]) -> int:
    """How many rows differ in more than wording."""
    return sum(row.kind not in ("same", "wording") for row in rows)


def _by_turn(steps: Sequence[Step]) -> dict[int, list[int]]:
    indexed = sorted(range(len(steps)), key=lambda i: steps[i].turn)
    return {turn: list(group) for turn, group in groupby(indexed, key=lambda i: steps[i].turn)}


def _align_turn(
    baseline: Sequence[Step], candidate: Sequence[Step], left: list[int], right: list[int]
) -> Iterator[Row]:
    # Most of two trajectories is the same: take that off both ends before filling a table.
    start = 0
    while start < min(len(left), len(right)) and _same(
        baseline[left[start]], candidate[right[start]]
    ):
        yield Row(left[start], right[start], "same")
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and _same(
        baseline[left[-1 - end]], candidate[right[-1 - end]]
    ):
        end += 1
    middle_left, middle_right = left[start : len(left) - end], right[start : len(right) - end]
    yield from _align_middle(baseline, candidate, middle_left, middle_right)
    for i, j in zip(left[len(left) - end :], right[len(right) - end :], strict=True):
        yield Row(i, j, "same")


def _align_middle(
    baseline: Sequence[Step], candidate: Sequence[Step], left: list[int], right: list[int]
) -> Iterator[Row]:
    # table[i][j]: the least cost of aligning what follows i on the left and j on the right.
    table = [[_GAP * (len(right) - j) for j in range(len(right) + 1)] for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        table[i][-1] = _GAP * (len(left) - i)
        for j in range(len(right) - 1, -1, -1):
            table[i][j] = min(_GAP + table[i + 1][j], _GAP + table[i][j + 1])
            cost = _cost(baseline[left[i]], candidate[right[j]])
            if cost is not None:
                table[i][j] = min(table[i][j], cost + table[i + 1][j + 1])
    i = j = 0
    while i < len(left) or j < len(right):
        if i < len(left) and j < len(right):
            old, new = baseline[left[i]], candidate[right[j]]
            cost = _cost(old, new)
            if cost is not None and table[i][j] == cost + table[i + 1][j + 1]:
                yield _pair(left[i], right[j], old, new)
                i, j = i + 1, j + 1
                continue
        if i < len(left) and (j == len(right) or table[i][j] == _GAP + table[i + 1][j]):
            yield Row(left[i], None, "baseline_only")
            i += 1
        else:
            yield Row(None, right[j], "candidate_only")
            j += 1


def _same(old: Step, new: Step) -> bool:
    return old.name == new.name and old.compared == new.compared and old.result == new.result


def _cost(old: Step, new: Step) -> int | None:
    """What it costs to set two steps side by side; None when they cannot stand so."""
    if old.name != new.name:
        return None
    paths = old.compared.keys() | new.compared.keys()
    other = len(_differing(old, new))
    cost = _ARGUMENTS_COST * other // len(paths) if paths else 0
    if old.result != new.result:
        cost += _ANSWER_COST
    differs = other or (old.result != new.result and old.kind == "called")
    return (cost << 20) + (_DIFFERS if differs else 0)


def _differing(old: Step, new: Step) -> tuple[str, ...]:
    paths = dict.fromkeys([*old.compared, *new.compared])
    return tuple(p for p in paths if old.compared.get(p) != new.compared.get(p))


def _pair(i: int, j: int, old: Step, new: Step) -> Row:
    if paths := _differing(old, new):
        return Row(i, j, "arguments", paths)
    if old.result == new.result:
        return Row(i, j, "same")
    return Row(i, j, "answer" if old.kind == "called" else "wording")
