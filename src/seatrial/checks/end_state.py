"""`end_state`: exactly the expected changes of the world, and nothing else.

Every expectation takes the changes that fulfil it; what is left over is unexpected unless it is
ignored or others are allowed. Ignoring therefore never touches an expectation, and ignoring more can
only turn a failure into a pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from seatrial.checks import expectations
from seatrial.checks.assignment import assign
from seatrial.checks.leaves import Leaf, Path, covers, leaves
from seatrial.checks.scope import Found, Scope, counted, failed, passed, skipped, succeeded
from seatrial.documents.checks import EndState, ExpectedLink, ExpectedObject
from seatrial.documents.conditions import Condition
from seatrial.state import MISSING, fulfils, same
from seatrial.state.operators import told
from seatrial.state.values import shown, walk
from seatrial.trace import Called, Change


def find(check: EndState, scope: Scope) -> Found:
    """Whether the world changed as expected; skipped when its end was not captured."""
    changes = scope.trace.changes
    if changes is None:
        return skipped("the end state was not captured")
    # The order in which a world tells its changes must not decide which of two is named.
    difference = _Difference(check, sorted(changes, key=_place_in_order))
    difference.hold_created()
    difference.hold_changed()
    difference.hold_deleted()
    difference.hold_links()
    if not difference.missing and not difference.unexpected:
        return passed(_as_expected(check, difference))
    sentences = []
    if difference.missing:
        sentences.append("missing: " + expectations.listed(difference.missing))
    if difference.unexpected:
        sentences.append(
            "unexpected: " + expectations.listed([text for _, text in difference.unexpected])
        )
    return failed("; ".join(sentences), _blamed(difference.unexpected, scope))


@dataclass(slots=True)
class _Difference:
    """What the expectations leave over, gathered one sort of change after the other."""

    check: EndState
    changes: Sequence[Change]
    missing: list[str] = field(default_factory=list)
    unexpected: list[tuple[str, str]] = field(default_factory=list)
    """Key of the object and what happened to it."""
    fulfilled: int = 0
    left_out: int = 0
    """Unexpected differences that are ignored or allowed."""

    def hold_created(self) -> None:
        """Each expected object gets an object of its own among those that were created."""
        created = self._of("created")
        wanted = [expected for expected in self.check.created for _ in range(expected.count)]
        fits = [
            [i for i, change in enumerate(created) if _is_as(expected, change)]
            for expected in self.check.created
        ]
        given = assign([fits[n] for n, e in enumerate(self.check.created) for _ in range(e.count)])
        self.fulfilled += sum(index is not None for index in given)
        spare = [change for i, change in enumerate(created) if i not in given]
        for expected in [e for e, index in zip(wanted, given, strict=True) if index is None]:
            alike = [change for change in spare if change.type == expected.type]
            if not alike:
                self.missing.append(f"{_asked(expected)} was not created")
                continue
            nearest = _nearest(expected, alike)
            spare.remove(nearest)
            self.missing.append(
                f"no {expected.type} as expected; the nearest, {nearest.type} {nearest.key}, has "
                + expectations.held_against(_short(expected, nearest))
            )
        for change in spare:
            text = f"{change.type} {change.key} was created ({shown(change.new)})"
            self._left(change, (), text)

    def hold_changed(self) -> None:
        """Each expected property has changed to what it must be, and no part of it beyond."""
        changed = self._of("changed")
        wanted: dict[tuple[str, str], list[tuple[str, Condition]]] = {}
        for expected in self.check.changed:
            wanted.setdefault((expected.type, expected.key), []).extend(expected.properties.items())
        expected_parts: dict[tuple[str, str], list[Path]] = {}
        for (type, key), conditions in wanted.items():
            own = [change for change in changed if (change.type, change.key) == (type, key)]
            for path, condition in conditions:
                change, inside = _changed_at(path, own)
                part = (path,) if change is None else (change.property or "", *inside)
                expected_parts.setdefault((type, key), []).append(part)
                self._hold_property(type, key, path, condition, change, inside)
        for change in changed:
            parts = expected_parts.get((change.type, change.key), [])
            for leaf in _leaves_of(change):
                if not any(covers(part, leaf.path) for part in parts):
                    text = f"{change.type} {change.key}: {_told(leaf)}"
                    self._left(change, leaf.path, text)

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
        related = [
            leaf
            for leaf in (_leaves_of(change) if change else ())
            if covers(part, leaf.path) or covers(leaf.path, part)
        ]
        if change is None or not related:
            self.missing.append(
                f"{type} {key}.{path} {self._instead(type, key)} (expected {told(condition)})"
            )
            return
        value = walk(_new(change), inside)
        if fulfils(condition, value):
            self.fulfilled += 1
            return
        missed = list(expectations.inside(expectations.Miss(path, value, condition)))
        self.missing.append(
            expectations.listed(
                [f"{type} {key}.{_became(m, change, path, inside)}" for m in missed]
            )
        )

    def hold_deleted(self) -> None:
        """Each expected object is gone."""
        wanted = {(e.type, e.key) for e in self.check.deleted}
        gone = self._of("deleted")
        there = {(change.type, change.key) for change in gone}
        self.fulfilled += len(wanted & there)
        self.missing += [f"{type} {key} was not deleted" for type, key in sorted(wanted - there)]
        for change in gone:
            if (change.type, change.key) not in wanted:
                self._left(change, (), f"{change.type} {change.key} was deleted")

    def hold_links(self) -> None:
        """Each expected link was made, or cut."""
        for what, expected, done in (
            ("linked", self.check.linked, "made"),
            ("unlinked", self.check.unlinked, "cut"),
        ):
            wanted = {(e.type, e.source, e.target): e for e in expected}
            happened = self._of(what)
            there = {(change.type, change.key, change.to) for change in happened}
            self.fulfilled += len(wanted.keys() & there)
            self.missing += [
                f"{_link(e)} was not {done}" for ends, e in wanted.items() if ends not in there
            ]
            for change in happened:
                if (change.type, change.key, change.to) not in wanted:
                    text = f"link {change.type} from {change.key} to {change.to} was {done}"
                    self._left(change, (), text)

    def _of(self, what: str) -> list[Change]:
        return [change for change in self.changes if change.what == what]

    def _instead(self, type: str, key: str) -> str:
        """What happened to an object whose property should have changed."""
        for change in self.changes:
            if (change.type, change.key) == (type, key) and change.what in ("created", "deleted"):
                return f"did not change, the {type} was {change.what}"
        return "did not change"

    def _left(self, change: Change, path: Path, text: str) -> None:
        if self.check.others == "allowed" or _ignored(change.type, path, self.check.ignore):
            self.left_out += 1
        else:
            self.unexpected.append((change.key, text))


def _is_as(expected: ExpectedObject, change: Change) -> bool:
    return (
        change.type == expected.type
        and (expected.key is None or fulfils(expected.key, change.key))
        and expectations.hold(expected.properties, change.new)
    )


def _short(expected: ExpectedObject, change: Change) -> tuple[expectations.Miss, ...]:
    """In what a created object falls short of the expected one of its type."""
    missed = expectations.misses(expected.properties, change.new)
    if expected.key is not None and not fulfils(expected.key, change.key):
        return (expectations.Miss("key", change.key, expected.key), *missed)
    return missed


def _nearest(expected: ExpectedObject, created: Sequence[Change]) -> Change:
    return min(created, key=lambda change: len(_short(expected, change)))


def _changed_at(path: str, changes: Sequence[Change]) -> tuple[Change | None, Path]:
    """The change of the property that `path` leads into, and the way on inside it."""
    for change in changes:
        if change.property == path:
            return change, ()
    head, _, rest = path.partition(".")
    for change in changes:
        if change.property == head:
            return change, tuple(rest.split("."))
    return None, ()


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
    return f"{miss.path} {found} (expected {told(miss.condition)})"


def _ignored(type: str, path: Path, ignore: Iterable[str]) -> bool:
    """Whether a difference at `path` of an object of this type lies within what is ignored."""
    for entry in ignore:
        if entry == type:
            return True
        inside = entry.removeprefix(f"{type}.")
        if (
            inside != entry
            and path
            and (path[0] == inside or covers(tuple(inside.split(".")), path))
        ):
            return True
    return False


def _told(leaf: Leaf) -> str:
    name = ".".join(leaf.path)
    if leaf.old is MISSING:
        return f"{name} was added ({shown(leaf.new)})"
    if leaf.new is MISSING:
        return f"{name} was removed ({shown(leaf.old)})"
    return f"{name} changed from {shown(leaf.old)} to {shown(leaf.new)}"


def _asked(expected: ExpectedObject) -> str:
    conditions = dict(expected.properties)
    if expected.key is not None:
        conditions = {"key": expected.key, **conditions}
    with_what = f" with {expectations.told_all(conditions)}" if conditions else ""
    return f"{expected.type}{with_what}"


def _link(expected: ExpectedLink) -> str:
    return f"link {expected.type} from {expected.source} to {expected.target}"


def _as_expected(check: EndState, difference: _Difference) -> str:
    if difference.fulfilled:
        text = f"{counted(difference.fulfilled, 'expected change')} found"
        others = " and nothing else" if not difference.left_out else ""
    else:
        text = "nothing changed, as expected"
        others = ""
        if difference.left_out:
            text = "nothing changed that counts"
    if difference.left_out:
        word = "allowed" if check.others == "allowed" else "ignored"
        others = f", {counted(difference.left_out, 'other difference')} {word}"
    return text + others


def _blamed(unexpected: Sequence[tuple[str, str]], scope: Scope) -> Called | None:
    """The call that made the first unexpected difference, where the trace lets one tell."""
    writing = [call for call in scope.calls if call.changed] or [
        call
        for call in scope.calls
        if call.answered_by == "server" and call.read_only is not True and succeeded(call)
    ]
    for key, _ in unexpected:
        word = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])")
        for call in reversed(writing):
            if word.search(json.dumps(call.arguments, ensure_ascii=False, default=str)) or (
                word.search(call.answer.text)
            ):
                return call
    return writing[0] if unexpected and len(writing) == 1 else None


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
