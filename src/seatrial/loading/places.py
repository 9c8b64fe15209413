"""Where each part of a document stands, worked out when somebody asks.

Most documents are right and most of their places are never asked for, so a file is parsed a second
time for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

Steps = tuple[str | int, ...]
"""Keys and indices from the top of a document to a part of it."""


def written(steps: Sequence[str | int]) -> str:
    """A path as people read it: `checks[2].tool`."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@dataclass(slots=True)
class _Part:
    """A value: where it stands, where its key stands, and what is in it."""

    place: Position
    key: Position | None
    children: dict[str | int, _Part] = field(default_factory=dict)


class FilePlaces:
    """The places of one file, as far as it can be read."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @cached_property
    def documents(self) -> list[_Part]:
        """The documents of the file, up to where it breaks off."""
        parser: Any = yaml.CSafeLoader(self._data)
        found: list[_Part] = []
        try:
            while (event := parser.get_event()) is not None:
                if type(event) is DocumentStartEvent:
                    found.append(_part(parser, parser.get_event(), None, {}, 1))
        except yaml.YAMLError:
            return found  # the reader has said so; places are asked for what it could read
        return found


class Places(Mapping[str, Position]):
    """Path inside one document → line and column.

    A value's place is where it starts, if that is on the line of its key; else where the key starts.
    """

    def __init__(self, file: FilePlaces, index: int) -> None:
        self._file = file
        self._index = index

    @property
    def _top(self) -> _Part:
        return self._file.documents[self._index]

    def at(self, steps: Steps) -> Position:
        """The place of a part, or of the nearest part around it."""
        part = self._top
        for step in steps:
            inner = part.children.get(step)
            if inner is None:
                break
            part = inner
        return part.place

    def of_key(self, steps: Steps) -> Position:
        """Where the last key of `steps` stands, or the nearest part around it."""
        part = self._top
        for step in steps:
            inner = part.children.get(step)
            if inner is None:
                return part.place
            part = inner
        return part.key or part.place

    def steps(self, path: str) -> Steps:
        """The steps of a written path, as far as it leads to something."""
        part, rest = self._top, path
        steps: list[str | int] = []
        while rest:
            try:
                step, rest = _first_step(part, rest)
            except KeyError:
                break
            part = part.children[step]
            steps.append(step)
        return tuple(steps)

    def __getitem__(self, path: str) -> Position:
        part = self._top
        rest = path
        while rest:
            step, rest = _first_step(part, rest)
            part = part.children[step]
        return part.place

    def __iter__(self) -> Iterator[str]:
        return (written(steps) for steps in _walk(self._top, ()))

    def __len__(self) -> int:
        return sum(1 for _ in _walk(self._top, ()))


def _first_step(part: _Part, path: str) -> tuple[str | int, str]:
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


def _walk(part: _Part, steps: Steps) -> Iterator[Steps]:
    yield steps
    for step, inner in part.children.items():
        yield from _walk(inner, (*steps, step))


def _part(
    parser: Any, event: Any, key: Position | None, anchors: dict[str, _Part], depth: int
) -> _Part:
    if depth > MAX_DEPTH + 1:
        raise yaml.YAMLError("nested deeper than the reader goes")
    start = _start(event)
    part = _Part(key if key is not None and key[0] != start[0] else start, key)
    if isinstance(event, AliasEvent):
        # What an alias stands for has the places of the anchor: that is where it can be mended.
        if event.anchor in anchors:
            part.children = anchors[event.anchor].children
        return part
    if isinstance(event, MappingStartEvent):
        while not isinstance(inner := parser.get_event(), MappingEndEvent):
            if isinstance(inner, ScalarEvent):
                name, at = inner.value, _start(inner)
                value = _part(parser, parser.get_event(), at, anchors, depth + 1)
                part.children.setdefault(name, value)
            else:  # a key that is no plain text: pass over it and its value
                _part(parser, inner, None, anchors, depth + 1)
                _part(parser, parser.get_event(), None, anchors, depth + 1)
    elif not isinstance(event, ScalarEvent):
        index = 0
        while not isinstance(inner := parser.get_event(), SequenceEndEvent):
            part.children[index] = _part(parser, inner, None, anchors, depth + 1)
            index += 1
    if event.anchor is not None:
        anchors[event.anchor] = part
    return part


def _start(event: Any) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1
