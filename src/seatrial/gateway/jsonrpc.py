"""JSON-RPC 2.0 on the wire: bytes to messages and back, and the error codes of MCP."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic_core import from_json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
CANCELLED = -32800

Kind = Literal["request", "notification", "response"]

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class RpcError(Exception):
    """An error the client is told in JSON-RPC's words."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def parse(body: bytes) -> Any:
    """The JSON value of a body; nested at most 200 deep, without NaN and lone surrogates.

    Raises:
        RpcError: it is no JSON.
    """
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise RpcError(PARSE_ERROR, f"The body is not JSON: {error}") from None


def encode(value: Any) -> bytes:
    """The bytes of a JSON value.

    Raises:
        ValueError: it is no JSON value: another type, not a number, a lone surrogate, a cycle, too deep.
    """
    try:
        return _encoder.encode(value).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(f"this is no JSON value: {error}") from None


def copy(value: Any) -> Any:
    """The same JSON value, sharing nothing.

    Raises:
        ValueError: it is no JSON value.
    """
    return decode(encode(value))


def decode(data: bytes) -> Any:
    """The value that `encode` wrote.

    Raises:
        ValueError: it is nested too deep to be read.
    """
    return from_json(data, allow_inf_nan=False)


def result(id: str | int, value: Any) -> dict[str, Any]:
    """The response to a request that was carried out."""
    return {"jsonrpc": "2.0", "id": id, "result": value}


def failure(id: str | int | None, error: RpcError) -> dict[str, Any]:
    """The response to a request that was not; `id` is None when the request's own is not known."""
    details: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        details["data"] = error.data
    return {"jsonrpc": "2.0", "id": id, "error": details}


def kind_of(message: Any) -> Kind:
    """What kind of message this is.

    Raises:
        RpcError: it is none.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'Not a JSON-RPC message: an object with "jsonrpc": "2.0"')
    if "method" not in message:
        if "id" in message and ("result" in message or "error" in message):
            return "response"
        raise RpcError(INVALID_REQUEST, "A JSON-RPC message has a method, or a result or an error")
    if not isinstance(message["method"], str):
        raise RpcError(INVALID_REQUEST, "The method is a text")
    if "id" not in message:
        return "notification"
    if id_of(message) is None:
        raise RpcError(INVALID_REQUEST, "The id of a request is a text or an integer")
    return "request"


def id_of(message: Any) -> str | int | None:
    """The id of a request, when it has a proper one."""
    id = message.get("id") if isinstance(message, dict) else None
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def params_of(message: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a request, empty when it has none.

    Raises:
        RpcError: they are not an object.
    """
    params = message.get("params")
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "The params are an object")
    return params
