"""Agents that are rude to the gateway; each is a function that the runner calls."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import httpx

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}}

_seats: list[Any] = []
_all_there = asyncio.Event()


def _url(seat):
    return seat.urls["bike-shop"]


def request(method, params=None, id=1):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


GET_BIKE = request("tools/call", {"name": "get_bike", "arguments": {"bike": "b-1"}}, "slow")


def client(seat):
    headers = {**JSON, "authorization": f"Bearer {seat.token}"}
    return httpx.AsyncClient(headers=headers, timeout=60, verify=False)


async def rents_over_http(text, seat):
    """Does what is asked, as a client of the gateway."""
    renter = text.split()[2].rstrip(".")
    async with client(seat) as http:
        call = {"name": "rent", "arguments": {"bike": "b-1", "renter": renter}}
        answer = (await http.post(_url(seat), json=request("tools/call", call))).json()
    return answer["result"]["content"][0]["text"]


async def hangs_up(text, seat):
    """Closes the connection while its call is under way."""
    address = urlsplit(seat.urls["bike-shop"])
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    body = json.dumps(GET_BIKE).encode()
    head = f"POST {address.path} HTTP/1.1\r\nhost: {address.netloc}\r\n"
    head += f"authorization: Bearer {seat.token}\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    await _until_it_was_seen(seat)
    writer.close()
    await writer.wait_closed()
    await _until_it_was_seen(seat)
    return "I hung up."


async def cancels(text, seat):
    """Takes back its call while it is under way."""
    async with client(seat) as http, asyncio.TaskGroup() as tasks:
        hello = await http.post(_url(seat), json=request("initialize", HELLO))
        http.headers["mcp-session-id"] = hello.headers["mcp-session-id"]
        asked = tasks.create_task(http.post(_url(seat), json=GET_BIKE))
        await _until_it_was_seen(seat)
        cancelled = {"requestId": "slow", "reason": "changed my mind"}
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}
        await http.post(_url(seat), json=note)
        answer = (await asked).json()
    return answer["error"]["message"]


async def _until_it_was_seen(seat):
    """The gateway takes requests in the order in which they come: one more has been answered."""
    async with client(seat) as http:
        for _ in range(3):
            await http.post(_url(seat), json=request("tools/list"))


async def borrows(text, seat):
    """The second of two trials comes to the tools of the first with its own token, and its own session."""
    _seats.append(seat)
    if len(_seats) == 1:
        await _all_there.wait()
        return "I waited."
    async with client(seat) as http:
        hello = await http.post(_url(seat), json=request("initialize", HELLO))
        session = {"mcp-session-id": hello.headers["mcp-session-id"]}
        found = []
        other = _seats[0].urls["bike-shop"]
        theirs = {"authorization": f"Bearer {_seats[0].token}"}
        for url, headers in ((other, {}), (other, theirs | session)):
            rent = {"name": "rent", "arguments": {"bike": "b-1", "renter": "me"}}
            answer = await http.post(url, json=request("tools/call", rent), headers=headers)
            found.append(str(answer.status_code))
    _all_there.set()
    return " ".join(found)
