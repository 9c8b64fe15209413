"""Objects of a trial's own world at its end, as `object_exists` and `object_absent` look for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.checks import expectations
from seatrial.checks.scope import Scope
from seatrial.documents import Case, Check
from seatrial.documents.checks import ObjectAbsent, ObjectExists
from seatrial.state import (
    State,
    Unjudged,
    apply,
    fulfils,
    judged,
    look_up,
    state_from_json,
    thaw,
)
from seatrial.trace import Beginning, Change

Asked = ObjectExists | ObjectAbsent


@dataclass(frozen=True, slots=True)
class Search:
    """What was found of the objects that a check asks for."""

    fitting: Sequence[str]
    """Keys of the objects that are as asked."""
    nearest: tuple[str, tuple[expectations.Miss, ...]] | None = None
    """Of the others of the type the one that lacks least: its key, and what it lacks."""
    others: int = 0
    """How many others of the type there are."""
    unknown: str = ""
    """Why objects that were there before the trial could not be looked at; empty when they could."""


def search(check: Asked, scope: Scope) -> Search:
    """Look through the end state: of all objects, or of those that the trial created."""
    changes = scope.trace.changes
    if changes is None:
        return Search((), unknown="the end state was not captured")
    unknown = ""
    end: State | None = None
    types = types_asked(check)
    if types:
        start = scope.background.start(types)
        if start is None:
            unknown = "the state in which the world started is not known"
        else:
            try:
                end = apply([change for change in changes if change.type in types], start)
            except ValueError as error:
                unknown = (
                    f"the recorded changes do not fit the world as it is now written ({error})"
                )
    if check.linked and end is None:
        return Search((), unknown=unknown)
    created = {c.key: c for c in changes if c.what == "created" and c.type == check.type}
    fitting: list[str] = []
    others: list[tuple[str, tuple[expectations.Miss, ...]]] = []
    for key, properties in _objects(check, end, created):
        missed = _missed(check, key, properties, end)
        if missed:
            others.append((key, missed))
        else:
            fitting.append(key)
    nearest = min(others, key=lambda other: len(other[1]), default=None)
    return Search(fitting, nearest, len(others), unknown)


def types_asked(check: Check) -> frozenset[str]:
    """The object and link types whose start a check must know; none where the changes tell all."""
    if not isinstance(check, ObjectExists | ObjectAbsent):
        return frozenset()
    if check.created_during_trial and not check.linked:
        return frozenset()
    return frozenset((check.type, *(tie.type for tie in check.linked)))


def types_of(case: Case) -> frozenset[str]:
    """The object and link types whose start the checks of a case must know."""
    return frozenset(type for _, _, check in case.placed_checks() for type in types_asked(check))


def beginning(types: Collection[str], state: State) -> Beginning:
    """What there is of these types in the state that a trial starts from."""
    return Beginning(
        types=tuple(sorted(types)),
        objects={
            type: objects
            for type in sorted(types)
            if (objects := {key: thaw(found) for key, found in state.objects(type)})
        },
        links=tuple(link for link in state.links() if link[0] in types),
    )


def start_of(known: Beginning, types: Collection[str]) -> State | None:
    """The same as a state; None where more types are asked for than were looked at."""
    if not set(types) <= set(known.types):
        return None
    return state_from_json(known.objects, known.links)


def asked(check: Asked) -> str:
    """`prompt with name equals "greeting", created by this trial`."""
    parts = []
    if check.key is not None:
        parts.append(expectations.told_all({"key": check.key}))
    if check.properties:
        parts.append(expectations.told_all(check.properties))
    parts += [
        f"link {tie.type} to {tie.target}"
        if tie.target is not None
        else f"link {tie.type} from {tie.source}"
        for tie in check.linked
    ]
    text = check.type + (f" with {', '.join(parts)}" if parts else "")
    return f"{text} that this trial created" if check.created_during_trial else text


def _objects(
    check: Asked, end: State | None, created: dict[str, Change]
) -> Iterator[tuple[str, Any]]:
    if end is not None and not check.created_during_trial:
        yield from end.objects(check.type)
    else:
        # What a trial created and then changed or deleted is not among its changes as such: they are
        # the difference of start and end.
        yield from ((key, change.new) for key, change in created.items())


def _missed(
    check: Asked, key: str, properties: Any, end: State | None
) -> tuple[expectations.Miss, ...]:
    missed: list[expectations.Miss] = []
    unjudged: Unjudged | None = None
    for path, condition in check.properties.items():
        found = look_up(properties, path)
        try:
            if not judged(condition, found):
                missed.append(expectations.Miss(path, found, condition))
        except Unjudged as error:
            unjudged = error
    if check.key is not None and not fulfils(check.key, key):
        missed.append(expectations.Miss("key", key, check.key))
    for tie in check.linked:
        assert end is not None
        ends = (key, tie.target) if tie.target is not None else (tie.source, key)
        if not end.linked((tie.type, ends[0] or "", ends[1] or "")):
            missed.append(expectations.no_link(tie.type))
    if unjudged is not None and not missed:
        raise unjudged
    return tuple(missed)
