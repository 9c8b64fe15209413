"""One server for all trials of a run: started when the first of them comes, and again when it has died."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import anyio.abc

from seatrial.servers.keeping import Kept
from seatrial.servers.real import RealServer
from seatrial.upstream import METHOD_NOT_FOUND, Client, Session

_OF_ALL = "/list_changed"


class Shared:
    """A server that several trials use at once."""

    def __init__(
        self,
        session: Callable[[Client], AbstractAsyncContextManager[Session]],
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """Make room for a server.

        Args:
            session: opens a session with the server.
            tasks: where the session is kept.
        """
        self._open = session
        self._tasks = tasks
        self._kept: Kept | None = None
        self._session: Session | None = None
        self._lock = anyio.Lock()
        self._trials: list[RealServer] = []

    @asynccontextmanager
    async def joined(self, trial: RealServer) -> AsyncIterator[Session]:
        """The session, for one trial.

        Raises:
            ToolServerError: the server cannot be started or reached.
        """
        async with self._lock:
            if self._session is None or self._session.is_gone:
                await self.end()
                self._kept = Kept(self._open(self))
                self._session = await self._kept.begin(self._tasks)
            session = self._session
        self._trials.append(trial)
        try:
            yield session
        finally:
            self._trials.remove(trial)

    async def end(self) -> None:
        """End the server, when it is there."""
        kept, self._kept, self._session = self._kept, None, None
        if kept is not None:
            await kept.end()

    def told(self, message: dict[str, Any]) -> None:
        """Pass on what concerns all trials; the rest only where there is one, for it may be about another's."""
        if message["method"].endswith(_OF_ALL) or len(self._trials) == 1:
            for trial in tuple(self._trials):
                trial.told(message)

    async def asked(self, message: dict[str, Any]) -> dict[str, Any]:
        """The fixture's answer: nothing says for which trial the server asks."""
        for trial in self._trials:
            return await trial.asked(message)
        return {"error": {"code": METHOD_NOT_FOUND, "message": "Nobody is there"}}
