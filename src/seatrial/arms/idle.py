"""The built-in arm that answers politely and does nothing."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.arms.seat import NO_TOKENS, Reply

REPLY = "Thank you for your message. I am happy to help you."
"""What it says in every turn: no word of the task, no claim, no question about it."""


class Conversation:
    """One trial's conversation."""

    notes: Sequence[str] = ()
    meanwhile = ""

    async def reply(self, turn: int, text: str) -> Reply:
        """The same, whatever was said."""
        return Reply(REPLY, usage=NO_TOKENS)
