"""Clients of the official SDK, connected to a trial by its address or by a program of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from seatrial import bridge
from seatrial.gateway import Channel


@asynccontextmanager
async def over_http(channel: Channel, server: str, mode: Any, **more: Any) -> AsyncIterator[Client]:
    """By address."""
    async with (
        httpx2.AsyncClient(headers=channel.headers, timeout=20) as http,
        Client(
            streamable_http_client(channel.url(server), http_client=http), mode=mode, **more
        ) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(
    channel: Channel, server: str, mode: Any, **more: Any
) -> AsyncIterator[Client]:
    """By `seatrial gateway connect`, as config files start it."""
    async with Client(StdioServerParameters(**program(channel, server)), mode=mode, **more) as own:
        yield own


def program(channel: Channel, server: str) -> dict[str, Any]:
    """The program as a config file names it."""
    return {
        "command": bridge.PROGRAM[0],
        "args": list(bridge.PROGRAM[1:]),
        "env": {"SEATRIAL_MCP_URL": channel.url(server), "SEATRIAL_MCP_TOKEN": channel.token},
    }
