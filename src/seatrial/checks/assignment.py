"""Who gets what: a maximum matching between expectations and what is there."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


def assign(options: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row one of its options, no option twice, for as many rows as possible.

    A row that takes the first option that fits may leave nothing for a row that fits only there;
    augmenting paths (Kuhn 1955, breadth first) give every such option back.

    Args:
        options: for each row the columns it could be given, in order of preference.

    Returns:
        For each row its column, or None where a larger matching does not exist with it.
    """
    given: list[int | None] = [None] * len(options)
    owner: dict[int, int] = {}
    for row in range(len(options)):
        reached: dict[int, int] = {}
        free = _free_column(row, options, owner, reached)
        while free is not None:
            taker = reached[free]
            before, given[taker] = given[taker], free
            owner[free] = taker
            free = None if taker == row else before
    return given


def _free_column(
    row: int, options: Sequence[Sequence[int]], owner: dict[int, int], reached: dict[int, int]
) -> int | None:
    """A column nobody has, reachable from `row`; `reached` says from which row each was seen."""
    rows = deque([row])
    while rows:
        taker = rows.popleft()
        for column in options[taker]:
            if column in reached:
                continue
            reached[column] = taker
            if column not in owner:
                return column
            rows.append(owner[column])
    return None
