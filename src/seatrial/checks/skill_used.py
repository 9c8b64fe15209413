"""`skill_used`: the call by which the arm says that a skill is read was made."""

from __future__ import annotations

from seatrial.checks import steps
from seatrial.checks.scope import Found, Scope, failed, passed, skipped, where
from seatrial.documents.checks import SkillUsed


def find(check: SkillUsed, scope: Scope) -> Found:
    """Whether such a call worked; skipped when the arm does not say what reading the skill looks like."""
    marker = scope.background.skills.get(check.skill)
    if marker is None:
        return skipped(f"arm {scope.trace.arm} declares no skill {check.skill!r}")
    for call in steps.fruitful(scope.calls):
        if steps.fulfils(marker, call):
            return passed(f"skill {check.skill} was read by {call.tool} ({where(call)})", call)
    instead, last = steps.instead(marker, scope.calls)
    return failed(f"skill {check.skill} was not used: {steps.told(marker)} {instead}", last)
