"""The state as functions work on it: plain mappings, copied only where somebody looks.

A world of ten thousand objects costs a call no more than one of ten: an object is copied when it is
first reached, and afterwards only those that were reached can differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from seatrial.errors import WorldError
from seatrial.state import MISSING, Draft, State, freeze, same, thaw
from seatrial.state.values import FrozenDict, quoted, unkeepable


class Objects(dict[str, Any]):
    """The objects of one type by key. Each is a plain mapping of its own from when it is first reached."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if isinstance(value, FrozenDict):
            value = thaw(value)
            super().__setitem__(key, value)
        return value

    def __iter__(self) -> Iterator[str]:
        # With an iterator of our own, `dict(objects)` and `{**objects}` reach each object as well.
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        if key not in self:
            return default
        return self[key]

    def values(self) -> Any:
        return [self[key] for key in self]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def pop(self, key: str, *default: Any) -> Any:
        if key in self:
            self[key]
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Any]:
        key, value = super().popitem()
        return key, thaw(value)

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            super().__setitem__(key, default)
        return self[key]

    def copy(self) -> dict[str, Any]:
        return dict(self)


class WorkingCopy:
    """The state for one call: a function works on `state`, and what it has left is `collected`."""

    def __init__(self, before: State, types: Iterable[str] = ()) -> None:
        """Take a state, and types that are there for the function even when they have no object (any more)."""
        self._before = before
        self._objects = {type: before.keyed(type) for type in before.types()}
        self.state: dict[str, Any] = {
            type: Objects(self._objects.get(type, {})) for type in (*self._objects, *types)
        }
        """`{type: {key: {property: value}}}`; the state before stays as it is."""

    def collected(self) -> State:
        """The state that the function has left; the same as before when nothing changed.

        Raises:
            WorldError: that is no state: an object is no mapping, or holds what is no JSON.
        """
        draft = Draft(self._before)
        for type, keyed in self.state.items():
            if not isinstance(keyed, dict):
                raise WorldError(
                    f"{quoted(str(type))} must map keys to objects, not be {_kind(keyed)}"
                )
            old = self._objects.get(type, {})
            for key, properties in dict.items(keyed):
                if properties is old.get(key, MISSING):
                    continue
                frozen = _frozen(type, key, properties)
                if not same(frozen, old.get(key, MISSING)):
                    draft.put(type, key, frozen)
            for key in old.keys() - keyed.keys():
                draft.delete(type, key)
        for type, old in self._objects.items():
            if type not in self.state:
                for key in old:
                    draft.delete(type, key)
        return draft.state()


def _frozen(type: Any, key: Any, properties: Any) -> FrozenDict:
    where = f"{type} {quoted(str(key))}"
    if not isinstance(type, str) or not isinstance(key, str):
        raise WorldError(f"types and keys are text; {where} is not")
    if not isinstance(properties, Mapping):
        raise WorldError(f"{where} must be a mapping of properties, not {_kind(properties)}")
    try:
        frozen = freeze(dict(properties))
    except (TypeError, RecursionError) as error:
        raise WorldError(f"{where} holds what is no JSON: {error}") from error
    if why := unkeepable(frozen):
        raise WorldError(f"{where} holds what is no JSON: {why}")
    assert isinstance(frozen, FrozenDict)
    return frozen


def _kind(value: object) -> str:
    return type(value).__name__
