"""Documents with stand-ins for what may be somebody's: the same files, with the same comments and the same layout.

Each scalar is replaced where it stands; a file of which anything else would change is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from seatrial.errors import InvalidDocuments, Problem
from seatrial.loading.lifelike import Allowed
from seatrial.loading.reading import ReadFile, read
from seatrial.loading.scalars import resolve
from seatrial.stand_ins import Replaced, StandIns
from seatrial.stand_ins.forms import forms


@dataclass(frozen=True, slots=True)
class Pseudonymized:
    """Files with stand-ins."""

    files: Mapping[str, bytes]
    """Path → content, of every file that was given."""
    told: tuple[Replaced, ...]
    """What was replaced, by place and kind."""


def pseudonymized(
    files: Mapping[str, bytes],
    key: bytes,
    keep: Iterable[str] = (),
    may_stay: Allowed | None = None,
) -> Pseudonymized:
    """The files with stand-ins: the same value gets the same one in all of them.

    What can be nobody's stays, and so do stand-ins that were drawn with the same key: done twice, nothing changes.

    Args:
        files: path → content, all of them YAML.
        key: what stand-ins are drawn with.
        keep: texts in which stands what is not replaced, such as ids of documents.
        may_stay: what may look real, with a reason; not replaced either.

    Raises:
        InvalidDocuments: a file cannot be read, or would not say the same but for the stand-ins.
    """
    held = {path: read(path, data) for path, data in files.items()}
    problems = [problem for file in held.values() for problem in file.problems]
    if problems:
        raise InvalidDocuments(problems)
    texts = {path: data.decode("utf-8-sig") for path, data in files.items()}
    allowed = may_stay or Allowed()
    stays = {
        form.value for text in texts.values() for form in forms(text) if allowed.holds(form.value)
    }
    stand_ins = StandIns(key, keep=(*keep, *stays), ids=False, documents=True)
    for path, file in held.items():
        for raw in file.documents:
            stand_ins.learn(raw.value, path)
            for name in _people(raw.value):
                stand_ins.learn({"full_name": name}, path)
        for between in _parts(texts[path]):
            if isinstance(between, str) and "#" in between:
                stand_ins.learn(between, path)
    made = {path: _rewritten(path, texts[path], held[path], stand_ins) for path in files}
    return Pseudonymized({path: text.encode() for path, text in made.items()}, stand_ins.told)


def _people(document: Any) -> Iterator[str]:
    """Names of people that stand under a plain `name`."""
    if isinstance(document, dict) and document.get("type") == "persona":
        name = document.get("name")
        if isinstance(name, str) and name:
            yield name


_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
"""Tags and anchors before a scalar."""


@dataclass(frozen=True, slots=True)
class _Scalar:
    written: str
    """As it stands in the file."""
    value: str
    plain: bool
    """Without quotes, or said to be a number, so that it may be one."""
    block: bool
    """Over several lines, behind `|` or `>`."""
    key: str
    """The key that it is under; of a key none."""


@dataclass(slots=True)
class _Frame:
    """A collection that is read."""

    mapping: bool
    above: str
    """The key that the collection is under."""
    key: str | None = None
    """The key whose value is awaited."""


def _parts(text: str) -> Iterator[_Scalar | str]:
    """The whole text in pieces: scalars, and what stands between them (comments among it)."""
    at = 0
    frames = [_Frame(mapping=False, above="")]
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        top = frames[-1]
        under = top.key if top.mapping and top.key is not None else top.above
        if isinstance(event, MappingStartEvent | SequenceStartEvent):
            frames.append(_Frame(isinstance(event, MappingStartEvent), under))
            continue
        if isinstance(event, ScalarEvent):
            assert event.start_mark
            assert event.end_mark
            start, end = event.start_mark.index, event.end_mark.index
            is_key = top.mapping and top.key is None
            yield text[at:start]
            yield _Scalar(
                text[start:end],
                event.value,
                event.implicit[0] or event.tag in _NUMBERS,
                event.style in ("|", ">"),
                "" if is_key else under,
            )
            at = end
            if is_key:
                top.key = event.value
                continue
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            frames.pop()
        elif not isinstance(event, AliasEvent):
            continue
        frames[-1].key = None
    yield text[at:]


def _rewritten(path: str, text: str, before: ReadFile, stand_ins: StandIns) -> str:
    new = "".join(
        stand_ins.in_text(part) if isinstance(part, str) else _scalar(part, stand_ins)
        for part in _parts(text)
    )
    after = read(path, new.encode())
    wanted = [stand_ins.replaced(raw.value) for raw in before.documents]
    if after.problems or wanted != [raw.value for raw in after.documents]:
        message = "the file would not say the same, but for the stand-ins, and stays as it is"
        raise InvalidDocuments([Problem(path, 1, 1, message, "Replace by hand", "stand-ins")])
    return new


def _scalar(scalar: _Scalar, stand_ins: StandIns) -> str:
    """A scalar in its own style, where that says what it shall say; else in quotes."""
    value = resolve(scalar.value) if scalar.plain else scalar.value
    wanted = stand_ins.replaced(value, scalar.key)
    if wanted == value:
        return scalar.written
    found = _PROPERTIES.match(scalar.written)
    properties = found.group() if found else ""
    if isinstance(wanted, str):
        new = stand_ins.in_text(scalar.written)
        if _says(new, wanted):
            return new
    return properties + json.dumps(wanted, ensure_ascii=False) + ("\n" if scalar.block else "")


def _says(written: str, wanted: str) -> bool:
    try:
        return bool(yaml.load(f"x: {written}", Loader=yaml.CBaseLoader) == {"x": wanted})
    except yaml.YAMLError:
        return False
