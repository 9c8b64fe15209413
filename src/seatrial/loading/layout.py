"""A file of documents as `seatrial fmt` writes it: keys in order, one way to indent, every comment kept."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.representer import RoundTripRepresenter

from seatrial.errors import InvalidDocuments, Problem
from seatrial.loading.order import ordered
from seatrial.loading.reading import read

_WIDTH = 1_000_000
"""Columns of a line: no line is ever broken."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$")


def formatted(path: str, data: bytes) -> bytes:
    """The file in its usual form: the same documents and the same comments.

    Args:
        path: of the file, for problems.
        data: what it holds.

    Raises:
        InvalidDocuments: it cannot be read, or not be written otherwise without a loss.
    """
    before = read(path, data)
    if before.problems:
        raise InvalidDocuments(before.problems)
    if not before.documents:
        return data
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    try:
        new = _written(ordered(text))
    except YAMLError as error:
        raise InvalidDocuments(
            [_kept(path, f"cannot be laid out ({type(error).__name__})")]
        ) from error
    after = read(path, new.encode())
    values = [_marked(raw.value) for raw in before.documents]
    if after.problems or values != [_marked(raw.value) for raw in after.documents]:
        raise InvalidDocuments([_kept(path, "would hold other values, laid out anew")])
    if sorted(comments(text)) != sorted(comments(new)):
        raise InvalidDocuments([_kept(path, "would lose a comment, laid out anew")])
    return new.encode()


def _kept(path: str, why: str) -> Problem:
    return Problem(path, 1, 1, f"the file {why}, and stays as it is", code="layout")


class _Representer(RoundTripRepresenter):
    """Writes what is nothing as `null`, which readers see."""


def _null(representer: RoundTripRepresenter, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


_Representer.add_representer(type(None), _null)


def _written(text: str) -> str:
    """The text with one way to indent; as it is where that would join lines that its writer broke."""
    new = _round_trip(text)
    return new if new.count("\n") == text.count("\n") else text


def _round_trip(text: str) -> str:
    return dumped(parsed(text))


def parsed(text: str) -> list[Any]:
    """The documents of a text, as ruamel.yaml keeps them with their comments."""
    return list(_yaml().load_all(text))


def dumped(documents: list[Any]) -> str:
    """Such documents as text, indented as usual."""
    out = io.StringIO()
    _yaml().dump_all(documents, out)
    return out.getvalue()


def _yaml() -> YAML:
    yaml = YAML(typ="rt")
    yaml.Representer = _Representer
    yaml.preserve_quotes = True
    yaml.width = _WIDTH
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    yaml.allow_unicode = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _marked(value: Any) -> Any:
    """The value so that `1`, `1.0` and `true` differ, and the order of keys does not matter."""
    if isinstance(value, dict):
        return {key: _marked(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner) for inner in value]
    return type(value).__name__, value


def comments(text: str) -> Iterator[str]:
    """Every comment of a text, as far as lines tell."""
    for line in text.splitlines():
        if found := _COMMENT.search(line):
            yield found[0].rstrip()
