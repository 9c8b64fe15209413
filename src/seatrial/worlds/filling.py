"""Placeholders in what a tool sends: its arguments, and what is the trial's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from seatrial.documents import placeholders
from seatrial.documents.world import World
from seatrial.state import MISSING, Missing, look_up
from seatrial.state.values import as_text
from seatrial.trace import Json
from seatrial.worlds.told import Told


class Filling:
    """What placeholders stand for in one call; what is put in is never looked at again."""

    def __init__(
        self, world: World, run_token: str, args: Mapping[str, Json] | None = None
    ) -> None:
        self._world = world
        self._names = {"args": dict(args or {}), "run": run_token}

    def value(self, template: Any) -> Json | Missing:
        """A value with its placeholders replaced; an argument that was not given leaves out what it is in."""
        if isinstance(template, str):
            name = placeholders.whole(template)
            return self._resolve(name) if name is not None else self.text(template)
        if isinstance(template, dict):
            filled = ((self.text(key), self.value(item)) for key, item in template.items())
            return {key: item for key, item in filled if item is not MISSING}
        if isinstance(template, list | tuple):
            return [item for item in map(self.value, template) if item is not MISSING]
        return template

    def text(self, template: str) -> str:
        """A text with its placeholders written out."""
        return self._written(template, lambda value: value)

    def path(self, template: str) -> str:
        """The path of a URL, with what is put into it encoded, so that it stays within its step.

        Raises:
            Told: an argument would lead elsewhere, or was not given.
        """
        filled = self._written(template, lambda value: quote(value, safe=""))
        for before, after in zip(template.split("/"), filled.split("/"), strict=True):
            if before != after and after in ("", ".", ".."):
                raise Told("an argument that names something is empty, or only dots")
        return filled

    def _written(self, template: str, encoded: Callable[[str], str]) -> str:
        return str(placeholders.fill(template, lambda name: encoded(as_text(self._resolve(name)))))

    def _resolve(self, name: str) -> Json | Missing:
        moment = self._world.clock(name)
        return look_up(self._names, name) if moment is None else moment
