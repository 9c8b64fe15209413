"""What the gate says, as data."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seatrial.records import PolicyChange
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


class RuledChange(_Record):
    """A policy change, and who lets it pass."""

    change: PolicyChange
    approved_by: str = ""
    """Empty where nobody has approved it."""
    approved_at: str = ""
    reason: str = ""
    """What the approver said."""
    refused: tuple[str, ...] = ()
    """Why approvals that there are do not count."""

    def told(self) -> str:
        """The change, both values, where they stand, and whether it may pass, on one line."""
        change = self.change
        parts = [f"{change.old or 'nothing'} → {change.new or 'nothing'}"]
        places = [place for place in (change.old_place, change.new_place) if place]
        parts += [" → ".join(places)] if places else []
        if self.approved_by:
            said = f"approved by {self.approved_by}" + (f": {self.reason}" if self.reason else "")
        else:
            said = "; ".join(("not approved", *self.refused))
        return f"{change.text} ({'; '.join(parts)}): {said}"


class Ruling(_Record):
    """What the gate says, and why."""

    format: Literal[1] = 1
    ruling: Gate
    profile: Profile = "pr"
    headline: str
    """At most 140 characters: what matters first."""
    policy_changes: tuple[RuledChange, ...] = ()
    """In what the change would be judged less strictly than its base says."""
    grounds: tuple[Ground, ...] = ()
    """Those that close first, then those that leave it undecided, warnings, notes."""
