"""What is sent to an agent that has a form of its own: the arm's JSON, with what the trial puts in.

A lookup of a fixed set of names. What is put in is never looked at again, whoever wrote it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from re import Match
from typing import Any, Final
from urllib.parse import quote

from seatrial.arms.seat import Seat
from seatrial.arms.shaped import Session
from seatrial.documents import placeholders
from seatrial.documents.adapters import VARIABLE
from seatrial.documents.requests import setting
from seatrial.errors import ArmError

_IN_HEADER = re.compile(r"\{\{(?P<name>[^{}]*)\}\}|\{(?P<variable>[A-Za-z_][A-Za-z0-9_]*)\}")
_UNFIT = re.compile(r"[^\x20-\x7e]")
_ABSENT: Final = object()


class Filling:
    """What the placeholders of an arm stand for in one trial."""

    def __init__(self, seat: Seat) -> None:
        self.session: Session | None = None
        """What the agent calls the conversation; None until it has said so."""
        self._seat = seat
        self._said: list[dict[str, str]] = []
        self._turn: dict[str, Any] = {}

    def say(self, turn: int, text: str) -> None:
        """A turn begins."""
        said = [{"role": m["role"], "content": m["text"]} for m in self._said]
        self._turn = {
            "turn": turn,
            "text": text,
            "history": list(self._said),
            "messages": [*said, {"role": "user", "content": text}],
        }

    def hear(self, text: str, session: Session | None) -> None:
        """It ends with this reply."""
        asked = {"role": "user", "text": self._turn["text"]}
        self._said += (asked, {"role": "assistant", "text": text})
        self.session = self.session if session is None else session

    @property
    def history(self) -> Sequence[Mapping[str, str]]:
        """What was said before this turn."""
        return self._said

    def body(self, template: Mapping[str, Any]) -> dict[str, Any]:
        """JSON to be sent.

        Raises:
            ArmError: it names what this trial does not have.
        """
        filled: dict[str, Any] = self._filled(template)
        return filled

    def address(self, template: str) -> str:
        """A URL; what is put into it cannot become more of it than one name.

        Raises:
            ArmError: as for `body`.
        """
        filled: str = placeholders.fill(template, lambda name: _one_name(self._value(name)))
        return filled

    def headers(self, templates: Mapping[str, str]) -> dict[str, str]:
        """The headers of a request, but for those that stand for nothing yet.

        Raises:
            ArmError: as for `body`, or a value cannot stand in a header.
        """
        return {
            name: self._header(name, value)
            for name, value in templates.items()
            if self.session is not None or placeholders.whole(value) != "session"
        }

    def _header(self, name: str, template: str) -> str:
        def put(match: Match[str]) -> str:
            if match["variable"] is not None:
                return self._variable(match["variable"])
            return _text(self._value(match["name"].strip()))

        value = _IN_HEADER.sub(put, template)
        if odd := _UNFIT.search(value):
            raise ArmError(
                "agent_unreachable",
                f"header `{name}` would hold {odd[0]!r}, which no header may; send it in the body",
            )
        return value

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            if placeholders.whole(value) is not None:
                return placeholders.fill(value, self._value)
            return placeholders.fill(value, lambda name: _present(self._value(name)))
        if isinstance(value, Mapping):
            filled = ((key, self._filled(item)) for key, item in value.items())
            return {key: item for key, item in filled if item is not _ABSENT}
        if isinstance(value, list | tuple):
            return [item for item in map(self._filled, value) if item is not _ABSENT]
        return value

    def _value(self, name: str) -> Any:
        seat = self._seat
        family, _, rest = name.partition(".")
        match family:
            case "session":
                return _ABSENT if self.session is None else self.session
            case "settings" if rest:
                found = setting(seat.settings, rest)
                return _ABSENT if found is None else found[0]
            case "env":
                return self._variable(rest)
            case "mcp" if rest.startswith("url."):
                return self._url(rest.removeprefix("url."))
            case _:
                return {**self._of_trial(), **self._turn}[name]

    def _of_trial(self) -> dict[str, Any]:
        seat = self._seat
        return {
            "run": seat.trial,
            "now": seat.now,
            "today": seat.now[:10],
            "seed": seat.seed,
            "settings": dict(seat.settings),
            "mcp": dict(seat.config),
            "mcp.url": seat.url,
            "mcp.token": seat.token,
        }

    def _url(self, server: str) -> str:
        urls = self._seat.urls
        if server not in urls:
            raise ArmError(
                "agent_unreachable",
                f"the arm asks for the address of server `{server}`, and in this trial there are: "
                + ", ".join(urls),
            )
        return urls[server]

    def _variable(self, name: str) -> str:
        return _variable(name, self._seat)


def filled(value: str, seat: Seat) -> str:
    """A text with the variables of the environment (`{NAME}`) in it.

    Raises:
        ArmError: one is not set.
    """
    return VARIABLE.sub(lambda match: _variable(match.group(1), seat), value)


def _variable(name: str, seat: Seat) -> str:
    if name not in seat.environ:
        raise ArmError("agent_unreachable", f"the environment variable {name} is not set")
    value = seat.environ[name]
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ArmError(
            "agent_unreachable", f"the environment variable {name} holds bytes that are no UTF-8"
        ) from error
    return value


def _one_name(value: Any) -> str:
    name = quote(_text(value), safe="")
    return name if name.strip(".") else name.replace(".", "%2E")


def _present(value: Any) -> Any:
    return "" if value is _ABSENT else value


def _text(value: Any) -> str:
    """A value within a text that is all ASCII as far as it is not text itself."""
    value = _present(value)
    return value if isinstance(value, str) else json.dumps(value)
