"""A role's conditions over what an action works on."""

from __future__ import annotations

from dataclasses import replace

from seatrial.documents.conditions import Condition
from seatrial.state.operators import explain, judged, told
from seatrial.state.schemas import Unjudged
from seatrial.state.scope import Scope
from seatrial.state.sight import BeyondSight, Sight, View
from seatrial.state.values import MISSING, Missing, same
from seatrial.trace import Json


def hold_to_role(action: str, scope: Scope, sight: Sight) -> None:
    """Refuse a call of which something does not fulfil what the role's `where` asks.

    The conditions are the world's own: they hold for what there is, also where the role may not see
    it. What it may not see is not told.

    Raises:
        BeyondSight: the call is beyond the role's rights.
    """
    conditions = scope.world.roles[sight.role].where.get(action) if sight.role else None
    if not conditions:
        return
    whole = scope
    if isinstance(scope.state, View):
        whole = replace(scope, state=scope.state.whole, single=dict(scope.single), attempts=[])
    misses = [
        _explained(path, condition, value, scope)
        for path, condition in conditions.items()
        for value in [whole.resolve(path)]
        if not _fulfilled(condition, value)
    ]
    if misses:
        rule = f"roles.{sight.role}.where.{action}"
        raise BeyondSight(
            f"role {sight.role!r} may not call {action} here: {'; '.join(misses)} ({rule})"
        )


def _fulfilled(condition: Condition, value: Json | Missing) -> bool:
    try:
        return judged(condition, value)
    except Unjudged:  # what cannot be told gives no right
        return False


def _explained(path: str, condition: Condition, value: Json | Missing, scope: Scope) -> str:
    try:
        seen = replace(scope, single=dict(scope.single), attempts=[]).resolve(path)
    except BeyondSight:
        seen = MISSING
    if same(seen, value) if value is not MISSING else seen is MISSING:
        return explain(condition, value, path)
    return f"expected {path} {told(condition)}"
