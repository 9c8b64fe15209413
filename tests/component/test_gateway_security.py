"""What reaches a trial, and what does not."""

import anyio
import httpx
import pytest
from tests import mcp_wire
from tests.lending_desk import LendingDesk
from tests.mcp_wire import JSON, call, post, request

from seatrial.gateway import Channel, Gateway
from seatrial.trace import Noted

LIST = request("tools/list")
JSON_BYTES = {name.encode(): value.encode() for name, value in JSON.items()}


async def status_of(client: httpx.AsyncClient, channel: Channel, **headers: str) -> int:
    return (await post(client, channel, LIST, **headers)).status_code


def test_only_the_trials_own_token_opens_it():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel, other = gateway.open([LendingDesk()]), gateway.open([LendingDesk()])

        assert await status_of(client, channel) == 200
        for wrong in (
            f"Bearer {other.token}",
            f"Bearer {channel.token}x",
            f"Bearer {channel.token[:-1]}",
            f"Basic {channel.token}",
            channel.token,
            "Bearer",
            "Bearer ü",
            "",
        ):
            raw = wrong.encode("latin-1")
            refused = await client.post(
                channel.url("desk"), json=LIST, headers={**JSON_BYTES, b"authorization": raw}
            )
            assert (wrong, refused.status_code) == (wrong, 401)
            assert channel.token not in refused.text
        without = await client.post(channel.url("desk"), json=LIST, headers=JSON)
        assert without.status_code == 401
        assert without.headers["www-authenticate"] == "Bearer"
        assert "error" in without.json()

        assert [event.event for event in channel.events].count("listed") == 1
        assert notes_of(channel) == [
            "A request came with the token of another trial; it was refused.",
            "A request came without the trial's token; it was refused.",
        ]
        assert notes_of(other) == [
            "Its token was used at another trial's address; it was refused there."
        ]
        assert len(other.events) == 1

    mcp_wire.run(check)


def notes_of(channel: Channel) -> list[str]:
    return [event.text for event in channel.events if isinstance(event, Noted)]


def test_two_tokens_at_once_open_nothing():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        answer = await client.post(
            channel.url("desk"),
            json=LIST,
            headers=[
                *JSON.items(),
                ("authorization", "Bearer guess"),
                ("authorization", f"Bearer {channel.token}"),
            ],
        )

        assert answer.status_code == 400
        assert channel.events == ()

    mcp_wire.run(check)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"host": "127.0.0.1:1"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
    ],
)
def test_a_web_page_cannot_reach_in(headers: dict[str, str], status: int):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        assert await status_of(client, channel, **headers) == status
        assert channel.events == ()

    mcp_wire.run(check)


def test_the_gateways_own_names_are_let_in():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])
        port = gateway.address.rpartition(":")[2]

        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
            assert await status_of(client, channel, host=host, origin=f"http://{host}") == 200

    mcp_wire.run(check)


def test_the_gateway_listens_on_loopback_alone():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        assert gateway.address.startswith("http://127.0.0.1:")

    mcp_wire.run(check)


@pytest.mark.parametrize(
    "path",
    ["", "/", "/mcp", "/c", "/c/", "/c/desk/mcp", "/c/{}/desk", "/c/{}/desk/mcp/", "/c/{}/other/mcp",
     "/c/{}//mcp", "/c/{}/desk/mcp/mcp", "/c/x{}/desk/mcp", "//c/{}/desk/mcp",
     "/.well-known/oauth-protected-resource"],
)  # fmt: skip
def test_every_other_path_is_unknown(path: str):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])
        url = httpx.URL(gateway.address).copy_with(
            raw_path=path.format(channel.secret).encode() or b"/"
        )

        answer = await client.post(url, json=LIST, headers={**JSON, **channel.headers})

        assert answer.status_code == 404
        assert channel.events == ()

    mcp_wire.run(check)


def test_a_trial_that_is_over_is_gone_and_records_nothing_more():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])
        assert await status_of(client, channel) == 200
        channel.close()

        for message in (LIST, call("lend", thing="saw", to="Ada"), request("initialize")):
            assert (await post(client, channel, message)).status_code == 404
        assert len(channel.events) == 1

    mcp_wire.run(check)


def test_a_session_of_one_trial_is_unknown_to_another():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel, other = gateway.open([LendingDesk()]), gateway.open([LendingDesk()])
        hello = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        session = (await post(client, channel, hello)).headers["mcp-session-id"]

        assert await status_of(client, channel, mcp_session_id=session) == 200
        for _ in range(3):
            assert await status_of(client, other, mcp_session_id=session) == 404
        assert notes_of(other) == [
            "A request came with the session of another trial; it was refused."
        ]
        assert notes_of(channel) == ["Its session was used by another trial; it was refused there."]
        assert await status_of(client, channel, mcp_session_id=session) == 200

    mcp_wire.run(check)


def test_two_trials_never_see_one_anothers_state():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        one, other = gateway.open([LendingDesk()]), gateway.open([LendingDesk()])

        await post(client, one, call("lend", thing="saw", to="Ada"))
        seen = (await post(client, other, call("look_up", thing="saw"))).json()

        assert seen["result"]["structuredContent"]["holder"] == "desk"
        assert [e.event for e in one.events] == [e.event for e in other.events] == ["called"]

    mcp_wire.run(check)


def test_a_body_that_is_too_large_is_refused_declared_or_not():
    async def check() -> None:
        with anyio.fail_after(30):
            async with mcp_wire.serving(body_limit=2000) as (gateway, client):
                channel = gateway.open([LendingDesk()])
                headers = {**JSON, **channel.headers}

                async def chunks():
                    for _ in range(40):
                        yield b" " * 100

                declared = await client.post(
                    channel.url("desk"), content=b" " * 2001, headers=headers
                )
                streamed = await client.post(channel.url("desk"), content=chunks(), headers=headers)
                fitting = await client.post(
                    channel.url("desk"),
                    content=b'{"jsonrpc":"2.0","id":1,"method":"ping"}'.ljust(2000),
                    headers=headers,
                )

                assert (declared.status_code, streamed.status_code) == (413, 413)
                assert fitting.status_code == 200

    anyio.run(check)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"nonsense", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"NaN",
     b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b'"\\ud800"', b"9" * 100_000],
)  # fmt: skip
def test_a_body_that_is_no_json_is_a_parse_error(body: bytes):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        for era in ({}, {"mcp-protocol-version": "2026-07-28"}):
            answer = await client.post(
                channel.url("desk"), content=body, headers={**JSON, **channel.headers, **era}
            )
            assert answer.status_code == 400
            assert answer.json()["error"]["code"] == -32700
            assert answer.json()["id"] is None

    mcp_wire.run(check)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": ""}, 415),
        ({"content-encoding": "gzip"}, 415),
        ({"accept": "text/html"}, 406),
        ({"accept": "text/event-stream"}, 406),
        ({"accept": "application/json"}, 200),
        ({"accept": "text/html, application/*;q=0.2"}, 200),
        ({"accept": "*/*"}, 200),
        ({"content-type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_media_types_are_what_the_protocol_wants(headers: dict[str, str], status: int):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        assert await status_of(client, gateway.open([LendingDesk()]), **headers) == status

    mcp_wire.run(check)


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_other_methods_are_not_allowed(method: str):
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])

        answer = await client.request(
            method,
            channel.url("desk"),
            headers={**channel.headers, "accept": "text/event-stream"},
        )

        assert answer.status_code == 405
        assert answer.headers["allow"] == "POST, DELETE"

    mcp_wire.run(check)


def test_a_number_beyond_all_numbers_is_refused_and_not_recorded():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        channel = gateway.open([LendingDesk()])
        body = (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
            b'"params":{"name":"print","arguments":{"letters":1e999}}}'
        )

        answer = await client.post(
            channel.url("desk"), content=body, headers={**JSON, **channel.headers}
        )

        assert answer.json()["error"]["code"] == -32602
        assert channel.events == ()

    mcp_wire.run(check)


def test_endless_headers_are_cut_off():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        port = int(gateway.address.rpartition(":")[2])
        for piece in (b"x: " + b"y" * 10_000, b"x: y\r\n" * 2_000, b"y" * 20_000):
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                await stream.send(b"POST / HTTP/1.1\r\nhost: x\r\n")
                answer = b""
                with anyio.fail_after(20):
                    try:
                        for _ in range(100):
                            await stream.send(piece)
                        answer = await stream.receive()
                    except (anyio.BrokenResourceError, anyio.EndOfStream):
                        continue  # closed before all was sent
                assert answer.startswith(b"HTTP/1.1 400 ")

    mcp_wire.run(check)
