"""The parts of a comparison as Markdown of a forge: for a job's summary page and for a comment alike.

Text of agents, cases and documents goes through `escaping`: it mentions nobody, links nowhere and ends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from seatrial.compare import CaseComparison, Tally, Worst
from seatrial.escaping import clipped, prose
from seatrial.gate import Ruling
from seatrial.verdicts import Gate

_SIGNS = {Gate.OPEN: "🟢", Gate.CLOSED: "🔴", Gate.UNDECIDED: "🟡"}


def heading(ruling: Ruling, limit: int) -> str:
    """What is ruled, and what matters first of it, in at most `limit` characters."""
    word = ruling.ruling.value
    said = ruling.headline.removeprefix(f"{word.capitalize()}: ")
    return f"## {_SIGNS[ruling.ruling]} Gate {word}: {prose(clipped(said, limit))}"


def grounds(ruling: Ruling, limit: int, budget: int) -> Iterator[str]:
    """The grounds, then what the change would loosen: lists of about `budget` bytes each, at most.

    Args:
        ruling: has them.
        limit: characters of each line.
        budget: of each list.
    """
    lines = [
        f"**{ground.effect}** {prose(clipped(ground.text, limit))}" for ground in ruling.grounds
    ]
    if lines:
        yield _listed(lines, budget, "more grounds are left out here: `seatrial gate`")
    changes = [prose(clipped(ruled.told(), limit)) for ruled in ruling.policy_changes]
    if changes:
        more = "more policy changes are left out here: `seatrial gate`"
        yield "### Policy changes\n\n" + _listed(changes, budget, more)


def _listed(lines: Sequence[str], budget: int, more: str) -> str:
    every = [f"- {line}" for line in lines]
    shown, _ = fitting(every, budget)
    if len(shown) < len(every):
        shown.append(f"- {len(every) - len(shown)} {more}")
    return "\n".join(shown)


def outcome(case: CaseComparison) -> str:
    """What became of a case, and what kind of case it is."""
    word = "forbidden action" if case.forbidden else case.outcome.value
    return word + (", required" if case.required else "") + (", weak" if case.weak else "")


def step(worst: Worst) -> str:
    """Where a trial went wrong: `trial 1, turn 2, call 3`."""
    parts = (("trial", worst.trial), ("turn", worst.turn), ("call", worst.call))
    return ", ".join(f"{noun} {number}" for noun, number in parts if number is not None)


def rate(tally: Tally | None, *, in_full: bool) -> str:
    """`3/4`, and what else happened in the trials.

    Args:
        tally: of one side; None where it has no trials.
        in_full: with the interval, the trials that were added, and attacks.
    """
    if tally is None:
        return "–"
    counts = f"{tally.passed}/{tally.valid}"
    if in_full and tally.valid:
        counts += f" ({100 * tally.low:.0f}–{100 * tally.high:.0f} %)"
    marks = [
        f"{tally.added} added" if in_full and tally.added else "",
        f"{tally.forbidden} forbidden" if tally.forbidden else "",
        f"{tally.invalid} invalid" if tally.invalid else "",
        f"attack attempted in {tally.attacks.attempted}"
        if in_full and tally.attacks and tally.attacks.attempted
        else "",
    ]
    return ", ".join([counts, *(mark for mark in marks if mark)])


def folded(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that is unfolded by who wants to read it; its cells are Markdown already."""
    table = "\n".join([row(columns), f"|{'---|' * len(columns)}", *map(row, rows)])
    return f"<details><summary>{title}</summary>\n\n{table}\n\n</details>"


def row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def fitting(parts: Sequence[str], left: int) -> tuple[list[str], int]:
    """The first parts that fit into `left` bytes, and what is left of them."""
    shown: list[str] = []
    for part in parts:
        if size([part]) > left:
            break
        left -= size([part])
        shown.append(part)
    return shown, left


def size(parts: Iterable[str]) -> int:
    """Bytes of paragraphs, each with the empty line behind it."""
    return sum(len(part.encode()) + 2 for part in parts)
