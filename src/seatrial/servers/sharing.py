"""One server for all trials of a run: started when the first of them comes, and again when it has died."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import anyio.abc

from seatrial.errors import Error
from seatrial.servers.real import RealServer
from seatrial.upstream import Client, Session

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
        self._session = session
        self._tasks = tasks
        self._kept: Session | None = None
        self._leave = anyio.Event()
        self._lock = anyio.Lock()
        self._trials: list[RealServer] = []

    @asynccontextmanager
    async def joined(self, trial: RealServer) -> AsyncIterator[Session]:
        """The session, for one trial.

        Raises:
            ToolServerError: the server cannot be started or reached.
        """
        async with self._lock:
            if self._kept is None or self._kept.is_gone:
                self._leave.set()
                self._leave = anyio.Event()
                found = await self._tasks.start(self._keep, self._leave)
                if isinstance(found, Error):
                    raise found
                self._kept = found
            session = self._kept
        assert session is not None
        self._trials.append(trial)
        try:
            yield session
        finally:
            self._trials.remove(trial)

    async def _keep(
        self, leave: anyio.Event, *, task_status: anyio.abc.TaskStatus[Session | Error]
    ) -> None:
        is_there = False
        try:
            async with self._session(self) as session:
                is_there = True
                task_status.started(session)
                await leave.wait()
        except Error as error:
            if is_there:
                raise
            task_status.started(error)

    def told(self, message: dict[str, Any]) -> None:
        """Pass on what concerns all trials; the rest only where there is one, for it may be about another's."""
        if message["method"].endswith(_OF_ALL) or len(self._trials) == 1:
            for trial in tuple(self._trials):
                trial.told(message)

    async def asked(self, message: dict[str, Any]) -> dict[str, Any]:
        """The fixture's answer: nothing says for which trial the server asks."""
        for trial in self._trials:
            return await trial.asked(message)
        return {"error": {"code": -32601, "message": "Nobody is there"}}
