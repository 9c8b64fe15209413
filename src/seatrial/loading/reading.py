"""One YAML file → the values of its documents, or what is wrong with it as YAML.

YAML 1.2 with the core schema, read by libyaml's event parser and nothing that could build an object:

- `true` and `false` (also `True`, `TRUE` …) are the only truth values; `no`, `on`, `yes` are text;
- `10`, `010` and `+10` are ten, `0o10` is eight, `0x10` is sixteen; `1:30` and `2026-03-16` are text;
- keys are text and stand once; no merge keys; no tags but the core ones;
- the size of a file, its depth, its values and what aliases add are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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

from seatrial.errors import Problem
from seatrial.loading import syntax
from seatrial.loading.bounds import MAX_ALIASED, MAX_BYTES, MAX_DEPTH, MAX_VALUES
from seatrial.loading.mistakes import MOST_TOLD, cut
from seatrial.loading.scalars import NO_TEXT, resolve
from seatrial.loading.tree import too_large


class _Refused:
    """Stands where a value was that has been reported, so that it is not reported again."""

    def __repr__(self) -> str:
        return "REFUSED"


REFUSED = _Refused()


@dataclass(frozen=True, slots=True)
class Raw:
    """A document as it was read."""

    index: int
    """Its place among the documents of its file, from 0."""
    start: tuple[int, int]
    """Line and column where it starts, from 1."""
    value: Any
    """Text, numbers, truth values, None, lists and mappings; `REFUSED` where a value was refused."""
    sound: bool
    """Nothing in it was refused."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What one file holds."""

    documents: tuple[Raw, ...]
    """Those that hold something, in order."""
    problems: tuple[Problem, ...]
    """Everything that is wrong with the file as YAML."""
    whole: bool
    """False when the file could not be read to its end."""
    holes: Mapping[int, Any]
    """Mappings that lost a key, by identity: what is missing in them may have been that key."""


class _Abandoned(Exception):
    """Nothing after this point of the file can be read; the problem has been noted."""


def read(path: str, data: bytes) -> ReadFile:
    """The documents of a file, and everything that is wrong with it as YAML."""
    if len(data) > MAX_BYTES:
        return ReadFile((), (too_large(path, len(data)),), False, {})
    if foreign := syntax.foreign_encoding(data):
        message = f"the file is written in {foreign}"
        problem = Problem(path, 1, 1, message, "Save it as UTF-8", "encoding")
        return ReadFile((), (problem,), False, {})
    reader = _Reader(path, data)
    documents = tuple(reader.documents())
    return ReadFile(documents, tuple(reader.problems), reader.whole, reader.holes)


_Event = Any
"""An event of libyaml; its published types lack most of what it has."""

_CORE = "tag:yaml.org,2002:"


class _Reader:
    """Pulls the events of one file and builds plain values; keeps no place unless there is a problem."""

    def __init__(self, path: str, data: bytes) -> None:
        self.problems: list[Problem] = []
        self.whole = False
        self.holes: dict[int, Any] = {}
        self._path = path
        self._data = data
        self._next: Callable[[], _Event] = yaml.CSafeLoader(data).get_event
        self._values = 0
        self._noted = 0
        self._anchors: dict[str, tuple[Any, int] | None] = {}
        self._aliased = 0

    def documents(self) -> Iterator[Raw]:
        """Each document that holds something; the problems are complete when this is exhausted."""
        index = found = 0
        try:
            while (event := self._next()) is not None:
                if type(event) is DocumentStartEvent:
                    before = self._noted
                    self._anchors, self._aliased = {}, 0
                    top = self._next()
                    value = self._node(top, 1)
                    self._next()  # the document's end
                    if value is not None:
                        found += 1
                        start = (top.start_mark.line + 1, top.start_mark.column + 1)
                        yield Raw(index, start, value, self._noted == before)
                    index += 1
        except _Abandoned:
            return
        except yaml.YAMLError as error:
            self.problems.append(syntax.problem(self._path, self._data, error))
            return
        self.whole = True
        if not found:
            self.problems.append(
                Problem(
                    self._path,
                    1,
                    1,
                    "the file holds no document",
                    "Write one, or delete the file",
                    "no-document",
                )
            )

    def _node(self, event: _Event, depth: int) -> Any:
        self._values += 1
        if self._values > MAX_VALUES:
            self._note(event, f"more than {MAX_VALUES} values", "Split the file", "too-large")
            raise _Abandoned
        kind = type(event)
        if kind is ScalarEvent:
            text: str = event.value
            if event.tag is not None:
                value = self._tagged(event)
            elif event.implicit[0] and (not text or text[0] in NO_TEXT):
                value = self._plain(event)
            else:
                value = text
            if event.anchor is not None:
                self._anchors[event.anchor] = (value, 1)
            return value
        if kind is AliasEvent:
            return self._alias(event)
        return self._collection(event, depth)

    def _collection(self, event: _Event, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self._note(event, f"nested more than {MAX_DEPTH} deep", code="too-deep")
            raise _Abandoned
        anchor, tag = event.anchor, event.tag
        if anchor is not None:
            self._anchors[anchor] = None
        value: Any
        if type(event) is MappingStartEvent:
            value = self._mapping(depth)
            fits = tag is None or tag in {"!", f"{_CORE}map"}
        else:
            value = self._sequence(depth)
            fits = tag is None or tag in {"!", f"{_CORE}seq"}
        if not fits:
            self._refuse_tag(event)
            value = REFUSED
        if anchor is not None:
            self._anchors[anchor] = (value, _weight(value))
        return value

    def _sequence(self, depth: int) -> list[Any]:
        items = []
        next_event, node = self._next, self._node
        while type(event := next_event()) is not SequenceEndEvent:
            items.append(node(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        first: dict[str, _Event] = {}
        next_event, node = self._next, self._node
        while type(event := next_event()) is not MappingEndEvent:
            key = self._key(event, depth)
            value = node(next_event(), depth + 1)
            if key is None:
                self.holes[id(items)] = items
                continue
            if key in first:
                mark = first[key].start_mark
                self._note(
                    event,
                    f"key `{cut(key)}` stands twice, first at {mark.line + 1}:{mark.column + 1}",
                    code="duplicate-key",
                )
            else:
                first[key] = event
                items[key] = value
        return items

    def _key(self, event: _Event, depth: int) -> str | None:
        """The key's text; None for a key that was refused."""
        if type(event) is ScalarEvent and event.tag is None and event.anchor is None:
            text: str = event.value
            if not event.implicit[0] or (text and text[0] not in NO_TEXT and text != "<<"):
                return text
        key = self._node(event, depth + 1)
        if key == "<<" and type(event) is ScalarEvent and event.implicit[0]:
            self._note(
                event,
                "merge keys (`<<`) are no part of YAML 1.2",
                "Write the keys out, or use an alias for a whole value",
                "merge-key",
            )
            return None
        if isinstance(key, str):
            return key
        if key is not REFUSED:
            self._note(
                event,
                f"a key must be text, found {syntax.shown(key)}",
                "Put it in quotes" if not isinstance(key, dict | list) else "",
                "key-not-text",
            )
        return None

    def _plain(self, event: _Event) -> Any:
        try:
            return resolve(event.value)
        except ValueError as error:
            self._note(event, str(error), "Put it in quotes if it is text", "number")
            return REFUSED

    def _tagged(self, event: _Event) -> Any:
        """The value of a scalar with a tag: only the core ones, and only where they fit."""
        tag, text = event.tag, event.value
        if tag in {"!", f"{_CORE}str"}:
            return text
        value = self._plain(event)
        kinds: dict[str, type | tuple[type, ...]] = {
            "null": type(None),
            "bool": bool,
            "int": int,
            "float": (int, float),
        }
        wanted = kinds.get(tag.removeprefix(_CORE)) if tag.startswith(_CORE) else None
        if value is not REFUSED and wanted is not None and isinstance(value, wanted):
            return value
        if value is not REFUSED:
            self._refuse_tag(event)
        return REFUSED

    def _refuse_tag(self, event: _Event) -> None:
        tag = event.tag.replace(_CORE, "!!", 1)
        self._note(event, f"the tag `{cut(tag)}` is not allowed here", "Leave it out", "tag")

    def _alias(self, event: _Event) -> Any:
        name = event.anchor
        if name not in self._anchors:
            self._note(event, f"no anchor `&{cut(name)}` stands before this alias", code="alias")
            return REFUSED
        known = self._anchors[name]
        if known is None:
            self._note(event, f"`*{cut(name)}` stands inside of what it stands for", code="alias")
            return REFUSED
        value, weight = known
        if self._aliased + weight > MAX_ALIASED:
            if self._aliased <= MAX_ALIASED:  # said once a document
                self._note(
                    event,
                    f"the aliases stand for more than {MAX_ALIASED} values",
                    "Write them out, or split the document",
                    "alias",
                )
            self._aliased = MAX_ALIASED + 1
            return REFUSED
        self._aliased += weight
        return value

    def _note(self, event: _Event, message: str, hint: str = "", code: str = "yaml") -> None:
        self._noted += 1
        if self._noted <= MOST_TOLD + 1:
            mark = event.start_mark
            place = (mark.line + 1, mark.column + 1)
            self.problems.append(Problem(self._path, *place, message, hint, code))


def _weight(value: Any) -> int:
    """How many values a value holds, itself included, with aliases written out."""
    if isinstance(value, dict):
        return 1 + sum(map(_weight, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_weight, value))
    return 1
