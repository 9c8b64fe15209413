"""What the gate says, as data."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seatrial.verdicts import Gate

Effect = Literal["closed", "undecided", "warning", "note"]

Profile = Literal["pr", "release"]
"""pr: not shown worse. release: shown not worse."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Ground(_Record):
    """One reason for a ruling."""

    kind: str
    """For example `forbidden_action`, `required_regressed`, `suite_worse`, `nothing_ran`; the whole list is
    in docs/concepts/verdicts.md."""
    effect: Effect
    """What it does to the ruling."""
    text: str
    """One sentence with the numbers in it."""
    cases: tuple[str, ...] = ()
    numbers: dict[str, float] = Field(default_factory=dict)


class Ruling(_Record):
    """What the gate says, and why."""

    format: Literal[1] = 1
    ruling: Gate
    profile: Profile = "pr"
    headline: str
    """At most 140 characters: what matters first."""
    grounds: tuple[Ground, ...] = ()
    """Those that close first, then those that leave it undecided, warnings, notes."""
