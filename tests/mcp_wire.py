"""MCP by hand, over plain HTTP, for tests of what goes over the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx

from seatrial.gateway import Channel, Gateway

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ENVELOPE = {VERSION: "2026-07-28", CAPABILITIES: {}}
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "desk", "version": "1"}}


def run(test: Callable[[Gateway, httpx.AsyncClient], Awaitable[None]]) -> None:
    """Run a test against a gateway that is being served; everything within half a minute."""

    async def served() -> None:
        with anyio.fail_after(30):
            async with serving() as (gateway, client):
                await test(gateway, client)

    anyio.run(served)


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    """A gateway that is being served, and a client that sets no header of its own accord."""
    async with (
        Gateway.serving(**options) as gateway,
        httpx.AsyncClient(headers={"accept": "*/*"}, timeout=30) as client,
    ):
        yield gateway, client


def request(method: str, params: Mapping[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
    """A JSON-RPC request."""
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def call(tool: str, id: Any = 1, **arguments: Any) -> dict[str, Any]:
    """A request that calls a tool."""
    return request("tools/call", {"name": tool, "arguments": arguments}, id)


async def post(
    client: httpx.AsyncClient,
    channel: Channel,
    message: Any,
    *,
    server: str = "desk",
    **headers: str,
) -> httpx.Response:
    """Post a message in the handshake era; `mcp_session_id=…` and the like become headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.post(
        channel.url(server), json=message, headers={**JSON, **channel.headers, **named}
    )


async def modern(
    client: httpx.AsyncClient,
    channel: Channel,
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    id: Any = 1,
    version: str = "2026-07-28",
    headers: Mapping[str, str | None] | None = None,
    meta: Mapping[str, Any] | None = None,
    server: str = "desk",
) -> httpx.Response:
    """Post a request of the 2026-07-28 era; a header that is None is left out."""
    params = dict(params or {})
    params["_meta"] = {VERSION: version, CAPABILITIES: {}} if meta is None else meta
    sent: dict[str, str | None] = {
        **JSON,
        **channel.headers,
        "mcp-protocol-version": version,
        "mcp-method": method,
        "mcp-name": params.get("name"),
        **(headers or {}),
    }
    return await client.post(
        channel.url(server),
        json=request(method, params, id),
        headers={name: value for name, value in sent.items() if value is not None},
    )
