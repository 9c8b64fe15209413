"""What the arms of one run share: a pool of HTTP connections, and the functions that were loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import anyio
import httpx

from seatrial.chat import Pace
from seatrial.documents import ArmLimits
from seatrial.errors import ArmError
from seatrial.printed import diverted

CONNECT_SECONDS = 10.0
"""A service that does not take a connection by then is not there."""


class Connections:
    """Shared by the arms of one run."""

    def __init__(self, fraction: float = 1.0) -> None:
        """What is shared; of limits by the minute the run has this fraction, where it is one of several shards."""
        self._fraction = fraction
        self.functions: dict[str, Callable[..., Any] | ArmError] = {}
        """Loaded once per run, by target: the function, or why there is none."""
        self.loading = anyio.Lock()
        self._paces: dict[str, Pace] = {}
        self._client: httpx.AsyncClient | None = None
        self._diverted = ExitStack()
        self._diverted_already = False

    def divert_prints(self) -> None:
        """From now until the end of the run, keep what agents in this process print off the terminal."""
        if not self._diverted_already:
            self._diverted_already = True
            self._diverted.enter_context(diverted())

    def pace(self, url: str, limits: ArmLimits) -> Pace:
        """How fast an endpoint is asked; where several arms ask the same, the lowest of their limits holds."""
        pace = self._paces.setdefault(url, Pace())
        requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
        pace.tighten(self._own(requests), self._own(tokens))
        return pace

    def _own(self, limit: int | None) -> int | None:
        return None if limit is None else max(1, int(limit * self._fraction))

    @property
    def client(self) -> httpx.AsyncClient:
        """The pool of HTTP connections, made when it is first needed. It keeps no cookies."""
        if self._client is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
            here = httpx.AsyncHTTPTransport(limits=limits)  # no proxy for our own machine
            self._client = httpx.AsyncClient(
                headers={"Accept-Encoding": "identity"},
                timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
                limits=limits,
                mounts={f"all://{host}": here for host in ("localhost", "127.0.0.1", "[::1]")},
            )
            # Shared by all trials: a cookie of one of them is kept by none of the others.
            self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
        return self._client

    async def close(self) -> None:
        """Close the pool, and give the terminal back."""
        self._diverted.close()
        if self._client is not None:
            await self._client.aclose()


@asynccontextmanager
async def connections(fraction: float = 1.0) -> AsyncIterator[Connections]:
    """What the arms of one run share, for as long as it runs.

    Args:
        fraction: of the limits by the minute, what this run may use: less than 1 where it is one of several shards.
    """
    shared = Connections(fraction)
    try:
        yield shared
    finally:
        with anyio.CancelScope(shield=True):
            await shared.close()
