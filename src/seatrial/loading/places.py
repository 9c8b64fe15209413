"""Where each part of a document stands, worked out when somebody asks.

Most documents are right and most of their places are never asked for, so a file is parsed a second
time for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from seatrial.loading.bounds import MAX_DEPTH

Position = tuple[int, int]
"""Line and column, from 1."""

Spot = tuple[str, int, int]
"""File, line and column."""

Steps = tuple[str | int, ...]
"""Keys and indices from the top of a document to a part of it."""


def written(steps: Sequence[str | int]) -> str:
    """A path as people read it: `checks[2].tool`."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@dataclass(slots=True)
class Part:
    """A value: where it stands, where its key stands, and what is in it."""

    place: Position
    key: Position | None
    children: dict[str | int, Part] = field(default_factory=dict)
    file: str = ""
    """The file that it stands in."""

    def within(self, steps: Steps) -> Part:
        """What `steps` lead to, or the nearest part around it."""
        part = self
        for step in steps:
            inner = part.children.get(step)
            if inner is None:
                break
            part = inner
        return part


class FilePlaces:
    """The places of one file, as far as it can be read."""

    def __init__(self, data: bytes, path: str = "") -> None:
        self.data = data
        self.path = path

    @cached_property
    def documents(self) -> list[Part]:
        """The documents of the file, up to where it breaks off."""
        parser: Any = yaml.CSafeLoader(self.data)
        found: list[Part] = []
        try:
            while (event := parser.get_event()) is not None:
                if type(event) is DocumentStartEvent:
                    found.append(_part(parser, parser.get_event(), None, {}, 1, self.path))
        except yaml.YAMLError:
            return found  # the reader has said so; places are asked for what it could read
        return found


class Places(Mapping[str, Position]):
    """Path inside one document → line and column.

    A value's place is where it starts, if that is on the line of its key; else where the key starts.
    """

    def __init__(self, file: FilePlaces, index: int, start: Position | None = None) -> None:
        """Of one of a file's documents, counted from 0.

        Args:
            file: its places.
            index: which of its documents.
            start: where that starts, as far as it is known: then the file is not parsed again for it.
        """
        self.file = file
        self.index = index
        self.start = start

    @property
    def top(self) -> Part:
        """The whole document."""
        return self.file.documents[self.index]

    def at(self, steps: Steps) -> Spot:
        """Where a part stands, or the nearest part around it."""
        part = self.top.within(steps)
        return part.file, *part.place

    def of_key(self, steps: Steps) -> Spot:
        """Where the last key of `steps` stands, or the nearest part around it."""
        part = self.top
        for step in steps:
            inner = part.children.get(step)
            if inner is None:
                return part.file, *part.place
            part = inner
        return part.file, *(part.key or part.place)

    @property
    def files(self) -> Mapping[str, str]:
        """Path inside the document → file, of the parts that stand in another file than the document."""
        return {}

    def steps(self, path: str) -> Steps:
        """The steps of a written path, as far as it leads to something."""
        part, rest = self.top, path
        steps: list[str | int] = []
        while rest:
            try:
                step, rest = _first_step(part, rest)
            except KeyError:
                break
            part = part.children[step]
            steps.append(step)
        return tuple(steps)

    def part(self, path: str) -> Part:
        """The part that a written path leads to.

        Raises:
            KeyError: there is none.
        """
        part, rest = self.top, path
        while rest:
            step, rest = _first_step(part, rest)
            part = part.children[step]
        return part

    def __getitem__(self, path: str) -> Position:
        if not path and self.start is not None:
            return self.start
        return self.part(path).place

    def __iter__(self) -> Iterator[str]:
        return (written(steps) for steps, _ in _walk(self.top, ()))

    def __len__(self) -> int:
        return sum(1 for _ in _walk(self.top, ()))


class Woven(Places):
    """The places of a document of which other documents wrote parts."""

    def __init__(self, own: Places, weave: Callable[[], Part]) -> None:
        """As `own`, whose parts `weave` joins with those of the others when somebody asks."""
        super().__init__(own.file, own.index, own.start)
        self._weave = weave

    @cached_property
    def top(self) -> Part:
        """The whole document."""
        return self._weave()

    @property
    def files(self) -> Mapping[str, str]:
        """Path inside the document → file, of the parts that stand in another file than the document."""
        return _Elsewhere(self)


class _Elsewhere(Mapping[str, str]):
    """Path → file, of the parts of a document that stand in another file than it."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def __getitem__(self, path: str) -> str:
        file = self._places.part(path).file
        if file == self._places.top.file:
            raise KeyError(path)
        return file

    def __iter__(self) -> Iterator[str]:
        own = self._places.top.file
        return (written(steps) for steps, part in _walk(self._places.top, ()) if part.file != own)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _first_step(part: Part, path: str) -> tuple[str | int, str]:
    """The step that a written path starts with, and the rest. Of several keys that fit, the longest."""
    if path[0] == "[":
        number, _, rest = path[1:].partition("]")
        if number.isdecimal() and int(number) in part.children:
            return int(number), rest
    path = path.removeprefix(".")
    ends = [len(path), *(i for i in range(len(path) - 1, 0, -1) if path[i] in ".[")]
    for end in ends:
        if path[:end] in part.children:
            return path[:end], path[end:]
    raise KeyError(path)


def _walk(part: Part, steps: Steps) -> Iterator[tuple[Steps, Part]]:
    yield steps, part
    for step, inner in part.children.items():
        yield from _walk(inner, (*steps, step))


def _part(
    parser: Any,
    event: Any,
    key: Position | None,
    anchors: dict[str, Part],
    depth: int,
    file: str,
) -> Part:
    if depth > MAX_DEPTH + 1:
        raise yaml.YAMLError("nested deeper than the reader goes")
    start = _start(event)
    part = Part(key if key is not None and key[0] != start[0] else start, key, file=file)
    if isinstance(event, AliasEvent):
        # What an alias stands for has the places of the anchor: that is where it can be mended.
        if event.anchor in anchors:
            part.children = anchors[event.anchor].children
        return part
    if isinstance(event, MappingStartEvent):
        while not isinstance(inner := parser.get_event(), MappingEndEvent):
            if isinstance(inner, ScalarEvent):
                name, at = inner.value, _start(inner)
                value = _part(parser, parser.get_event(), at, anchors, depth + 1, file)
                part.children.setdefault(name, value)
            else:  # a key that is no plain text: pass over it and its value
                _part(parser, inner, None, anchors, depth + 1, file)
                _part(parser, parser.get_event(), None, anchors, depth + 1, file)
    elif not isinstance(event, ScalarEvent):
        index = 0
        while not isinstance(inner := parser.get_event(), SequenceEndEvent):
            part.children[index] = _part(parser, inner, None, anchors, depth + 1, file)
            index += 1
    if event.anchor is not None:
        anchors[event.anchor] = part
    return part


def _start(event: Any) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1
