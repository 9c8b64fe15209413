"""One HTTP server for all trials of a run, on loopback, for as long as the run takes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self, cast

import anyio
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from seatrial.documents import Answers, ShownTool
from seatrial.documents.world import Denial
from seatrial.gateway.channel import Channel
from seatrial.gateway.endpoint import CLOSE, ON_LOST, Endpoint
from seatrial.gateway.servers import Rights, ToolServer
from seatrial.trace import Json
from seatrial.upstream.session import alone

BODY_LIMIT = 4 * 1024 * 1024
"""Bytes of a request's body, as much as the servers of the official SDKs take."""

_HEAD_LIMIT = 64 * 1024
_IDLE_SECONDS = 600
"""How long an unused connection stays open: an agent may think for minutes between two calls."""
_GRACE_SECONDS = 1
"""For answers on their way when the run ends."""


class Gateway:
    """The MCP endpoint of a run: a channel per trial, no process and no task of its own for any."""

    def __init__(self, *, port: int = 0, body_limit: int = BODY_LIMIT) -> None:
        """Make a gateway that is not reachable yet; `serving` makes one that is."""
        self.address = f"http://127.0.0.1:{port}"
        self._channels: dict[str, Channel] = {}
        self.endpoint = Endpoint(self._channels, port=port, body_limit=body_limit)

    @classmethod
    @asynccontextmanager
    async def serving(cls, *, body_limit: int = BODY_LIMIT) -> AsyncIterator[Self]:
        """A gateway that agents can reach, until the block ends; then nothing of it is left.

        Raises:
            ExceptionGroup: of bugs of ours that came up while answering.
        """
        # asyncio turns Nagle's delay off (40 ms a call) only where the protocol is spelled out.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        gateway = cls(port=listener.getsockname()[1], body_limit=body_limit)
        server = _server(gateway.endpoint)
        await server.startup([listener])
        try:
            async with anyio.create_task_group() as tasks:
                gateway.endpoint.tasks = tasks
                try:
                    yield gateway
                finally:
                    for channel in tuple(gateway._channels.values()):
                        channel.close()
                    with anyio.CancelScope(shield=True):
                        await server.shutdown([listener])
                    tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # Our own tasks raise nothing: what is in the group came out of the block.
            if (error := alone(group)) is not group:
                raise error from error.__cause__
            raise
        if gateway.endpoint.bugs:
            raise ExceptionGroup("the gateway failed while answering", gateway.endpoint.bugs)

    def open(
        self,
        servers: Sequence[ToolServer],
        *,
        rights: Rights | None = None,
        of_servers: Mapping[str, Rights | None] | None = None,
        answers: Answers | None = None,
        calls_limit: int | None = None,
        lookup: Mapping[str, Json] | None = None,
        shown: Mapping[str, ShownTool] | None = None,
        denials: Mapping[str, Sequence[Denial]] | None = None,
        seed: int = 0,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> Channel:
        """Open a trial's channel; see `Channel` for what it takes.

        Raises:
            MockError, UsageError: as `Channel` does.
        """
        channel = Channel(
            servers,
            rights=rights,
            of_servers=of_servers,
            answers=answers,
            calls_limit=calls_limit,
            lookup=lookup,
            shown=shown,
            denials=denials,
            seed=seed,
            clock=clock,
            sleep=sleep,
            address=self.address,
            on_close=self._forget,
        )
        self._channels[channel.secret] = channel
        return channel

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Those of trials that are under way."""
        return tuple(self._channels.values())

    @property
    def open_channels(self) -> int:
        """How many trials are under way."""
        return len(self._channels)

    def _forget(self, channel: Channel) -> None:
        del self._channels[channel.secret]


def _server(application: Endpoint) -> uvicorn.Server:
    """A uvicorn to be started and stopped by us: its own loop would take over the signals, and poll."""
    config = uvicorn.Config(
        application,
        http=_Protocol,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="critical",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    return server


class _Protocol(HttpToolsProtocol):
    """HTTP that tells at once when a client is gone, and bounds what may come before a body."""

    _head_bytes: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._on_lost: set[Callable[[], None]] = set()
        super().connection_made(cast(asyncio.Transport, transport))

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for hung_up in tuple(self._on_lost):
            hung_up()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast(dict[str, Any], self.scope)["extensions"] = {
            ON_LOST: self._on_lost,
            CLOSE: self.transport.close,
        }
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._head_bytes = None
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_bytes is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > _HEAD_LIMIT:
                self.send_400_response("The request's head is too large.")
