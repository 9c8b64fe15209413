"""Arms: one file per way to talk to an agent.

    async with arms.connections() as shared:
        async with arms.open(arm, seat, shared) as conversation:
            reply = await conversation.reply(1, "I would like my money back.")

A recorded arm is not opened: `recordings(arm, root)` holds the traces of its trials.

An agent that cannot be started, dies, hangs or writes what cannot be read is an `ArmError`. Leaving
the inner block ends the agent for certain.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import assert_never

from seatrial.arms import command, http, mcp, openai, per_turn, python
from seatrial.arms.connections import Connections, connections
from seatrial.arms.recorded import Recordings
from seatrial.arms.recorded import read as recordings
from seatrial.arms.seat import Conversation, Reply, Seat
from seatrial.documents import A2a, Arm, Command, Http, Mcp, OpenAI, Python, Recorded

__all__ = [
    "Connections",
    "Conversation",
    "Recordings",
    "Reply",
    "Seat",
    "connections",
    "lacking",
    "open",
    "recordings",
    "variables",
]


@asynccontextmanager
async def open(arm: Arm, seat: Seat, shared: Connections) -> AsyncIterator[Conversation]:
    """One agent for one trial, from its start to its end.

    Raises:
        ArmError: it cannot be started; later, from `reply`: it cannot be carried on.
    """
    match arm.adapter:
        case A2a() as adapter:
            from seatrial.arms import a2a  # noqa: PLC0415 - needs what only some installations have

            async with a2a.open(adapter, seat, shared, arm.limits) as talk:
                yield talk
        case Command() as adapter:
            opening = command.open if adapter.per_turn is None else per_turn.open
            async with opening(adapter, seat) as conversation:
                yield conversation
        case Http() as adapter:
            yield http.Conversation(adapter, seat, shared, arm.limits)
        case Mcp() as adapter:
            async with mcp.open(adapter, seat, shared, arm.limits) as session:
                yield session
        case OpenAI() as adapter:
            yield await openai.open(arm, adapter, seat, shared)
        case Python() as adapter:
            yield await python.open(adapter, seat, shared)
        case Recorded():
            raise NotImplementedError("a recorded arm is graded, never executed")
        case _:
            assert_never(arm.adapter)


def lacking(arm: Arm) -> str:
    """What has to be installed for this kind of arm, as pip takes it; empty where everything is there."""
    if isinstance(arm.adapter, A2a) and find_spec("a2a") is None:
        return "seatrial[a2a]"
    return ""


def variables(arm: Arm) -> tuple[str, ...]:
    """The environment variables that the arm hands on; their values are secrets."""
    adapter = arm.adapter
    if isinstance(adapter, OpenAI):
        return (*adapter.pass_env, *(() if adapter.key is None else (adapter.key,)))
    return adapter.pass_env if isinstance(adapter, A2a | Command | Http | Mcp) else ()
