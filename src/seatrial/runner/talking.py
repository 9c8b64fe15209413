"""A conversation, turn by turn: what is said to the agent, and what it replies within its time and its calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from seatrial import arms
from seatrial.costs import Budget, spent
from seatrial.documents import Arm, Case
from seatrial.errors import ArmError
from seatrial.gateway import Channel
from seatrial.personas import Company, Line
from seatrial.runner.course import Course
from seatrial.trace import Noted, Replied, Said

Exchange = Callable[[Said], Awaitable[arms.Reply | None]]
"""One turn: what is said, and the reply to it; None when the trial ended at one of its limits."""


async def talk_with(people: Company, case: Case, course: Course, one_turn: Exchange) -> None:
    """A conversation with simulated people, until they end it or the agent makes one call too many."""
    turn = 0
    while True:
        with course.waiting():  # how long a person thinks is no matter of the agent's time
            found = await people.next()
        if not isinstance(found, Line):
            break
        turn += 1
        text = case.told(found.text, turn, found.name)
        reply = await one_turn(
            Said(
                turn=turn,
                text=text,
                by=found.by,
                usage=found.usage,
                served_model=found.served_model,
            )
        )
        if reply is None:
            return
        people.hear(reply.text)
    course.ended_as = found
    who = f"{found.by} " if found.by else ""
    intent = f" ({found.intent})" if found.intent else ""
    words = f"; last words: {found.last_words}" if found.last_words else ""
    note = f"{who}ended the conversation: {found.how}{intent}{words}"
    course.own.append(Noted(turn=turn, text=note, at_ms=course.clock()))


async def exchange(
    case: Case,
    arm: Arm,
    course: Course,
    channel: Channel,
    conversation: arms.Conversation,
    said: Said,
    *,
    seconds: float | None = None,
) -> arms.Reply | None:
    """One turn: what is said, and the reply to it; None when the trial ended at one of its limits."""
    turn = channel.turn = said.turn
    seconds = seconds or case.limits.turn_seconds or arm.limits.turn_seconds
    course.own.append(said.model_copy(update={"at_ms": course.clock()}))
    with anyio.move_on_after(seconds) as scope:
        course.running[1:] = [scope]
        reply = await _reply(
            conversation, channel, turn, said.text, limited=bool(case.limits.calls)
        )
    if scope.cancelled_caught:
        raise ArmError(
            "time",
            f"no reply within {seconds:g} s (turn {turn})",
            detail=conversation.meanwhile,
        )
    course.running[1:] = []
    if reply is not None and reply.step_limit:
        course.ended = "step_limit"
        return None
    if reply is not None:
        course.own.append(
            Replied(
                turn=turn,
                text=reply.text,
                usage=reply.usage,
                served_model=reply.served_model,
                at_ms=course.clock(),
            )
        )
    most = case.limits.tokens
    if most is not None and (course.trace.tokens or 0) > most:
        course.ended = "token_limit"
        return None
    if case.limits.cost is not None:
        budget = Budget.read(case.limits.cost)
        if (spent(course.trace.usages, arm.prices, budget.unit) or 0.0) > budget.limit:
            course.ended = "cost_limit"
            return None
    return None if channel.limit_hit else reply


async def _reply(
    conversation: arms.Conversation, channel: Channel, turn: int, text: str, *, limited: bool
) -> arms.Reply | None:
    """The reply; None when the agent made one call too many before it."""
    if not limited:
        return await conversation.reply(turn, text)
    reply = failure = None

    async def wait_for_limit(scope: anyio.CancelScope) -> None:
        await channel.until_limit()
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait_for_limit, tasks.cancel_scope)
        try:
            reply = await conversation.reply(turn, text)
        except Exception as error:  # raised again outside of the group, which would wrap it
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return reply
