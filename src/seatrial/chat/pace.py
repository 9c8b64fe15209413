"""How fast an endpoint is asked: its limits by the minute, what it says of its load, and asking again.

A limit by the minute is a token bucket (aiolimiter). When an endpoint says that it is asked too much (429),
everybody waits as long as it says, and from then on half as many requests go on at once, one more after each
round of answers. What came to nothing by itself is asked again, twice at most.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from email.utils import parsedate_to_datetime
from typing import TypeVar

import anyio
from aiolimiter import AsyncLimiter

RETRIES = 2
"""How often a request that came to nothing is made again."""
FIRST_WAIT_SECONDS = 0.5
"""Before the first of them, where the endpoint says nothing; then twice as long each time."""
MOST_WAIT_SECONDS = 120.0
"""An endpoint that asks for more is not waited for."""
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""HTTP statuses of what may go away by itself."""

T = TypeVar("T")


class Unanswered(Exception):
    """An endpoint gave no answer that can be used."""

    def __init__(
        self,
        message: str,
        *,
        passing: bool = False,
        busy: bool = False,
        retry_after: float | None = None,
        free: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.passing = passing
        """It may go away by itself: the network, a status of an endpoint that is busy or broken."""
        self.busy = busy
        """The endpoint says that it is asked too much."""
        self.retry_after = retry_after
        """Seconds after which it wants to be asked again; None when it does not say."""
        self.free = free
        """It was refused or never arrived, so that nobody asks money for it."""


class Pace:
    """How fast one endpoint is asked, by all trials of a run together."""

    def __init__(self, requests: int | None = None, tokens: int | None = None) -> None:
        """Set the limits.

        Args:
            requests: by the minute; None for any number.
            tokens: read and written together, by the minute; None for any number.
        """
        self._requests: AsyncLimiter | None = None
        self._tokens: AsyncLimiter | None = None
        self.tighten(requests, tokens)
        self._owed = 0
        """Tokens that answers took beyond what was set aside for them."""
        self._usual = 0.0
        """Tokens of a request, on average lately."""
        self._open_at = 0.0
        self._slowed_at = 0.0
        self._room: anyio.CapacityLimiter | None = None
        self._well = 0

    def tighten(self, requests: int | None = None, tokens: int | None = None) -> None:
        """Keep these limits as well: of two that are set for one endpoint the lower one holds."""
        self._requests = _lower(self._requests, requests)
        self._tokens = _lower(self._tokens, tokens)

    async def ask(
        self,
        request: Callable[[], Awaitable[T]],
        *,
        retries: int = RETRIES,
        used: Callable[[T], int] = lambda _: 0,
        told: Callable[[str], None] = lambda _: None,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> T:
        """Make a request when the limits let it, and again where it came to nothing by itself.

        Args:
            request: makes it.
            retries: how often it may be made again.
            used: the tokens that an answer took.
            told: is told why a request is made again.
            waiting: is open while nothing happens but waiting for the limits.

        Raises:
            Unanswered: it came to nothing for good.
        """
        retry = 0
        while True:
            began = math.inf
            try:
                async with self._admitted(waiting):
                    began = anyio.current_time()
                    answer = await request()
            except Unanswered as error:
                # Of those that went on side by side the first one says it for all.
                if error.busy and began >= self._slowed_at:
                    self._slow_down()
                wait = _wait(error, retry)
                if error.busy and wait <= MOST_WAIT_SECONDS:
                    self._open_at = max(self._open_at, anyio.current_time() + wait)
                if not error.passing or retry == retries or wait > MOST_WAIT_SECONDS:
                    raise
                retry += 1
                told(f"asked again ({retry} of {retries}), after: {error.message}")
                if not error.busy:
                    with waiting():
                        await anyio.sleep(wait)
            else:
                self._account(used(answer))
                self._speed_up()
                return answer

    @asynccontextmanager
    async def _admitted(
        self, waiting: Callable[[], AbstractContextManager[None]]
    ) -> AsyncIterator[None]:
        """A request may be made within the block."""
        if self._room is None:
            self._room = anyio.CapacityLimiter(float("inf"))
        with waiting():
            await self._room.acquire()
        try:
            with waiting():
                while self._open_at > anyio.current_time():  # noqa: ASYNC110 - it may be moved
                    await anyio.sleep_until(self._open_at)
                if self._requests is not None:
                    await self._requests.acquire()
                await self._set_tokens_aside()
            yield
        finally:
            self._room.release()

    async def _set_tokens_aside(self) -> None:
        if self._tokens is None:
            return
        wanted = self._owed + round(self._usual)
        self._owed = 0
        while wanted > 0:  # a bucket gives no more at once than it holds
            piece = min(wanted, int(self._tokens.max_rate))
            await self._tokens.acquire(piece)
            wanted -= piece

    def _account(self, tokens: int) -> None:
        self._owed += max(0, tokens - round(self._usual))
        self._usual = 0.8 * self._usual + 0.2 * tokens if self._usual else float(tokens)

    def _slow_down(self) -> None:
        room = self._room
        if room is not None:
            room.total_tokens = max(1, min(room.borrowed_tokens + 1, room.total_tokens) // 2)
            self._well = 0
            self._slowed_at = anyio.current_time()

    def _speed_up(self) -> None:
        room = self._room
        if room is None or room.total_tokens == float("inf"):
            return
        self._well += 1
        if self._well >= room.total_tokens:
            self._well = 0
            room.total_tokens += 1


def _lower(kept: AsyncLimiter | None, limit: int | None) -> AsyncLimiter | None:
    if limit is None or (kept is not None and kept.max_rate <= limit):
        return kept
    return AsyncLimiter(limit)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds after which an endpoint wants to be asked again, as its headers say it; None where they do not."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            try:
                then = parsedate_to_datetime(text)
            except ValueError:
                continue
            then = then if then.tzinfo else then.replace(tzinfo=dt.UTC)
            seconds = (then - dt.datetime.now(dt.UTC)).total_seconds()
        if seconds == seconds and seconds < 1e9:  # neither NaN nor for ever
            return max(0.0, seconds)
    return None


def _wait(error: Unanswered, retry: int) -> float:
    return backoff(retry) if error.retry_after is None else error.retry_after


def backoff(retry: int) -> float:
    """Seconds before the next attempt, the first being number 0."""
    # Spread, so that those who failed together do not come back together.
    return float(FIRST_WAIT_SECONDS * 2**retry * random.uniform(0.75, 1.25))
