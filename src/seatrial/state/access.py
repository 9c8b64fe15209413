"""Which actions a role may call at all."""

from __future__ import annotations

from seatrial.documents.world import Role


def allows(role: Role, action: str) -> bool:
    """Whether the role's `allow` names the action."""
    return any(covers(entry, action) for entry in role.allow)


def listed(role: Role, action: str, see_refused: bool | None = None) -> bool:
    """Whether an action is listed for a role: what it may not call is, unless the role or the case says otherwise."""
    shown = role.see_refused if see_refused is None else see_refused
    return shown or allows(role, action)


def covers(entry: str, action: str) -> bool:
    """Whether one entry of `allow` names the action: itself, or the start of it before a `*`."""
    return action.startswith(entry[:-1]) if entry.endswith("*") else action == entry
