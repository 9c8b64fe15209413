"""The agent is a service: one POST per turn, one JSON object back."""

from __future__ import annotations

from re import Match
from typing import Any

import httpx

from seatrial.arms.connections import Connections
from seatrial.arms.replies import EXAMPLE, excerpt, parse_json, reply_of
from seatrial.arms.seat import Reply, Seat
from seatrial.chat import PASSING, Unanswered
from seatrial.chat.pace import retry_after
from seatrial.documents import ArmLimits, Http
from seatrial.documents.arm import VARIABLE
from seatrial.errors import ArmError

MOST_BYTES = 8_000_000
"""The largest body that is read."""


class Conversation:
    """One trial's conversation with a service that runs already."""

    def __init__(
        self, adapter: Http, seat: Seat, shared: Connections, limits: ArmLimits | None = None
    ) -> None:
        self.notes: list[str] = []
        self.meanwhile = ""
        self._adapter = adapter
        self._seat = seat
        self._shared = shared
        self._pace = shared.pace(adapter.url, limits or ArmLimits())
        self._history: list[dict[str, str]] = []
        self._headers = {name: filled(value, seat) for name, value in adapter.headers.items()}

    async def reply(self, turn: int, text: str) -> Reply:
        """Post the turn and read the answer."""
        seat = self._seat
        said = {
            "turn": turn,
            "text": text,
            "history": self._history,
            "conversation": seat.trial,
            "now": seat.now,
            "seed": seat.seed,
            "settings": seat.settings,
            "mcp": seat.config,
        }
        who = f"the agent at {self._adapter.url}"
        try:
            # Never posted twice: the agent may have acted already. A trial begins again, in a fresh world.
            body = await self._pace.ask(
                lambda: self._post(said), retries=0, used=_tokens, waiting=seat.waiting
            )
        except Unanswered as error:
            raise ArmError("agent_unreachable", error.message, passing=error.passing) from error
        try:
            value = parse_json(body)
        except ValueError as error:
            raise ArmError(
                "agent_unreachable",
                f"{who} answered with what is no JSON ({EXAMPLE} belongs there): {_shown(body)}",
            ) from error
        reply = reply_of(value, who=who)
        self._history += (
            {"role": "user", "text": text},
            {"role": "assistant", "text": reply.text},
        )
        return reply

    async def _post(self, body: dict[str, Any]) -> bytes:
        url = self._adapter.url
        received = bytearray()
        try:
            async with self._shared.client.stream(
                "POST", url, json=body, headers=self._headers
            ) as response:
                async for chunk in response.aiter_bytes():
                    received += chunk
                    if len(received) > MOST_BYTES:
                        raise ArmError(
                            "agent_unreachable",
                            f"the agent at {url} answered with more than {MOST_BYTES:,} bytes",
                        )
                status = response.status_code
                if not 200 <= status < 300:
                    raise Unanswered(
                        f"the agent at {url} answered with status {status}: {_shown(bytes(received))}",
                        passing=status in PASSING,
                        busy=status == 429,
                        retry_after=retry_after(response.headers),
                    )
                return bytes(received)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            why = str(error) or type(error).__name__
            raise Unanswered(
                f"no answer from the agent at {url} ({why}); is the service running?",
                passing=isinstance(error, httpx.TransportError),
            ) from error


def filled(value: str, seat: Seat) -> str:
    """A text with the variables of the environment in it.

    Raises:
        ArmError: one is not set.
    """

    def variable(match: Match[str]) -> str:
        name = match.group(1)
        if name not in seat.environ:
            raise ArmError("agent_unreachable", f"the environment variable {name} is not set")
        return seat.environ[name]

    return VARIABLE.sub(variable, value)


def _tokens(body: bytes) -> int:
    """What a reply took, as far as it says so; whether it is one is looked at later."""
    try:
        usage = parse_json(body)["usage"]
        return int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
        return 0


def _shown(body: bytes) -> str:
    return excerpt(body) or "an empty body"
