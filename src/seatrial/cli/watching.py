"""Calls of a trial that goes on, told as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import click

from seatrial.cli.changes import shown
from seatrial.errors import printable
from seatrial.trace import Called

if TYPE_CHECKING:
    from seatrial.gateway import Channel

_LOOK_SECONDS = 0.2
"""Between two looks at what was called."""


class Watching:
    """Tells of each call once, and of each fault of the tools, on stderr."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._events = self._faults = 0

    async def tell_as_they_come(self) -> None:
        """Until we are cancelled."""
        while True:
            self.tell()
            await anyio.sleep(_LOOK_SECONDS)

    def tell(self) -> None:
        """What has come since the last time."""
        events, faults = self._channel.events, self._channel.faults
        for event in events[self._events :]:
            if isinstance(event, Called):
                click.echo(_told(event), err=True)
        for fault in faults[self._faults :]:
            click.echo(printable(f"The tools failed: {fault.message}"), err=True)
        self._events, self._faults = len(events), len(faults)


def _told(event: Called) -> str:
    came_to = "refused" if event.refused else "error" if event.answer.is_error else "ok"
    by = f" by {event.answered_by}" if event.answered_by == "mock" else ""
    changed = ", changed the world" if event.changed else ""
    arguments = shown(event.arguments)
    return printable(f"{event.number}. {event.tool} {arguments}: {came_to}{by}{changed}")
