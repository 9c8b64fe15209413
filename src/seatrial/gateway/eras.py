"""The two eras of the Model Context Protocol, and which rules a request is held to.

Until 2025-11-25 a client begins with a handshake (`initialize`), may be given a session, and states
the negotiated version in a header. From 2026-07-28 each request stands alone: it carries its version,
client and capabilities in `params._meta`, repeats version, method and name in headers, and results say
that they are complete. Sources: the protocol's pages "Lifecycle" and "Transports" of each version.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from seatrial.gateway.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    RpcError,
)

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)

UNSTATED = "2025-03-26"
"""What a request without a version header is taken for (the protocol's own rule)."""

BATCHING = frozenset({"2024-11-05", "2025-03-26"})
"""Versions in which a body may hold several messages."""

_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

LOG_LEVEL = "io.modelcontextprotocol/logLevel"
ENVELOPE = frozenset(
    {_META_VERSION, _META_CAPABILITIES, LOG_LEVEL, "io.modelcontextprotocol/clientInfo"}
)
"""Keys of `params._meta` in which a request of the second era says what it is."""

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method → the parameter that the `Mcp-Name` header repeats."""

_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


def is_modern(version: str | None) -> bool:
    """Whether a request whose version header says this belongs to the second era.

    A version nobody knows does too: there the refusal names the versions that are served.
    """
    return version is not None and version not in HANDSHAKE


def negotiate(requested: Any) -> str:
    """The version to speak with a client that asks for `requested` in its handshake.

    Raises:
        RpcError: it asks for none.
    """
    if not isinstance(requested, str):
        raise RpcError(INVALID_PARAMS, "initialize needs params.protocolVersion")
    return requested if requested in HANDSHAKE else HANDSHAKE[-1]


def check_version(version: str) -> None:
    """Refuse a version of the second era that is not served.

    Raises:
        RpcError: with the versions that are.
    """
    if version not in MODERN:
        raise RpcError(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            {"supported": list(MODERN), "requested": version},
        )


def check_envelope(message: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Refuse a request of the second era that does not say what it is, or contradicts itself.

    Args:
        message: the request.
        headers: the HTTP headers, names in lower case.

    Raises:
        RpcError: the first of: `params._meta` lacks a key, a header differs, the version is not served.
    """
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict):
        raise RpcError(
            INVALID_PARAMS,
            f"params._meta is an object with {_META_VERSION!r} and {_META_CAPABILITIES!r}",
        )
    missing = [key for key in (_META_VERSION, _META_CAPABILITIES) if key not in meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(map(repr, missing))}")
    version, method = meta[_META_VERSION], message["method"]
    if headers.get("mcp-protocol-version") != version:
        raise RpcError(
            HEADER_MISMATCH, f"The Mcp-Protocol-Version header differs from {_META_VERSION!r}"
        )
    if headers.get("mcp-method") != method:
        raise RpcError(HEADER_MISMATCH, "The Mcp-Method header differs from the request's method")
    name_key = _NAMED_BY.get(method, "")
    name = params.get(name_key) if isinstance(params, dict) else None
    if name is not None and header_value(headers.get("mcp-name")) != name:
        raise RpcError(HEADER_MISMATCH, f"The Mcp-Name header differs from params.{name_key}")
    check_version(version)


def header_value(text: str | None) -> str | None:
    """The text a header stands for: itself, or what `=?base64?…?=` encodes; None when that is broken."""
    encoded = _ENCODED.fullmatch(text) if text is not None else None
    if encoded is None:
        return text
    try:
        plain = base64.b64decode(encoded[1], validate=True)
        return plain.decode() if base64.b64encode(plain).decode() == encoded[1] else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def status_of(error: RpcError) -> int:
    """The HTTP status with which the second era sends an error."""
    if error.code == METHOD_NOT_FOUND:
        return 404
    refused = (PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, HEADER_MISMATCH, UNSUPPORTED_VERSION)
    return 400 if error.code in refused else 200
