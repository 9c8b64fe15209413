"""`skill_not_used`: the call by which the arm says that a skill is read was not made."""

from __future__ import annotations

from seatrial.checks import steps
from seatrial.checks.scope import Found, Scope, counted, failed, passed, skipped, where
from seatrial.documents.checks import SkillNotUsed


def find(check: SkillNotUsed, scope: Scope) -> Found:
    """Whether no such call worked; skipped when the arm does not say what reading the skill looks like."""
    marker = scope.background.skills.get(check.skill)
    if marker is None:
        return skipped(f"arm {scope.trace.arm} declares no skill {check.skill!r}")
    for call in steps.fruitful(scope.calls):
        if steps.fulfils(marker, call):
            return failed(f"skill {check.skill} was read by {call.tool} ({where(call)})", call)
    return passed(f"{counted(len(scope.calls), 'call')}, none reads skill {check.skill}")
