"""Agents that do as little as an agent can."""

import asyncio
import json
import time
from urllib.parse import urlsplit

SPENT = [0.0]
"""CPU seconds spent in the agents' own code."""


async def calls_once(text, seat):
    await seat.call("rent", bike="b-1", renter=text.split()[2].rstrip("."))
    return "done"


async def takes_half_a_second(text, seat):
    await seat.call("rent", bike="b-1", renter=text.split()[2].rstrip("."))
    await asyncio.sleep(0.5)
    return "done"


async def calls_once_over_http(text, seat):
    """One `tools/call` of the protocol of 2026-07-28, which needs no handshake, on a connection of its own."""
    started = time.process_time()
    url = urlsplit(seat.urls["bike-shop"])
    renter = text.split()[2].rstrip(".")
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "rent",
                "arguments": {"bike": "b-1", "renter": renter},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        }
    ).encode()
    head = (
        f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nAuthorization: Bearer {seat.token}\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: rent\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    SPENT[0] += time.process_time() - started
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.write(head + body)
    answer = await reader.read()
    writer.close()
    started = time.process_time()
    status, _, rest = answer.partition(b"\r\n")
    result = json.loads(rest.partition(b"\r\n\r\n")[2])
    if b" 200 " not in status or result["result"].get("isError"):
        raise RuntimeError(f"no answer: {answer!r}")
    SPENT[0] += time.process_time() - started
    return "done"
