"""In what two arms of a workspace differ: keys of their documents, and the text of the files they are built from."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from seatrial.documents import Arm
from seatrial.documents.sources import patterns
from seatrial.errors import UsageError
from seatrial.workspace.files import SourceFiles

OUTSIDE = "no component"
"""What does not belong to the fingerprint: an arm does the same under another version or at another price."""

_FAMILIES = {"tools": "tool", "servers": "server", "sources": "source"}
_OF_ITS_OWN = ("adapter", "settings", "model", "skills")
_NO_MATTER = {"kind", "id", "title"}
_ABSENT = object()
_MOST_BYTES = 1_000_000
"""Of a file whose text is compared."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference within a component."""

    component: str
    """As it is called in the fingerprint, or `OUTSIDE`."""
    path: str
    """The key in the documents, or the files: `old → new`, or one of them where the other arm has none."""
    old: Any = None
    """The value in the first arm; None for files, and where it has none."""
    new: Any = None
    text: tuple[str, ...] = ()
    """The lines of a unified difference, of texts and of files."""

    def lines(self) -> Iterator[str]:
        """For people."""
        if self.text:
            yield self.path
            yield from (f"  {line}" for line in self.text)
        else:
            yield f"{self.path}: {_shown(self.old)} → {_shown(self.new)}"

    def data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "component": self.component,
            "path": self.path,
            "old": self.old,
            "new": self.new,
            "diff": "\n".join(self.text),
        }


def arms_apart(files: SourceFiles, one: Arm, other: Arm) -> tuple[Change, ...]:
    """Every difference between two arms, component by component.

    Args:
        files: where their files lie.
        one: the first arm.
        other: the second.

    Raises:
        UsageError: a file cannot be read.
    """
    here, there = (arm.model_dump(mode="json", by_alias=True) for arm in (one, other))
    found = [
        change
        for key in dict.fromkeys((*here, *there))
        if key not in _NO_MATTER and key != "sources"
        for change in _of_values(key, here.get(key, _ABSENT), there.get(key, _ABSENT))
    ]
    before, after = patterns(one), patterns(other)
    for name in dict.fromkeys((*before, *after)):
        old, new = files.named(before.get(name, ())), files.named(after.get(name, ()))
        found += _of_files(files, f"source:{name}", old, new)
    return tuple(sorted(found, key=lambda change: change.component == OUTSIDE))


def _of_values(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The leaves in which two JSON values differ; lists are compared as a whole."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _of_values(f"{path}.{key}", old.get(key, _ABSENT), new.get(key, _ABSENT))
        return
    if path == "servers":
        for id in sorted({*old} ^ {*new}):
            yield Change(f"server:{id}", path, id if id in old else None, id if id in new else None)
        if {*old} != {*new}:
            return
    texts = [value for value in (old, new) if isinstance(value, str)]
    lines: tuple[str, ...] = ()
    if len(texts) == 2 and any("\n" in text for text in texts):
        lines = _unified(texts[0], texts[1], "", "")
    before, after = (None if value is _ABSENT else value for value in (old, new))
    if before is None and after is None:
        return  # one of them does not even have the key: adapters of two types
    yield Change(_component(path), path, before, after, lines)


def _component(path: str) -> str:
    key, _, rest = path.partition(".")
    if key in _OF_ITS_OWN:
        return key
    if key in _FAMILIES:
        return f"{_FAMILIES[key]}:{rest.partition('.')[0]}".rstrip(":")
    return OUTSIDE


def _of_files(
    files: SourceFiles, component: str, old: Sequence[str], new: Sequence[str]
) -> Iterator[Change]:
    """Both arms lie in one folder: a file that both have is the same, so only the others differ."""
    gone = [path for path in old if path not in new]
    come = [path for path in new if path not in old]
    for before, after in _paired(gone, come):
        text = _unified(
            _text(files.root, before),
            _text(files.root, after),
            before or "nothing",
            after or "nothing",
        )
        path = f"{before} → {after}" if before and after else before or after
        yield Change(component, path, text=text or ("(the same text under another name)",))


def _paired(gone: list[str], come: list[str]) -> Iterator[tuple[str, str]]:
    """Files that stand for each other: of the same name in another folder, or the only ones that are left."""
    rest = list(come)
    alone = []
    for before in gone:
        name = PurePosixPath(before).name
        same = next((after for after in rest if PurePosixPath(after).name == name), None)
        if same is None:
            alone.append(before)
        else:
            rest.remove(same)
            yield before, same
    if len(alone) == len(rest) == 1:
        yield alone[0], rest[0]
        return
    yield from ((before, "") for before in alone)
    yield from (("", after) for after in rest)


def _text(root: Path, path: str) -> str | None:
    """What a file says; empty for no file, None for what is no text."""
    if not path:
        return ""
    try:
        with (root / path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    try:
        return None if len(data) > _MOST_BYTES else data.decode()
    except UnicodeDecodeError:
        return None


def _unified(old: str | None, new: str | None, before: str, after: str) -> tuple[str, ...]:
    if old is None or new is None:
        return ("(no text, or too long to show)",)
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), before, after, lineterm="", n=2
    )
    return tuple(lines)


def _shown(value: Any) -> str:
    return "–" if value is None else json.dumps(value, ensure_ascii=False)
