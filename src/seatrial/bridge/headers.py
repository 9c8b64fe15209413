"""What HTTP wants to know of a message beside its body, in both eras of the protocol.

Sources: the protocol's pages "Lifecycle" and "Transports" of each version.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method → the parameter that the `Mcp-Name` header repeats."""
_MARK = "x-mcp-header"
"""In a tool's schema: the argument is repeated in the header `Mcp-Param-…`."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_DEEPEST = 20
"""Objects within objects in which marks are looked for."""
_PLAIN = re.compile(r"[!-~]([ -~]*[!-~])?")
"""What may stand in a header as it is."""

Mark = tuple[tuple[str, ...], str]
"""An argument that headers repeat: its path, and what the header's name ends in."""


class Headers:
    """What is known of a conversation, and what each of its messages carries for that."""

    def __init__(self) -> None:
        self.session: dict[str, str] = {}
        """Of the first era, once there was a handshake."""
        self.modern: dict[str, str] = {}
        """The version of the second, once it was spoken."""
        self._marked: dict[str, tuple[Mark, ...]] = {}
        """By tool."""

    def of(self, message: dict[str, Any]) -> tuple[dict[str, str], bool]:
        """The headers of a message, and whether it is of the second era."""
        method, params = str(message.get("method", "")), message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        version = meta.get(_META_VERSION) if isinstance(meta, dict) else None
        if method == "initialize":
            self.session = {}
        if not isinstance(params, dict) or not isinstance(version, str):
            modern = bool(self.modern) and not self.session and method != "initialize"
            return (self.modern if modern else self.session), modern
        self.modern = {"Mcp-Protocol-Version": _header(version)}
        headers = {**self.modern, "Mcp-Method": _header(method)}
        name = params.get(_NAMED_BY.get(method, ""))
        if isinstance(name, str):
            headers["Mcp-Name"] = _header(name)
        if method == "tools/call":
            headers |= self.mirrored(params)
        return headers, True

    def mirrored(self, params: dict[str, Any]) -> dict[str, str]:
        """The headers that repeat arguments of a call, as far as it is known that they are to be repeated."""
        headers = {}
        for path, token in self._marked.get(str(params.get("name")), ()):
            value = params.get("arguments")
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            if isinstance(value, bool):
                headers[f"Mcp-Param-{token}"] = "true" if value else "false"
            elif isinstance(value, str | int | float):
                headers[f"Mcp-Param-{token}"] = _header(str(value))
        return headers

    def learn(self, method: str, message: Any, session: str | None) -> None:
        """Take out of an answer what later messages carry.

        Args:
            method: what was asked.
            message: the answer.
            session: the session that came with it.
        """
        result = message.get("result") if isinstance(message, dict) else None
        if not isinstance(result, dict):
            return
        version, tools = result.get("protocolVersion"), result.get("tools")
        if method == "initialize" and isinstance(version, str):
            self.session = {"Mcp-Protocol-Version": _header(version)}
            if session:
                self.session["Mcp-Session-Id"] = session
        if method == "tools/list" and isinstance(tools, list):
            for tool in tools:
                if isinstance(tool, dict):
                    marks = tuple(_marks(tool.get("inputSchema"), ()))
                    self._marked[str(tool.get("name"))] = marks


def _marks(schema: Any, path: tuple[str, ...]) -> Iterator[Mark]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(path) > _DEEPEST:
        return
    for name, inner in properties.items():
        token = inner.get(_MARK) if isinstance(inner, dict) else None
        if isinstance(token, str) and _TOKEN.fullmatch(token):
            yield (*path, name), token
        yield from _marks(inner, (*path, name))


def _header(text: str) -> str:
    """A text as a header of the second era: as it is, or encoded where it cannot stand there."""
    if _PLAIN.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="
