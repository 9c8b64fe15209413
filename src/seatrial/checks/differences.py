"""What a world's changes and the expected ones leave over of each other.

Every expectation takes the changes that fulfil it; what is left over is unexpected unless it is
ignored or others are allowed. Ignoring therefore never touches an expectation, and ignoring more can
only turn a failure into a pass.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.checks import expectations
from seatrial.checks.assignment import assign
from seatrial.checks.binding import changed_at
from seatrial.checks.leaves import Leaf, Path, covers, leaves
from seatrial.checks.lenses import Lens, ignored
from seatrial.documents.checks import Changes, EndState, ExpectedLink, ExpectedObject
from seatrial.documents.conditions import Condition
from seatrial.state import MISSING, Unjudged, look_up, same
from seatrial.state.values import shown, walk
from seatrial.trace import Change


def in_order(changes: Sequence[Change]) -> list[Change]:
    """The changes, sorted: the order in which a world tells them must not decide which is named."""
    return sorted(changes, key=_place_in_order)


class Rules:
    """What a check says about differences that do not matter."""

    def __init__(self, check: EndState) -> None:
        self._check = check
        self._lenses: dict[str, Lens] = {}

    def lens(self, type: str) -> Lens:
        """How objects of a type are compared."""
        if type not in self._lenses:
            self._lenses[type] = Lens.of(type, self._check.normalize)
        return self._lenses[type]

    def allows(self, type: str, path: Path) -> bool:
        """Whether a difference that nobody expects may be there."""
        return self._check.others == "allowed" or ignored(type, path, self._check.ignore)


@dataclass(slots=True)
class Difference:
    """What the expectations leave over, gathered one sort of change after the other."""

    expected: Changes
    rules: Rules
    changes: Sequence[Change]
    missing: list[str] = field(default_factory=list)
    unexpected: list[tuple[str, str]] = field(default_factory=list)
    """Key of the object and what happened to it."""
    fulfilled: int = 0
    unjudged: Unjudged | None = None
    """What is left over may be less: something is too long to be held against what is expected."""
    left_out: int = 0
    """Differences that nobody expects and that may be there."""

    @classmethod
    def of(cls, expected: Changes, rules: Rules, changes: Sequence[Change]) -> Difference:
        """Hold the changes against what is expected."""
        difference = cls(expected, rules, changes)
        difference._hold_created()
        difference._hold_changed()
        difference._hold_deleted()
        difference._hold_links()
        return difference

    @property
    def distance(self) -> int:
        """How many things are missing or unexpected; 0 where all is as expected."""
        return len(self.missing) + len(self.unexpected)

    def _hold_created(self) -> None:
        """Each expected object gets an object of its own among those that were created."""
        created = self._of("created")
        wanted = [made for made in self.expected.created for _ in range(made.count)]
        fits = [
            [i for i, change in enumerate(created) if not self._short(made, change, first=True)]
            for made in self.expected.created
        ]
        given = assign(
            [fits[n] for n, made in enumerate(self.expected.created) for _ in range(made.count)]
        )
        self.fulfilled += sum(index is not None for index in given)
        spare = [change for i, change in enumerate(created) if i not in given]
        for made in [e for e, index in zip(wanted, given, strict=True) if index is None]:
            alike = [change for change in spare if change.type == made.type]
            if not alike:
                self.missing.append(f"{_asked(made)} was not created")
                continue
            nearest = min(alike, key=lambda change: len(self._short(made, change)))
            spare.remove(nearest)
            self.missing.append(
                f"no {made.type} as expected; the nearest, {nearest.type} {nearest.key}, has "
                + expectations.held_against(self._short(made, nearest))
            )
        for change in spare:
            text = f"{change.type} {change.key} was created ({shown(change.new)})"
            self._left(change, (), text)

    def _short(
        self, made: ExpectedObject, change: Change, *, first: bool = False
    ) -> tuple[expectations.Miss, ...]:
        """In what a created object falls short of an expected one; `first`: one thing is enough."""
        if change.type != made.type:
            return (expectations.Miss("type", change.type, Condition(equals=made.type)),)
        short: list[expectations.Miss] = []
        if made.key is not None and not Lens().fulfils(made.key, change.key):
            short.append(expectations.Miss("key", change.key, made.key))
        lens = self.rules.lens(made.type)
        unjudged: Unjudged | None = None
        for path, condition in made.properties.items():
            if first and short:
                break
            value = look_up(change.new, path)
            at = lens.at(path.split("."))
            try:
                fits = at.fulfils(condition, value)
            except Unjudged as error:
                unjudged, fits = error, True
            if not fits:
                short += expectations.inside(expectations.Miss(path, value, condition), at)
        if not short:
            self.unjudged = self.unjudged or unjudged
        return tuple(short)

    def _hold_changed(self) -> None:
        """Each expected property has changed to what it must be, and no part of it beyond."""
        changed = self._of("changed")
        wanted: dict[tuple[str, str], list[tuple[str, Condition]]] = {}
        for expected in self.expected.changed:
            wanted.setdefault((expected.type, expected.key), []).extend(expected.properties.items())
        expected_parts: dict[tuple[str, str], list[Path]] = {}
        for (type, key), conditions in wanted.items():
            own = [change for change in changed if (change.type, change.key) == (type, key)]
            for path, condition in conditions:
                change, inside = changed_at(path, own)
                part = (path,) if change is None else (change.property or "", *inside)
                expected_parts.setdefault((type, key), []).append(part)
                self._hold_property(type, key, path, condition, change, inside)
        for change in changed:
            parts = expected_parts.get((change.type, change.key), [])
            mattering = list(self._mattering(change))
            if not mattering and not any(part[:1] == (change.property,) for part in parts):
                self.left_out += 1
            for leaf in mattering:
                if not any(covers(part, leaf.path) for part in parts):
                    text = f"{change.type} {change.key}: {_told(leaf)}"
                    self._left(change, leaf.path, text)

    def _mattering(self, change: Change) -> Sequence[Leaf]:
        """What differs inside a changed property and is not normalised away."""
        lens = self.rules.lens(change.type).into(change.property or "")
        at = (change.property or "",)
        old, new = _old(change), _new(change)
        if lens.plain:
            return _leaves_of(change)
        return list(lens.differing(old, new, at))

    def _hold_property(
        self,
        type: str,
        key: str,
        path: str,
        condition: Condition,
        change: Change | None,
        inside: Path,
    ) -> None:
        part = (path,) if change is None else (change.property or "", *inside)
        # That it changed at all is asked of the value as it is: normalising makes no change unexpected,
        # and takes no expected one away either.
        related = [
            leaf
            for leaf in (_leaves_of(change) if change else ())
            if covers(part, leaf.path) or covers(leaf.path, part)
        ]
        if change is None or not related:
            self.missing.append(
                f"{type} {key}.{path} {self._instead(type, key)} "
                f"(expected {expectations.asked(condition)})"
            )
            return
        value = walk(_new(change), inside)
        lens = self.rules.lens(type).at(part)
        try:
            fits = lens.fulfils(condition, value)
        except Unjudged as error:
            self.unjudged, fits = error, True
        if fits:
            self.fulfilled += 1
            return
        missed = list(expectations.inside(expectations.Miss(path, value, condition), lens))
        self.missing.append(
            expectations.listed(
                [f"{type} {key}.{_became(m, change, path, inside)}" for m in missed]
            )
        )

    def _hold_deleted(self) -> None:
        """Each expected object is gone."""
        wanted = {(e.type, e.key) for e in self.expected.deleted}
        gone = self._of("deleted")
        there = {(change.type, change.key) for change in gone}
        self.fulfilled += len(wanted & there)
        self.missing += [f"{type} {key} was not deleted" for type, key in sorted(wanted - there)]
        for change in gone:
            if (change.type, change.key) not in wanted:
                self._left(change, (), f"{change.type} {change.key} was deleted")

    def _hold_links(self) -> None:
        """Each expected link was made, or cut."""
        for what, expected, done in (
            ("linked", self.expected.linked, "made"),
            ("unlinked", self.expected.unlinked, "cut"),
        ):
            wanted = [(link.type, link.source, link.target) for link in expected]
            happened = self._of(what)
            there = {(change.type, change.key, change.to) for change in happened}
            for number, (ends, link) in enumerate(zip(wanted, expected, strict=True)):
                if ends not in there:
                    self.missing.append(f"{_link(link)} was not {done}")
                elif ends in wanted[:number]:
                    self.missing.append(f"{_link(link)} was {done} only once")
                else:
                    self.fulfilled += 1
            for change in happened:
                if (change.type, change.key, change.to) not in wanted:
                    text = f"link {change.type} from {change.key} to {change.to} was {done}"
                    self._left(change, (), text)

    def _of(self, what: str) -> list[Change]:
        return [change for change in self.changes if change.what == what]

    def _instead(self, type: str, key: str) -> str:
        """Why a property did not change: nothing happened to its object, or something else did."""
        for change in self.changes:
            if change.what in ("created", "deleted") and (change.type, change.key) == (type, key):
                return f"did not change, the {type} was {change.what}"
        return "did not change"

    def _left(self, change: Change, path: Path, text: str) -> None:
        if self.rules.allows(change.type, path):
            self.left_out += 1
        else:
            self.unexpected.append((change.key, text))


def _leaves_of(change: Change) -> list[Leaf]:
    """What differs inside a changed property; the whole of it where nothing inside does."""
    at = (change.property or "",)
    old, new = _old(change), _new(change)
    return list(leaves(old, new, at)) or [Leaf(at, old, new)]


def _became(miss: expectations.Miss, change: Change, path: str, inside: Path) -> str:
    """What became of a property, or of a part of it, in place of what was expected."""
    further = tuple(filter(None, miss.path.removeprefix(path).split(".")))
    before = walk(_old(change), (*inside, *further))
    if miss.found is MISSING:
        found = "is not there" if before is MISSING else "was removed"
    else:
        found = f"{'stayed' if same(before, miss.found) else 'became'} {shown(miss.found)}"
    return f"{miss.path} {found} (expected {expectations.asked(miss.condition)})"


def _told(leaf: Leaf) -> str:
    name = ".".join(leaf.path)
    if leaf.old is MISSING:
        return f"{name} was added ({shown(leaf.new)})"
    if leaf.new is MISSING:
        return f"{name} was removed ({shown(leaf.old)})"
    return f"{name} changed from {shown(leaf.old)} to {shown(leaf.new)}"


def _asked(made: ExpectedObject) -> str:
    conditions: dict[str, Condition] = dict(made.properties)
    if made.key is not None:
        conditions = {"key": made.key, **conditions}
    with_what = f" with {expectations.told_all(conditions)}" if conditions else ""
    return f"{made.type}{with_what}"


def _link(expected: ExpectedLink) -> str:
    source, target = (
        end if isinstance(end, str) else f"what {end.bind} stands for"
        for end in (expected.source, expected.target)
    )
    return f"link {expected.type} from {source} to {target}"


def _place_in_order(change: Change) -> tuple[str, ...]:
    values = json.dumps([change.old, change.new], sort_keys=True, default=str)
    return (
        change.what,
        change.type,
        change.key,
        change.property or "",
        change.to or "",
        values,
    )


def _old(change: Change) -> Any:
    return MISSING if change.old_absent else change.old


def _new(change: Change) -> Any:
    return MISSING if change.new_absent else change.new
