"""Files in an older version of the language, brought forward with every comment.

Each step is carried out on plain values and on what ruamel.yaml reads; what is written has to come to the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from ruamel.yaml.error import YAMLError

from seatrial.documents.language import CURRENT, VERSION_KEY
from seatrial.errors import InvalidDocuments, Problem
from seatrial.loading.layout import comments, dumped, parsed
from seatrial.loading.migrations import MIGRATIONS, Migration, why_not_read
from seatrial.loading.places import FilePlaces, Places
from seatrial.loading.reading import read


@dataclass(frozen=True, slots=True)
class Migrated:
    """A file after all migrations."""

    data: bytes
    documents: int
    """How many documents were changed, by more than their version."""
    left: tuple[Problem, ...]
    """What is left to do by hand; such a document keeps its version."""


def migrated(
    path: str, data: bytes, migrations: Sequence[Migration] | None = None, current: int = CURRENT
) -> Migrated:
    """A file with every document brought to the current version, which each of them then says.

    Args:
        path: of the file, for problems.
        data: what it holds.
        migrations: all steps, in order.
        current: the version to bring them to.

    Raises:
        InvalidDocuments: the file cannot be read, is written for a newer version, or would lose something.
    """
    steps = MIGRATIONS if migrations is None else migrations
    before = read(path, data)
    if before.problems:
        raise InvalidDocuments(before.problems)
    where = FilePlaces(data, path)
    wanted: list[Any] = []
    versions: list[int | None] = []
    left: list[Problem] = []
    changed = 0
    for raw in before.documents:
        value = raw.value
        if not isinstance(value, dict) or value.get("kind") == "defaults":
            wanted.append(value)
            versions.append(None)
            continue
        places = Places(where, raw.index)
        version = value.get(VERSION_KEY, 1)
        if wrong := why_not_read(version, current):
            raise InvalidDocuments([_problem(places, VERSION_KEY, *wrong)])
        was = repr(value)
        lefts = [
            one
            for step in steps
            if step.to > version and step.concerns(value)
            for one in step.change(value)
        ]
        left += [_problem(places, one.path, one.message, one.hint, "older-schema") for one in lefts]
        changed += repr(value) != was
        versions.append(None if lefts else current)
        wanted.append(value)
    text = data.decode("utf-8-sig")
    if changed:
        text = _changed(path, text, steps)
    text = _stamped(text, versions)
    for value, version in zip(wanted, versions, strict=True):
        if version is not None:
            value[VERSION_KEY] = version
    after = read(path, text.encode())
    if after.problems or [raw.value for raw in after.documents] != wanted:
        raise InvalidDocuments([_kept(path, "would hold other values, brought forward")])
    if sorted(comments(data.decode("utf-8-sig"))) != sorted(comments(text)):
        raise InvalidDocuments([_kept(path, "would lose a comment, brought forward")])
    new = text.encode()
    return Migrated(
        data if new == data.removeprefix(b"\xef\xbb\xbf") else new, changed, tuple(left)
    )


def _changed(path: str, text: str, steps: Sequence[Migration]) -> str:
    """The text after all steps, written by ruamel.yaml."""
    try:
        documents = parsed(text)
        for document in documents:
            if isinstance(document, dict) and document.get("kind") != "defaults":
                for step in steps:
                    if step.to > document.get(VERSION_KEY, 1) and step.concerns(document):
                        list(step.change(document))
        return dumped(documents)
    except YAMLError as error:
        raise InvalidDocuments(
            [_kept(path, f"cannot be written anew ({type(error).__name__})")]
        ) from error


def _stamped(text: str, versions: Sequence[int | None]) -> str:
    """The text with the version in every document that has one, in a line of its own behind the id."""
    roots = [n for n in yaml.compose_all(text, yaml.CSafeLoader) if _holds_something(n)]
    for root, version in reversed(list(zip(roots, versions, strict=True))):
        if version is None:
            continue
        keys = {key.value: (key, value) for key, value in root.value}
        if VERSION_KEY in keys:
            value = keys[VERSION_KEY][1]
            text = text[: value.start_mark.index] + str(version) + text[value.end_mark.index :]
            continue
        key, value = keys.get("id") or root.value[0]
        end = value.end_mark.index
        if root.start_mark.index < len(text) and text[root.start_mark.index] == "{":
            text = f"{text[:end]}, {VERSION_KEY}: {version}{text[end:]}"
            continue
        line_end = text.find("\n", end)
        at, before = (len(text), "\n") if line_end < 0 else (line_end + 1, "")
        indent = " " * key.start_mark.column
        text = f"{text[:at]}{before}{indent}{VERSION_KEY}: {version}\n{text[at:]}"
    return text


def _holds_something(node: yaml.Node) -> bool:
    return not (isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"))


def _problem(places: Places, path: str, message: str, hint: str, code: str) -> Problem:
    file, line, column = places.at(places.steps(path))
    return Problem(file, line, column, message, hint, code)


def _kept(path: str, why: str) -> Problem:
    return Problem(path, 1, 1, f"the file {why}, and stays as it is", code="layout")
