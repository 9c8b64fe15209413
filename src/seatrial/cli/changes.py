"""The exact changes of a world as lines that a person reads."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator

from seatrial.errors import printable
from seatrial.trace import Change, Json

LONGEST = 200
"""Characters of a value on one line."""
_CONTEXT = 2


def told(changes: Iterable[Change]) -> Iterator[str]:
    """Each object with what happened to it: `+` created, `-` deleted, `~` changed; links with `>`.

    Texts of several lines are told as the lines in which they differ. What would steer a terminal is
    written out.
    """
    last = ("", "")
    for change in changes:
        if change.what in ("linked", "unlinked"):
            done = "made" if change.what == "linked" else "cut"
            yield printable(f"> {change.type} from {change.key} to {change.to} {done}")
            continue
        sign = {"created": "+", "deleted": "-", "changed": "~"}[change.what]
        if change.what != "changed" or last != (change.type, change.key):
            yield printable(f"{sign} {change.type} {change.key}")
        last = (change.type, change.key) if change.what == "changed" else ("", "")
        if change.what == "changed":
            yield from _property(change)
        else:
            properties = change.new if change.what == "created" else change.old
            for name, value in properties.items():
                yield printable(f"    {name}: {shown(value)}")


def shown(value: Json) -> str:
    """A value on one line, in JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def _property(change: Change) -> Iterator[str]:
    name = printable(change.property or "")
    old, new = change.old, change.new
    if isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        yield f"    {name}:"
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=_CONTEXT, lineterm="")
        yield from (f"      {printable(line)}" for line in list(lines)[2:])
        return
    before = "nothing" if change.old_absent else printable(shown(old))
    after = "nothing" if change.new_absent else printable(shown(new))
    yield f"    {name}: {before} → {after}"
