"""Arguments that a request of the second era repeats in headers, for whoever routes by them on the way.

A tool marks such an argument in its schema (`x-mcp-header: Region`); a call then carries its value in
`Mcp-Param-Region` too. Source: the protocol's page "Transports" of 2026-07-28.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from seatrial.gateway import eras
from seatrial.gateway.jsonrpc import HEADER_MISMATCH, RpcError
from seatrial.trace import Json

_MARK = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WHOLE = re.compile(r"-?[0-9]{1,400}(?:\.0+)?")
_TYPES = ("integer", "string", "boolean")
_DEEPEST = 20

Marked = tuple[tuple[str, ...], str, str]
"""Path of an argument, the name its header ends in, its type."""


def marked(schema: Mapping[str, Any]) -> tuple[Marked, ...]:
    """The arguments that a tool's schema marks; none where a mark is not as it should be: clients drop such a tool."""
    found = tuple(_marks(schema, ()))
    names = [name.lower() for _, name, _ in found]
    is_right = all(type in _TYPES and _TOKEN.fullmatch(name) for _, name, type in found)
    return found if is_right and len(set(names)) == len(names) else ()


def check(found: tuple[Marked, ...], arguments: Json, headers: Mapping[str, str]) -> None:
    """Refuse a call whose headers and arguments contradict each other.

    A header that is not there contradicts nothing: clients on stdio, whose calls are bridged here, send none.

    Args:
        found: the marked arguments.
        arguments: those of the call.
        headers: the HTTP headers, names in lower case.

    Raises:
        RpcError: a header differs from its argument, or there is no such argument.
    """
    for path, name, type in found:
        sent = headers.get(f"mcp-param-{name.lower()}")
        if sent is None:
            continue
        wanted = _written(_at(arguments, path))
        told = eras.header_value(sent)
        if wanted is None or told is None or not _same(type, wanted, told):
            raise RpcError(
                HEADER_MISMATCH,
                f"The Mcp-Param-{name} header differs from the argument {'.'.join(path)}",
            )


def _marks(schema: Any, path: tuple[str, ...]) -> Iterator[Marked]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or len(path) > _DEEPEST:
        return
    for name, inner in properties.items():
        if isinstance(inner, Mapping) and _MARK in inner:
            token = inner[_MARK]
            yield (*path, name), token if isinstance(token, str) else "", str(inner.get("type"))
        yield from _marks(inner, (*path, name))


def _at(arguments: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(name)
    return arguments


def _written(value: Json) -> str | None:
    """The value as a header carries it; None for what no header carries."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        return None
    try:
        return str(value)
    except ValueError:  # more digits than are written out
        return None


def _same(type: str, wanted: str, told: str) -> bool:
    if type == "integer" and _WHOLE.fullmatch(wanted) and _WHOLE.fullmatch(told):
        return int(wanted.partition(".")[0]) == int(told.partition(".")[0])
    return wanted == told
