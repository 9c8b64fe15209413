"""A session in a task of its own, so that several can be begun, and ended, side by side."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import anyio
import anyio.abc

from seatrial.upstream import Session


class Kept:
    """A session that is held open until it is told to end."""

    def __init__(self, opening: AbstractAsyncContextManager[Session]) -> None:
        """Take a session that is not begun yet."""
        self._opening = opening
        self._session: Session | None = None
        self._error: Exception | None = None
        self._leave = anyio.Event()
        self._ended = anyio.Event()

    async def begin(self, tasks: anyio.abc.TaskGroup) -> Session:
        """Begin the session, and hold it in a task of this group.

        Raises:
            ToolServerError: it cannot be begun.
        """
        await tasks.start(self._hold)
        if self._session is None:
            assert self._error is not None
            raise self._error
        return self._session

    def leave(self) -> None:
        """Tell the session to end, without waiting for that."""
        self._leave.set()

    async def end(self) -> None:
        """End the session; one that was never begun has ended already. Nothing of it is left afterwards."""
        self._leave.set()
        with anyio.CancelScope(shield=True):
            await self._ended.wait()
        if self._session is not None and self._error is not None:
            raise self._error

    async def _hold(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        try:
            async with self._opening as session:
                self._session = session
                task_status.started()
                await self._leave.wait()
        except Exception as error:  # raised again by whoever begins or ends it
            self._error = error
            if self._session is None:
                task_status.started()
        finally:
            self._ended.set()
