"""The agent is a function in this process: `module:function`, called as `f(text, seat)`.

Or the product's own builder makes it, anew for each trial: called with the arm's settings, it gives such a function.
Where either has an attribute `settings_schema` (a JSON Schema), the settings must fit it.

A plain function runs in a thread of its own, a daemon: Python cannot end a thread, and one that hangs
must not keep the run, or the interpreter's end, waiting. Once its trial is over it can call no tool.
"""

from __future__ import annotations

import asyncio
import encodings.idna  # noqa: F401 - agents that look up hosts in threads at once fail to import it first
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio.lowlevel

from seatrial.arms.connections import Connections
from seatrial.arms.replies import reply_of
from seatrial.arms.seat import CallTool, Reply, Seat
from seatrial.documents import Python
from seatrial.errors import ArmError, FunctionError
from seatrial.functions import load, told
from seatrial.printed import Printed, listening
from seatrial.state.schemas import schema_problem, validator
from seatrial.threads import in_thread
from seatrial.trace import Answer

_THREAD = "seatrial agent"


@dataclass(slots=True)
class _PythonSeat:
    seed: int
    """The trial's seed."""
    now: str
    """The trial's frozen clock, ISO 8601."""
    settings: dict[str, Any]
    """The arm's settings."""
    url: str
    """Base of the gateway's addresses for this trial."""
    urls: dict[str, str]
    """Each MCP server's name and address."""
    token: str
    """The bearer token for them."""
    config: dict[str, Any]
    """An MCP client configuration (`mcpServers`)."""
    history: list[dict[str, str]] = field(default_factory=list)
    """What was said before: `{"role": "user" | "assistant", "text": …}`."""
    state: dict[str, Any] = field(default_factory=dict)
    """The agent's own, kept from turn to turn of this trial and of no other."""


@dataclass(slots=True)
class AsyncSeat(_PythonSeat):
    """What an `async` function is given: `await seat.call("refund", order_id="A-1")`."""

    _call: CallTool = field(kw_only=True, repr=False)

    async def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool; its answer, or its error (`is_error`)."""
        # A call that is answered at once would not let go of the loop: an agent that calls for ever
        # could then neither be stopped nor would anybody else be served.
        await anyio.lowlevel.checkpoint()
        return await self._call(tool, arguments)


@dataclass(slots=True)
class SyncSeat(_PythonSeat):
    """What a plain function is given: `seat.call("refund", order_id="A-1")`."""

    _call: CallTool = field(kw_only=True, repr=False)
    _loop: asyncio.AbstractEventLoop = field(kw_only=True, repr=False)

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool; its answer, or its error (`is_error`).

        Raises:
            RuntimeError: the run is over, and this thread was left behind by it.
        """
        if self._loop.is_closed():
            raise RuntimeError("the run that this call belongs to is over")
        return asyncio.run_coroutine_threadsafe(self._call(tool, arguments), self._loop).result()


async def open(adapter: Python, seat: Seat, shared: Connections) -> Conversation:
    """Load the function (once per run) and seat it.

    Raises:
        ArmError: there is no such function, or its module cannot be imported.
    """
    shared.divert_prints()
    async with shared.loading:
        function = shared.functions.get(adapter.function)
        if function is None:
            with listening(Printed()):
                function = await in_thread(lambda: _load(adapter.function, seat.root), _THREAD)
            shared.functions[adapter.function] = function
    if isinstance(function, ArmError):
        raise ArmError(function.cause, function.message)
    _refuse_odd_settings(adapter.function, function, seat.settings)
    printed = Printed()
    if adapter.build is not None:
        with listening(printed):
            function = await _built(adapter.build, function, _copied(seat.settings))
    return Conversation(adapter, function, seat, printed)


class Conversation:
    """One trial's conversation with a function."""

    def __init__(
        self, adapter: Python, function: Callable[..., Any], seat: Seat, printed: Printed
    ) -> None:
        self.meanwhile = ""
        self._adapter = adapter
        self._function = function
        self._printed = printed
        given: dict[str, Any] = {
            "seed": seat.seed,
            "now": seat.now,
            "settings": _copied(seat.settings),
            "url": seat.url,
            "urls": dict(seat.urls),
            "token": seat.token,
            "config": _copied(seat.config),
            "_call": seat.call,
        }
        self._asynchronous = _is_async(function)
        self._seat: AsyncSeat | SyncSeat = (
            AsyncSeat(**given)
            if self._asynchronous
            else SyncSeat(**given, _loop=asyncio.get_running_loop())
        )

    @property
    def notes(self) -> list[str]:
        """What the function printed."""
        text = self._printed.text
        return [f"printed by the agent:\n{text}"] if text else []

    async def reply(self, turn: int, text: str) -> Reply:
        """Call the function with the person's message."""
        target = self._adapter.function
        with listening(self._printed):
            try:
                if self._asynchronous:
                    value = await self._function(text, self._seat)
                else:
                    value = await in_thread(lambda: self._function(text, self._seat), _THREAD)
            except (Exception, SystemExit) as error:
                raise _raised(target, error) from error
        if isinstance(value, str):
            value = {"text": value}
        reply = reply_of(value, who=f"the agent {target}")
        self._seat.history += (
            {"role": "user", "text": text},
            {"role": "assistant", "text": reply.text},
        )
        return reply


def _load(target: str, root: Path) -> Callable[..., Any] | ArmError:
    try:
        return load(target, root)
    except FunctionError as error:
        return ArmError("agent_unreachable", f"the agent {error.message}")


def _refuse_odd_settings(
    target: str, function: Callable[..., Any], settings: Mapping[str, Any]
) -> None:
    schema = getattr(function, "settings_schema", None)
    if schema is None:
        return
    why = schema_problem(schema) if isinstance(schema, dict | bool) else "is no JSON Schema"
    if why is not None:
        raise ArmError("agent_unreachable", f"`settings_schema` of {target} {why}")
    misfits = validator(schema).misfits(
        _copied(settings), lambda path: f"settings.{path}" if path else "settings"
    )
    if misfits:
        raise ArmError(
            "agent_unreachable", f"{target} does not take these settings: {'; '.join(misfits)}"
        )


async def _built(
    target: str, build: Callable[..., Any], settings: dict[str, Any]
) -> Callable[..., Any]:
    """The agent that a builder makes of the settings."""
    try:
        if _is_async(build):
            agent = await build(settings)
        else:
            agent = await in_thread(lambda: build(settings), _THREAD)
    except (Exception, SystemExit) as error:
        raise _raised(target, error) from error
    if not callable(agent):
        raise ArmError(
            "agent_unreachable",
            f"{target} gave {type(agent).__name__}; an agent is called with a text and a seat",
        )
    return agent  # type: ignore[no-any-return]


def _raised(target: str, error: BaseException) -> ArmError:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]  # a task group of the agent's wraps what went wrong in it
    return ArmError("agent_unreachable", f"the agent {target} raised {told(error)}")


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    )


def _copied(value: Any) -> Any:
    """A JSON value that shares nothing with the original: an agent may write into it."""
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    return value
