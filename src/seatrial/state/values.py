"""JSON values: frozen copies, typed equality, and looking into them by path."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from enum import Enum
from typing import Any, Final, Literal, NoReturn

from seatrial.trace import Json


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING
"""No value at all, which is not the same as null."""


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("a frozen value cannot be changed; thaw() gives a copy that can")


class FrozenDict(dict[str, Any]):
    """A mapping that refuses every change; equal to a plain one, and written as JSON like one."""

    __slots__ = ()
    __setitem__ = __delitem__ = clear = pop = popitem = _refuse
    setdefault = update = __ior__ = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: thaw(item) for key, item in self.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenDict, (dict(self),))


class FrozenList(list[Any]):
    """A list that refuses every change; equal to a plain one, and written as JSON like one."""

    __slots__ = ()
    __setitem__ = __delitem__ = append = extend = insert = pop = remove = clear = _refuse
    sort = reverse = __iadd__ = __imul__ = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [thaw(item) for item in self]

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenList, (list(self),))


def freeze(value: Any) -> Json:
    """A frozen copy of a JSON value; what is frozen already is shared, not copied.

    Raises:
        TypeError: what is no JSON value (a date, a set, a key that is not text).
    """
    if value is None or isinstance(value, bool | int | float | str | FrozenDict | FrozenList):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"a key must be text, not {type(key).__name__} {key!r}")
        return FrozenDict({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return FrozenList(freeze(item) for item in value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def thaw(value: Json) -> Json:
    """A plain copy that its holder may change."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def same(a: Json | Missing, b: Json | Missing) -> bool:
    """Whether two values are the same typed JSON value, however deep.

    `1` and `1.0` are the same number; `true` is no number; `"1"` is no number either. The order of
    keys does not matter, that of items does. NaN, which JSON does not have but Python reads, is the
    same as itself.
    """
    if a is b:
        return True
    if isinstance(a, bool) or isinstance(b, bool):
        return False  # the two booleans are singletons
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b or (a != a and b != b)
    if isinstance(a, dict) and isinstance(b, dict):
        return len(a) == len(b) and all(key in b and same(item, b[key]) for key, item in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, str) and isinstance(b, str) and a == b


def look_up(value: Json | Missing, path: str) -> Json | Missing:
    """What stands at a dotted path: `address.city`, `items.0.id`; MISSING when nothing does.

    In a list a step is an index from 0, `count` (how many items there are), or `*`: the rest of the
    path in every item; items without it are left out. A mapping may have keys with dots: where its
    parts lead to nothing, the key that is the whole rest of the path is taken. Not the other way round:
    what an agent writes under such a key beside them would be held against a rule in their place.
    """
    return walk(value, path.split("."))


def walk(value: Json | Missing, steps: Sequence[str]) -> Json | Missing:
    """What stands at a path that is cut into steps already."""
    for number, step in enumerate(steps):
        if isinstance(value, dict):
            after = steps[number + 1 :]
            found = walk(value[step], after) if step in value else MISSING
            return value.get(".".join(steps[number:]), MISSING) if found is MISSING else found
        elif isinstance(value, list | tuple):
            if step == "*":
                found = (walk(item, steps[number + 1 :]) for item in value)
                return FrozenList(item for item in found if item is not MISSING)
            value = _of_list(value, step)
            if value is MISSING:
                return MISSING
        else:
            return MISSING
    return value


def as_keys(value: Json, steps: Sequence[str]) -> tuple[str, ...] | None:
    """The steps of a path with a key that has dots as one of them; None where nothing stands there."""
    for number, step in enumerate(steps):
        if isinstance(value, dict):
            if step in value and walk(value[step], steps[number + 1 :]) is not MISSING:
                value = value[step]
                continue
            rest = ".".join(steps[number:])
            return (*steps[:number], rest) if rest in value else None
        if not isinstance(value, list | tuple) or step == "*":
            return None if walk(value, steps[number:]) is MISSING else tuple(steps)
        value = _of_list(value, step)
        if value is MISSING:
            return None
    return tuple(steps)


def _of_list(items: Sequence[Json], step: str) -> Json | Missing:
    if is_index(step, items):
        return items[int(step)]
    return len(items) if step == "count" else MISSING


LARGEST = 1e300
"""Numbers beyond are not calculated with."""


def is_index(step: str, items: Sequence[Json]) -> bool:
    """Whether a step of a path is the index of an item there is."""
    # Python refuses to read very long numbers; none of them is an index.
    return step.isascii() and step.isdecimal() and len(step) < 10 and int(step) < len(items)


def is_number(value: object) -> bool:
    """Whether it can be calculated with: finite, and neither true nor false."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
    )  # NaN is not less than anything


EXACTLY = Context(prec=60)
"""Decimal arithmetic with room for what two JSON numbers can say."""


def as_decimal(number: int | float) -> Decimal:
    """The number as its shortest decimal writing."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def as_number(decimal: Decimal) -> int | float:
    """A JSON number; a whole one where there is no fraction.

    Raises:
        OverflowError: it is too large for JSON.
    """
    if abs(decimal) < 2**63 and decimal == decimal.to_integral_value():
        return int(decimal)
    number = float(decimal)
    if not math.isfinite(number):
        raise OverflowError("the number is too large")
    return number


def deeper_than(value: Any, levels: int) -> bool:
    """Whether lists and mappings lie in each other in more than so many levels."""
    inside = [value]
    for _ in range(levels + 1):
        inside = [
            item
            for part in inside
            if isinstance(part, dict | list | tuple)
            for item in (part.values() if isinstance(part, dict) else part)
        ]
        if not inside:
            return False
    return True


DEEPEST_KEPT = 200
"""Levels of lists and mappings in each other that are kept of a value."""


def unkeepable(value: Any) -> str:
    """Why a value cannot be written down as JSON in UTF-8; empty when it can."""
    if deeper_than(value, DEEPEST_KEPT):
        return f"it is nested more than {DEEPEST_KEPT} deep"
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        return "it has half characters"
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def as_text(value: Json | Missing) -> str:
    """A value inside a longer text: text as it is, null and nothing as no text, the rest as JSON."""
    if value is None or value is MISSING:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shown(value: Json | Missing, longest: int = 80) -> str:
    """A value for a message, in JSON, cut to `longest` characters; what is cut off is counted."""
    if value is MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text)} characters)"


def quoted(text: str, longest: int = 80) -> str:
    """A text for a message: in quotes, cut to `longest` characters, what cannot be printed escaped."""
    return repr(text if len(text) <= longest else text[:longest] + "…")


Kind = Literal["null", "boolean", "number", "text", "list", "object", "nothing"]


def kind_of(value: Json | Missing) -> Kind:
    """What sort of value it is, in the words of messages."""
    if value is MISSING:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "object" if isinstance(value, dict) else "list"


def containers(value: Json) -> Iterator[dict[str, Json] | list[Json]]:
    """Every mapping and list in a value, itself included."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from containers(item)
    elif isinstance(value, list):
        yield value
        for item in value:
            yield from containers(item)
