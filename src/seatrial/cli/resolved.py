"""A document with all that it inherits, each value with the place it was written at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from seatrial.documents import Case, Source
from seatrial.documents.matrix import Expansion

_COLUMN = 56
"""Where the places begin, unless a line is longer."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./@-]*(?: [A-Za-z0-9_./@+-]+)*")
_NO_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_FIRST = {"kind": 0, "id": 1, "check": 2}
"""Keys that say what a mapping is come before the others."""
_SHORT = 60
"""Characters of what stands on one line at most."""


def as_data(document: BaseModel, source: Source) -> dict[str, Any]:
    """The document and, by path, where each of its values was written."""
    value = _value(document, source)
    places = {path: source.place(path) for path in _leaves(value, "")}
    return {"kind": value["kind"], "id": value["id"], "document": value, "places": places}


def lines(document: BaseModel, source: Source) -> Iterator[str]:
    """The document as YAML, with `# file:line` behind what was written there."""
    value = _value(document, source)
    if isinstance(document, Case) and document.expansion is not None:
        yield f"# {_told(document.expansion)}"
    for text, path in _mapping(value, 0, ""):
        file, line, _ = source.at(path)
        yield f"{text:<{_COLUMN}}  # {file}:{line}" if path else text


def _told(expansion: Expansion) -> str:
    values = ", ".join(f"{name}: {_scalar(value)}" for name, value in expansion.values.items())
    return f"an expansion of case {expansion.of}, where {values}"


def _value(document: BaseModel, source: Source) -> dict[str, Any]:
    raw = document.model_dump(mode="json", by_alias=True, exclude_unset=True)
    raw.pop("expansion", None)
    value: dict[str, Any] = _as_written(raw, source, "")
    return value


def _as_written(value: Any, source: Source, path: str) -> Any:
    """The value with a bare operand where one was written: it means `equals`."""
    if isinstance(value, dict):
        if set(value) == {"equals"} and f"{path}.equals" not in source.places:
            return value["equals"]
        return {key: _as_written(item, source, _key(path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_written(item, source, f"{path}[{i}]") for i, item in enumerate(value)]
    return value


def _key(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _leaves(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, _key(path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    else:
        yield path


# --- as YAML ---

_Lines = Iterator[tuple[str, str]]
"""Each line, and the path of what it says; without one where it goes on with what is above."""


def _mapping(value: dict[str, Any], indent: int, path: str) -> _Lines:
    for key, item in sorted(value.items(), key=lambda entry: _FIRST.get(entry[0], len(_FIRST))):
        yield from _entry(f"{' ' * indent}{_scalar(key)}:", item, indent, _key(path, key))


def _sequence(value: list[Any], indent: int, path: str) -> _Lines:
    for index, item in enumerate(value):
        inner = f"{path}[{index}]"
        if isinstance(item, dict) and item:
            first, *rest = list(_mapping(item, indent + 2, inner))
            yield f"{' ' * indent}- {first[0].lstrip(' ')}", first[1]
            yield from rest
        else:
            yield from _entry(f"{' ' * indent}-", item, indent, inner)


def _entry(head: str, value: Any, indent: int, path: str) -> _Lines:
    if isinstance(value, list) and value:
        short = [_scalar(item) for item in value if not isinstance(item, dict | list)]
        row = f"[{', '.join(short)}]"
        if len(short) == len(value) and len(row) <= _SHORT:
            yield f"{head} {row}", path
            return
        yield head, path
        yield from _sequence(value, indent + 2, path)
    elif isinstance(value, dict) and value:
        yield head, path
        yield from _mapping(value, indent + 2, path)
    elif isinstance(value, str) and _is_block(value):
        yield f"{head} |{'' if value.endswith(chr(10)) else '-'}", path
        for line in value.removesuffix("\n").split("\n"):
            yield (f"{' ' * (indent + 2)}{line}" if line else ""), ""
    else:
        yield f"{head} {_scalar(value)}", path


def _is_block(text: str) -> bool:
    """Whether a text can stand line by line, as it is."""
    body = text.removesuffix("\n")
    return (
        "\n" in body
        and not body.startswith((" ", "\n"))
        and not body.endswith((" ", "\n"))
        and all(c == "\n" or c.isprintable() for c in body)
    )


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NO_TEXT:
        return value
    return json.dumps(value, ensure_ascii=False)
