"""Comparison + policy → ruling, with its grounds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seatrial.verdicts import Gate


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Ground(_Record):
    """One reason for a ruling."""

    kind: str
    """For example `forbidden_action`, `required_regressed`, `suite_worse`, `nothing_ran`."""
    effect: Literal["closed", "undecided", "warning", "note"]
    """What it does to the ruling."""
    text: str
    """One sentence with the numbers in it."""
    cases: tuple[str, ...] = ()
    numbers: dict[str, float] = Field(default_factory=dict)


class Ruling(_Record):
    """What the gate says, and why."""

    format: Literal[1] = 1
    ruling: Gate
    profile: Literal["pr", "release"] = "pr"
    headline: str
    """At most 140 characters: what matters first."""
    grounds: tuple[Ground, ...] = ()
