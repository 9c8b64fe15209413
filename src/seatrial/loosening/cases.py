"""What a case asks beside its checks: whether it counts, how often it runs, what the agent may do in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seatrial.costs import Budget
from seatrial.documents import Case
from seatrial.documents.patterns import matches
from seatrial.loosening import checks
from seatrial.loosening.sides import Sides, shown
from seatrial.records import Loosening, PolicyChange

NEUTRAL = frozenset({
    "kind", "id", "title", "tags", "owner", "priority", "requirements", "provenance", "reviewed", "solution",
    "schema_version", "extends", "abstract", "matrix",  # of what they come to, every key is looked at
})  # fmt: skip
"""Keys of a case that nothing is judged by, but that selectors may read: what they then choose is looked at."""
SITUATION = frozenset({"task", "answers", "servers", "speakers", "turns", "golden", "expansion"})
"""What the agent meets: a case in which it changed is incomparable. The checks within are looked at."""
_CONSERVATIVE = {
    "agent": "it is for another agent",
    "group": "it belongs to another group",
    "negative": "whether the right answer is a refusal",
    "world": "it starts from another world",
    "role": "the agent acts under another role",
    "purpose": "the agent acts for another purpose",
    "see_refused": "whether tools beyond the rights are listed",
    "version": "another version of the agent answers it",
    "environment": "it runs in another environment",
    "persona": "other people talk to the agent",
    "attack": "the attack is another one",
}
LOOKED_AT = frozenset(
    {
        "quarantine",
        "required",
        "weak",
        "on_failed_turn",
        "limits",
        "trials",
        "checks",
        *_CONSERVATIVE,
    }
)


def of(sides: Sides, old: Case, new: Case, often: tuple[int, int]) -> Iterator[PolicyChange]:
    """In what the case of the change asks less, or may ask less.

    Args:
        sides: the documents.
        old: the case at the base.
        new: the case of the change.
        often: trials where a case does not say, at the base and in the change.
    """
    id = old.written_as
    if old.required and not new.required:
        text = f"the case {id} is no longer required"
        yield _told(sides, old, "required_flag_removed", text, "required", True, False)
    if new.quarantine is not None:
        was = old.quarantine.until.isoformat() if old.quarantine is not None else None
        now = new.quarantine.until.isoformat()
        if was is None or was < now:
            text = f"the case {id} is in quarantine until {now}"
            yield _told(sides, old, "quarantine_added", text, "quarantine", was, now)
    if new.weak is not None and old.weak is None:
        text = f"the case {id} may stay though an agent that does nothing passes it"
        yield _told(sides, old, "weakness_accepted", text, "weak", None, new.weak)
    if (old.trials, new.trials) != (None, None):
        before, after = old.trials or often[0], new.trials or often[1]
        if after < before:
            text = f"the case {id} is tried {after} times instead of {before}"
            yield _told(sides, old, "trials_lowered", text, "trials", before, after)
    if (old.on_failed_turn, new.on_failed_turn) == ("go_on", "stop"):
        text = f"the case {id} ends at the first turn that fails, and later turns are not graded"
        yield _told(sides, old, "later_turns_not_graded", text, "on_failed_turn", "go_on", "stop")
    yield from _limits(sides, old, new)
    for key, what in _CONSERVATIVE.items():
        was, now = getattr(old, key), getattr(new, key)
        if was == now or (key == "attack" and was is None) or (key == "persona" and not was):
            continue
        kind = {"persona": "persona_changed", "attack": "attack_changed"}.get(key, "case_changed")
        yield _told(sides, old, kind, f"the case {id}: {what}", key, was, now, "changed")
    for found in checks.between(old, new):
        yield sides.told(
            found.kind, ("case", old.id), f"the case {id}: {found.text}",
            path=found.path, new_path=found.new_path, old=found.old, new=found.new,
            effect=found.effect, case=id,
        )  # fmt: skip
    yield from _code(sides, old, new)


def _limits(sides: Sides, old: Case, new: Case) -> Iterator[PolicyChange]:
    for key in type(old.limits).model_fields:
        was, now = getattr(old.limits, key), getattr(new.limits, key)
        if was is None or (now is not None and _is_within(now, was)):
            continue
        said = "no limit" if now is None else f"a limit of {now}"
        text = f"the case {old.written_as} has {said} of {key.replace('_', ' ')} instead of {was}"
        yield _told(sides, old, "limit_raised", text, f"limits.{key}", was, now)


def _is_within(now: Any, was: Any) -> bool:
    """Whether a limit asks no less than another; amounts in two currencies cannot be compared."""
    if not isinstance(now, str):
        return bool(now <= was)
    amount, before = Budget.read(now), Budget.read(was)
    return amount.unit == before.unit and amount.limit <= before.limit


def _code(sides: Sides, old: Case, new: Case) -> Iterator[PolicyChange]:
    """Functions of the repository that grade: nobody can tell whether other code asks less."""
    patterns = {*old.check_files(), *new.check_files()}
    files = sorted(f for f in sides.changed_files if any(matches(p, f) for p in patterns))
    if files and old.check_files():
        path = next(iter(old.functions()))
        text = f"the case {old.written_as} is graded by code that changed: {', '.join(files)}"
        yield sides.told(
            "check_code_changed", ("case", old.id), text, path=path, old=files, new=files,
            effect="changed", case=old.written_as,
        )  # fmt: skip


def _told(
    sides: Sides,
    case: Case,
    kind: str,
    text: str,
    path: str,
    old: Any,
    new: Any,
    effect: Loosening = "loosened",
) -> PolicyChange:
    if effect == "changed":
        text += f" ({_some(old)} → {_some(new)})"
    return sides.told(
        kind, ("case", case.id), text, path=path, old=old, new=new, effect=effect, case=case.written_as
    )  # fmt: skip


def _some(value: Any) -> str:
    return shown(value) if isinstance(value, str | bool | int | float) else "…" if value else "none"
