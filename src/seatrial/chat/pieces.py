"""A completion put together from the pieces of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
_MOST_CALLS = 129
"""One more than is taken, so that too many are noticed."""


class Pieces:
    """What has come so far of one completion."""

    def __init__(self) -> None:
        self.finished = False
        """The endpoint has said why the model stopped."""
        self._head: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._calls: list[_Call] = []
        self._finish: Any = None

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take one piece in. What belongs nowhere is not looked at: endpoints add keys of their own."""
        for key in ("model", "system_fingerprint", "usage"):
            if chunk.get(key):
                self._head[key] = chunk[key]
        choices = chunk.get("choices")
        # Azure begins with a piece without any, and the last one of others has none but the usage.
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return
        delta = choice.get("delta")
        if isinstance(delta, Mapping):
            for key in _TEXTS:
                if isinstance(piece := delta.get(key), str):
                    self._texts.setdefault(key, []).append(piece)
            calls = delta.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                if isinstance(call, Mapping):
                    self._add_call(call)
        if choice.get("finish_reason"):
            self._finish = choice["finish_reason"]
            self.finished = True

    def whole(self) -> dict[str, Any]:
        """The completion as an endpoint sends it that does not stream."""
        message: dict[str, Any] = {key: "".join(parts) for key, parts in self._texts.items()}
        if self._calls:
            message["tool_calls"] = [
                {"function": {"name": call.name, "arguments": "".join(call.arguments)}}
                for call in self._calls
            ]
        return {**self._head, "choices": [{"message": message, "finish_reason": self._finish}]}

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        name, arguments = function.get("name"), function.get("arguments")
        call = self._continued(piece, name)
        if call is None:
            if len(self._calls) == _MOST_CALLS:
                return
            call = _Call(piece.get("index"), piece.get("id"))
            self._calls.append(call)
        if isinstance(name, str) and not call.name:
            call.name = name
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        elif isinstance(arguments, Mapping):
            call.as_object(arguments)

    def _continued(self, piece: Mapping[str, Any], name: Any) -> _Call | None:
        """The call that a piece goes on with; None when it begins one.

        Calls are told apart by their index. Some endpoints leave it out or give all calls the same: there a
        piece with a name begins a call, unless it repeats the id of the one that is going on.
        """
        index = piece.get("index")
        found = next((call for call in reversed(self._calls) if call.index == index), None)
        if found is None or not name:
            return found
        id = piece.get("id")
        repeats = id == found.id if index is None else id in (None, "", found.id)
        return found if repeats and not (index is None and not id) else None


class _Call:
    """One call, as far as it has come."""

    __slots__ = ("arguments", "id", "index", "name")

    def __init__(self, index: Any, id: Any) -> None:
        self.index = index
        self.id = id
        self.name = ""
        self.arguments: list[str] = []

    def as_object(self, arguments: Mapping[str, Any]) -> None:
        """Take arguments that came as an object, at once."""
        self.arguments = [json.dumps(dict(arguments))]
