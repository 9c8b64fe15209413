"""The agent is a tool of an MCP server: a session per trial, a call of the tool per turn.

The server is the agent's own, and has nothing to do with those behind the gateway: what it calls there is
recorded there. A program is started for each trial, in a folder of its own and with the environment of a
`command` agent; a service gets a session for each trial.
"""

from __future__ import annotations

import math
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from pathlib import Path
from typing import Any

from seatrial.arms.connections import Connections
from seatrial.arms.filling import Filling
from seatrial.arms.own_folder import furnished, made
from seatrial.arms.replies import excerpt, wrong
from seatrial.arms.seat import Reply, Seat
from seatrial.arms.shaped import Heard, heard
from seatrial.chat import Pace
from seatrial.documents import ArmLimits, Mcp
from seatrial.errors import ArmError, ToolServerError
from seatrial.upstream import Rejected, Session
from seatrial.upstream.http import connected
from seatrial.upstream.stdio import StdioServer, started

_MOST_NAMED = 10
"""Tools that are named where the right one is not there."""


@asynccontextmanager
async def open(
    adapter: Mcp, seat: Seat, shared: Connections, limits: ArmLimits
) -> AsyncIterator[Conversation]:
    """Begin a session with the server; end it, and all that was started for it, when the block is left.

    Raises:
        ArmError: it cannot be started or reached, begins no session, or has no such tool.
    """
    async with AsyncExitStack() as stack:
        filling = Filling(seat)
        opening: AbstractAsyncContextManager[Session]
        if adapter.url is None:
            folder = await stack.enter_async_context(made(seat))
            opening = _program(adapter, seat, folder)
        else:
            opening = connected(
                adapter.url,
                who=f"the agent at {adapter.url}",
                headers=filling.headers(adapter.headers),
                seconds=adapter.start_seconds,
            )
        with _told():
            session = await stack.enter_async_context(opening)
            await _check_tool(adapter, session)
        pace = None if adapter.url is None else shared.pace(adapter.url, limits)
        yield Conversation(adapter, seat, session, filling, pace)


def _program(adapter: Mcp, seat: Seat, folder: Path) -> AbstractAsyncContextManager[Session]:
    environment, config = furnished(adapter, seat, folder)
    command = [
        sys.executable if word == "{python}" else word.replace("{config}", str(config))
        for word in adapter.command
    ]
    return started(
        command,
        who="the agent",
        cwd=seat.root,
        env=environment,
        mark=("SEATRIAL_TRIAL", seat.trial),
        seconds=adapter.start_seconds,
    )


async def _check_tool(adapter: Mcp, session: Session) -> None:
    try:
        tools = await session.listed("tools/list", "tools", seconds=adapter.start_seconds)
    except Rejected as error:
        raise ArmError(
            "agent_unreachable", f"the agent's server does not list its tools: {_said(error)}"
        ) from error
    names = [str(tool.get("name")) for tool in tools if isinstance(tool, dict)]
    if adapter.tool not in names:
        shown = ", ".join(excerpt(name, 60) for name in names[:_MOST_NAMED]) or "none"
        more = ", …" if len(names) > _MOST_NAMED else ""
        raise ArmError(
            "agent_unreachable",
            f"the agent's server has no tool `{adapter.tool}`; it has {shown}{more}",
        )


class Conversation:
    """One trial's session with a server."""

    def __init__(
        self, adapter: Mcp, seat: Seat, session: Session, filling: Filling, pace: Pace | None
    ) -> None:
        self._adapter = adapter
        self._seat = seat
        self._session = session
        self._filling = filling
        self._pace = pace

    @property
    def notes(self) -> list[str]:
        """The end of what a program wrote to stderr."""
        last = self._session.last_stderr if isinstance(self._session, StdioServer) else ""
        return [f"the end of stderr:\n{last}"] if last else []

    @property
    def meanwhile(self) -> str:
        """What a program wrote to stderr last."""
        last = self.notes[0].splitlines()[-1] if self.notes else ""
        return f"its last words on stderr: {excerpt(last)}" if last else ""

    async def reply(self, turn: int, text: str) -> Reply:
        """Call the tool, and read its result."""
        self._filling.say(turn, text)
        asked = {
            "name": self._adapter.tool,
            "arguments": self._filling.body(self._adapter.arguments),
        }
        if self._pace is None:
            found = await self._call(asked)
        else:
            found = await self._pace.ask(
                lambda: self._call(asked),
                retries=0,
                used=lambda found: found.reply.tokens,
                waiting=self._seat.waiting,
            )
        self._filling.hear(found.reply.text, found.session)
        return found.reply

    async def _call(self, asked: dict[str, Any]) -> Heard:
        who = f"the agent's tool `{self._adapter.tool}`"
        with _told():
            try:
                # The turn's time bounds it.
                result = await self._session.request("tools/call", asked, seconds=math.inf)
            except Rejected as error:
                raise ArmError("agent_unreachable", f"{who} was refused: {_said(error)}") from error
        content = result.get("content")
        parts = content if isinstance(content, list) else []
        texts = [p["text"] for p in parts if _is_text(p)]
        if result.get("isError") not in (None, False):
            raise ArmError(
                "agent_unreachable",
                f"{who} answers with an error: {excerpt(' '.join(texts)) or 'it does not say which'}",
            )
        if self._adapter.response.text is None and not texts:
            raise wrong(
                who, "no text in its `content`; say in `response.text` where the reply stands"
            )
        return heard(result, self._adapter.response, who=who, text="\n".join(texts))


@contextmanager
def _told() -> Iterator[None]:
    """What becomes of the agent's server within the block is the agent's fault."""
    try:
        yield
    except ToolServerError as error:
        raise ArmError("agent_unreachable", error.message, passing=error.passing) from error


def _is_text(part: Any) -> bool:
    return (
        isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
    )


def _said(error: Rejected) -> str:
    return f"{excerpt(error.message)} ({error.code})"
