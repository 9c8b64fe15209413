"""Requests to the services behind worlds: bounded, and with every outage told as such."""

from __future__ import annotations

import http.cookiejar
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import httpx

from seatrial.documents.world import HttpWorld
from seatrial.errors import ToolServerError, printable
from seatrial.state import State, difference
from seatrial.trace import Json

MOST_BYTES = 32_000_000
"""The largest body that is read."""
_IDLE_SECONDS = 2.0
"""How long an unused connection is kept: a service that closes it meanwhile would look like an outage."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Received:
    """What a service answered."""

    status: int
    kind: str
    """The content type, without its parameters."""
    body: bytes
    request: str
    """`GET /orders`, for messages."""

    @property
    def is_json(self) -> bool:
        """Whether the body says that it is JSON."""
        return self.kind == "application/json" or self.kind.endswith("+json")

    def text(self) -> str:
        """The body as text, whatever it is."""
        return self.body.decode("utf-8", "replace")

    def shown(self) -> str:
        """The beginning of the body, fit for a message."""
        text = printable(" ".join(self.text().split()))
        return (text if len(text) <= _SHOWN else text[:_SHOWN] + "…") or "an empty body"


class Services:
    """What the trials of a run share: a pool of connections, turns, and how each world started."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None
        self._turns: dict[str, anyio.Lock] = {}
        self._starts: dict[int, tuple[HttpWorld, State]] = {}

    def turn(self, world: HttpWorld) -> anyio.Lock:
        """What a trial holds while it has a service to itself that others use too."""
        return self._turns.setdefault(world.url, anyio.Lock())

    def differs_from_first(self, world: HttpWorld, start: State) -> str:
        """What is different from the start of the first trial of this world; empty when nothing is."""
        _, first = self._starts.setdefault(id(world), (world, start))
        changes = difference(first, start)
        if not changes:
            return ""
        named = ", ".join(dict.fromkeys(f"{c.type} {c.key}" for c in changes[:5]))
        return f"{named} and more" if changes[5:] else named

    async def send(
        self,
        world: HttpWorld,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        query: Mapping[str, Any],
        body: Json | None,
    ) -> Received:
        """One request.

        Raises:
            ToolServerError: the service is not there, does not answer in time, or answers without end.
        """
        request = f"{method} {url}"
        received = bytearray()
        try:
            with anyio.fail_after(world.seconds):
                async with self._pool().stream(
                    method,
                    url,
                    params=_flat(query),
                    headers=dict(headers),
                    **({} if body is None else {"json": body}),
                ) as response:
                    async for chunk in response.aiter_bytes():
                        received += chunk
                        if len(received) > MOST_BYTES:
                            raise self._fault(
                                world, f"{request} answers with more than {MOST_BYTES:,} bytes"
                            )
        except TimeoutError as error:
            raise self._fault(
                world, f"no answer to {request} within {world.seconds:g} s"
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            why = str(error) or type(error).__name__
            raise self._fault(
                world, f"no answer to {request} ({why}); is the service running?"
            ) from error
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Received(response.status_code, kind, bytes(received), request)

    async def close(self) -> None:
        """Close the pool."""
        if self._client is not None:
            await self._client.aclose()

    def _pool(self) -> httpx.AsyncClient:
        if self._client is None:
            # No cookie of one trial may travel with a request of another.
            no_cookies = http.cookiejar.DefaultCookiePolicy(allowed_domains=[])
            self._client = httpx.AsyncClient(
                cookies=http.cookiejar.CookieJar(no_cookies),
                headers={"User-Agent": "seatrial", "Accept-Encoding": "identity"},
                limits=httpx.Limits(max_connections=None, keepalive_expiry=_IDLE_SECONDS),
                timeout=None,
                follow_redirects=False,
                trust_env=False,
            )
        return self._client

    def _fault(self, world: HttpWorld, what: str) -> ToolServerError:
        return ToolServerError(f"world {world.id!r}: {what}")


def with_variables(world: HttpWorld, text: str, environ: Mapping[str, str]) -> str:
    """A header with the variables that it names.

    Raises:
        ToolServerError: one of them is not set.
    """

    def variable(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in world.pass_env:
            return match.group(0)
        if name not in environ:
            raise ToolServerError(f"world {world.id!r}: the environment variable {name} is not set")
        return environ[name]

    return re.sub(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", variable, text)


def _flat(query: Mapping[str, Any]) -> list[tuple[str, str | int | float | bool | None]]:
    """Parameters of a URL: a list is the parameter several times, true and false are written so."""
    found: list[tuple[str, str | int | float | bool | None]] = []
    for name, value in query.items():
        for item in value if isinstance(value, list) else [value]:
            text = (
                str(item).lower() if isinstance(item, bool) else str("" if item is None else item)
            )
            found.append((name, text))
    return found
