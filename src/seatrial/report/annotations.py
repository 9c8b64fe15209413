"""Marks as annotations of GitHub: workflow commands, as many of each level as are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from seatrial.escaping import workflow_command
from seatrial.gate import Ruling
from seatrial.report.evidence import headline
from seatrial.report.marks import Level, Mark
from seatrial.verdicts import Gate

SHOWN = 10
"""Annotations of one level that GitHub takes from a step; it drops what comes after them without a word."""

_LEVELS: tuple[Level, ...] = ("error", "warning", "notice")
_RULINGS: dict[Gate, Level] = {Gate.CLOSED: "error", Gate.UNDECIDED: "warning"}


def annotated(ruling: Ruling, marks: Sequence[Mark]) -> str:
    """A line for the ruling unless the gate is open, then one a mark; what is too much of a level is counted.

    Nothing that an agent or a document says can end a line or begin a command.
    """
    return "".join(f"{line}\n" for line in _lines(ruling, marks))


def _in_turn(marks: Sequence[Mark]) -> list[Mark]:
    """The first of each case before the second of any: the few places are for many cases."""
    seen: Counter[str] = Counter()
    turns = []
    for mark in marks:
        turns.append(seen[mark.case])
        seen[mark.case] += 1
    return [mark for _, mark in sorted(zip(turns, marks, strict=True), key=lambda turn: turn[0])]


def _lines(ruling: Ruling, marks: Sequence[Mark]) -> Iterator[str]:
    own = _RULINGS.get(ruling.ruling)
    if own is not None:
        title = f"Seatrial: gate {ruling.ruling.value}"
        yield workflow_command(own, headline(ruling), title=title)
    many = Counter(mark.level for mark in marks)
    for level in _LEVELS:
        room = SHOWN - (level == own)
        shown = room if many[level] <= room else room - 1
        of_level = _in_turn([mark for mark in marks if mark.level == level])
        for mark in of_level[:shown]:
            where = {"file": mark.path, "line": str(mark.line), "col": str(mark.column)}
            yield workflow_command(
                level, mark.text, **(where if mark.path else {}), title=f"Seatrial: {mark.title}"
            )
        if left := many[level] - min(shown, many[level]):
            yield workflow_command(
                level,
                f"{left} more are in the report and in its SARIF file; no more than {SHOWN} are shown here.",
                title=f"Seatrial: {left} more expectations",
            )
