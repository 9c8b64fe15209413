"""Which actions a role may call at all."""

from __future__ import annotations

from seatrial.documents.world import Grants


def allows(role: Grants, action: str, purpose: str | None = None) -> bool:
    """Whether the role may call the action when it acts under a purpose, or under none."""
    further = role.allow_for.get(purpose, ()) if purpose is not None else ()
    return any(covers(entry, action) for entry in (*role.allow, *further))


def may_ever(role: Grants, action: str) -> bool:
    """Whether the role may call the action, under whichever purpose."""
    return allows(role, action) or any(allows(role, action, each) for each in role.allow_for)


def listed(
    role: Grants, action: str, see_refused: bool | None = None, purpose: str | None = None
) -> bool:
    """Whether an action is listed for a role: what it may not call is, unless the role or the case says otherwise."""
    shown = role.see_refused if see_refused is None else see_refused
    return shown or allows(role, action, purpose)


def beyond(name: str, role: Grants, action: str, purpose: str | None) -> str | None:
    """Why a role may not call an action at all, naming the rule; None when it may."""
    if allows(role, action, purpose):
        return None
    under = "under no purpose" if purpose is None else f"under the purpose {purpose!r}"
    grounds = [each for each in role.allow_for if allows(role, action, each)]
    if grounds:
        rules = " or ".join(f"roles.{name}.allow_for.{each}" for each in grounds)
        return f"role {name!r} may not call {action} {under}: it is in {rules} only"
    return f"role {name!r} may not call {action}: it is not in roles.{name}.allow"


def covers(entry: str, action: str) -> bool:
    """Whether one entry of `allow` names the action: itself, or the start of it before a `*`."""
    return action.startswith(entry[:-1]) if entry.endswith("*") else action == entry
