"""`defaults.yaml`: what holds in a folder where a document says nothing."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, StrictInt

from seatrial.documents.arm import Arm
from seatrial.documents.base import Part
from seatrial.documents.case import Case
from seatrial.documents.language import CURRENT
from seatrial.documents.persona import Persona
from seatrial.documents.server import Server
from seatrial.documents.suite import Suite
from seatrial.documents.world import WORLDS

ALLOWED: dict[str, tuple[str, ...]] = {
    "case": (
        "group", "required", "negative", "agent", "world", "role", "purpose", "see_refused", "answers", "servers",
        "version", "environment", "limits", "trials", "owner", "tags", "priority", "requirements", "provenance",
        "reviewed",
    ),
    "suite": ("trials", "budget", "gate", "select", "arms"),
    "arm": (
        "agent", "adapter", "model", "prices", "sources", "skills", "servers", "tools", "settings", "settings_schema",
        "limits",
    ),
    "world": ("now", "roles"),
    "server": ("targets", "client", "pass_env", "roles", "denied_when", "start_seconds", "seconds"),
    "persona": ("manner", "hides", "min_turns", "max_turns", "model"),
}  # fmt: skip
"""What the defaults are for → the keys that may have one. Not among them is what makes a document the one it is:
its id, its title, what it asks and what it is graded by."""


MODELS: dict[str, tuple[type[Part], ...]] = {
    "case": (Case,),
    "suite": (Suite,),
    "arm": (Arm,),
    "world": tuple(WORLDS.values()),
    "server": (Server,),
    "persona": (Persona,),
}
"""What the defaults are for → the models of those documents."""


class Defaults(Part):
    """Keys of the documents in a folder, and in those below it, that do not say them themselves.

    The nearest `defaults.yaml` wins, key by key as with `extends`.
    """

    kind: Literal["defaults"]
    schema_version: StrictInt | None = Field(default=None, ge=1, le=CURRENT)
    """The version of the language that the file is written in; the first, when left out."""
    case: dict[str, Any] = Field(default_factory=dict)
    """For cases."""
    suite: dict[str, Any] = Field(default_factory=dict)
    """For suites."""
    arm: dict[str, Any] = Field(default_factory=dict)
    """For arms."""
    world: dict[str, Any] = Field(default_factory=dict)
    """For fixtures of type `world`."""
    server: dict[str, Any] = Field(default_factory=dict)
    """For fixtures of type `server`."""
    persona: dict[str, Any] = Field(default_factory=dict)
    """For fixtures of type `persona`."""
