"""The agent is a service: one POST per turn, one JSON object back."""

from __future__ import annotations

from re import Match
from typing import Any

import httpx

from seatrial.arms.connections import Connections
from seatrial.arms.replies import EXAMPLE, excerpt, parse_json, reply_of
from seatrial.arms.seat import Reply, Seat
from seatrial.documents import Http
from seatrial.documents.arm import VARIABLE
from seatrial.errors import ArmError

MOST_BYTES = 8_000_000
"""The largest body that is read."""


class Conversation:
    """One trial's conversation with a service that runs already."""

    def __init__(self, adapter: Http, seat: Seat, shared: Connections) -> None:
        self.notes: list[str] = []
        self.meanwhile = ""
        self._adapter = adapter
        self._seat = seat
        self._shared = shared
        self._history: list[dict[str, str]] = []
        self._headers = {name: filled(value, seat) for name, value in adapter.headers.items()}

    async def reply(self, turn: int, text: str) -> Reply:
        """Post the turn and read the answer."""
        seat = self._seat
        status, body = await self._post(
            {
                "turn": turn,
                "text": text,
                "history": self._history,
                "conversation": seat.trial,
                "now": seat.now,
                "seed": seat.seed,
                "settings": seat.settings,
                "mcp": seat.config,
            }
        )
        who = f"the agent at {self._adapter.url}"
        if not 200 <= status < 300:
            raise ArmError(
                "agent_unreachable", f"{who} answered with status {status}: {_shown(body)}"
            )
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

    async def _post(self, body: dict[str, Any]) -> tuple[int, bytes]:
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
                return response.status_code, bytes(received)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            why = str(error) or type(error).__name__
            raise ArmError(
                "agent_unreachable",
                f"no answer from the agent at {url} ({why}); is the service running?",
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


def _shown(body: bytes) -> str:
    return excerpt(body) or "an empty body"
