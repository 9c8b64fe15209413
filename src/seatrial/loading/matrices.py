"""A case with a matrix → one case for each combination of its values."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from seatrial.documents import placeholders
from seatrial.documents.matrix import AXIS, VALUE_NAME, Matrix, Point, called
from seatrial.loading.bounds import MAX_EXPANSIONS, MAX_FILLED
from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.origins import Layer, Origin
from seatrial.loading.places import Steps
from seatrial.loading.syntax import shown
from seatrial.loading.wording import mistakes

_NAMES = re.compile(r"\{\{\s*(matrix\.[^{}]*?)\s*\}\}")
_AXIS = "a name: at most 30 lower-case letters, digits and `_`, with a letter first"


class _Holder(BaseModel):
    model_config = ConfigDict(extra="ignore")
    matrix: Matrix


class TooLong(Exception):
    """A text would have more than `MAX_FILLED` characters."""


def expansion(case: Layer, point: Point) -> Layer:
    """A case with a matrix as it is for one combination of the values.

    Raises:
        TooLong: a text would be.
    """
    matrix = case.of("matrix")
    values: dict[str, Layer] = {}
    for axis, name in point.names.items():
        written = matrix.of(axis)
        step: str | int = name
        if isinstance(written.value, list):
            step = next(i for i, value in enumerate(written.value) if called(value) == name)
        values |= _reachable(axis, written.of(step))
    filled = _filled(case.without(("matrix",), {}), values)
    value = dict(filled.value)
    id, title = case.value["id"], case.value.get("title")
    value["id"] = id + point.suffix
    if isinstance(title, str) and not _NAMES.search(title):
        told = ", ".join(f"{axis} {name}" for axis, name in point.names.items())
        value["title"] = f"{title} ({told})"
    value["expansion"] = {"of": id, "values": dict(point.values)}
    return Layer(value, filled.origin)


def _reachable(axis: str, layer: Layer) -> dict[str, Layer]:
    """Every name that a value of a matrix can be reached by."""
    found = {f"{placeholders.MATRIX}{axis}": layer}
    if isinstance(layer.value, dict):
        for key in layer.value:
            found |= _reachable(f"{axis}.{key}", layer.of(key))
    return found


def _filled(layer: Layer, values: Mapping[str, Layer]) -> Layer:
    """The value with every `{{matrix.…}}` that is known replaced; what else is in braces stays.

    A text that is nothing but one takes the value with its type, and the place where the value was written.
    """
    value = layer.value
    if isinstance(value, str):
        if "{{" not in value:
            return layer
        name = placeholders.whole(value)
        if name is not None and name in values:
            return values[name]
        text = _in_text(value, values)
        return layer if text == value else Layer(text, layer.origin)
    inner: dict[str | int, Layer] = {}
    names: dict[str, str] = {}
    if isinstance(value, dict):
        inner = {key: _filled(layer.of(key), values) for key in value}
        names = {key: _in_text(key, values) for key in value}
    elif isinstance(value, list):
        inner = {index: _filled(layer.of(index), values) for index in range(len(value))}
    changed = {step: new for step, new in inner.items() if new.value is not value[step]}
    renamed = {key: name for key, name in names.items() if key != name}
    if not changed and not renamed:
        return layer
    parts = dict(layer.origin.parts) | {
        renamed.get(str(step), step): new.origin
        for step, new in inner.items()
        if step in changed or step in renamed
    }
    whole: Any = (
        {names[key]: inner[key].value for key in value}
        if isinstance(value, dict)
        else [inner[index].value for index in range(len(value))]
    )
    return Layer(whole, Origin(layer.origin.places, layer.origin.steps, parts))


def _in_text(text: str, values: Mapping[str, Layer]) -> str:
    if "{{" not in text:
        return text
    length = len(text)

    def put(found: re.Match[str]) -> str:
        nonlocal length
        layer = values.get(found[1])
        if layer is None:
            return found[0]
        new = placeholders.as_text(layer.value)
        length += len(new)
        if length > MAX_FILLED:
            raise TooLong
        return new

    return _NAMES.sub(put, text)


# --- what is wrong with a matrix ---


def matrix_of(case: Layer, holes: Mapping[int, Any]) -> Generator[Mistake, None, Matrix | None]:
    """The matrix of a case; None where it is not right."""
    written = case.value["matrix"]
    wrong = list(_wrong_shapes(written))
    if not wrong:
        try:
            matrix = _Holder.model_validate({"matrix": written}).matrix
        except ValidationError as error:
            wrong = mistakes(_Holder, error, holes)
    yield from wrong
    if wrong:
        return None
    wrong = [*_wrong_names(written), *_wrong_exclusions(written)]
    yield from wrong
    if wrong:
        return None
    axes = matrix.axes
    if not axes:
        message = "a matrix has at least one name with values"
        yield Mistake(("matrix",), message, "Write `matrix: {language: [de, en]}`", "matrix")
        return None
    if matrix.count() > MAX_EXPANSIONS:
        message = f"the matrix has {matrix.count()} combinations; at most {MAX_EXPANSIONS} are run"
        yield Mistake(("matrix",), message, "Leave values out, or make several cases", "too-large")
        return None
    if next(matrix.points(), None) is None:
        yield Mistake(("matrix", "exclude"), "every combination is left out", code="matrix")
        return None
    return matrix


def _wrong_shapes(written: Any) -> Iterator[Mistake]:
    if not isinstance(written, dict):
        message = f"`matrix`: expected a mapping, found {shown(written)}"
        yield Mistake(("matrix",), message, "Write `matrix: {language: [de, en]}`", "wrong-type")
        return
    expected = "expected a list of texts and numbers, or a mapping `name: value`"
    for axis, values in written.items():
        if axis == "exclude":
            continue
        if not isinstance(values, list | dict):
            message = f"`{cut(axis)}`: {expected}; found {shown(values)}"
            yield Mistake(("matrix", axis), message, code="wrong-type")
        elif not values:
            message = f"`{cut(axis)}`: expected at least one value"
            yield Mistake(("matrix", axis), message, code="wrong-value")
        elif isinstance(values, list):
            for index, value in enumerate(values):
                if value is None or isinstance(value, list | dict):
                    message = f"`{cut(axis)}`: expected a text or a number, found {shown(value)}"
                    hint = "Values of other kinds have names: `name: value`"
                    yield Mistake(("matrix", axis, index), message, hint, "wrong-type")


def _wrong_names(written: Mapping[str, Any]) -> Iterator[Mistake]:
    for axis, values in written.items():
        steps: Steps = ("matrix", axis)
        if axis == "exclude":
            continue
        if not AXIS.fullmatch(axis):
            yield Mistake(
                steps, f"expected {_AXIS}; found `{cut(axis)}`", code="matrix", on_key=True
            )
        if isinstance(values, dict):
            for name in values:
                if not VALUE_NAME.fullmatch(name):
                    yield _no_name((*steps, name), name, on_key=True)
            continue
        seen: dict[str, int] = {}
        for index, value in enumerate(values):
            name = called(value)
            if not VALUE_NAME.fullmatch(name):
                yield _no_name((*steps, index), name, on_key=False)
            elif seen.setdefault(name, index) != index:
                yield Mistake((*steps, index), f"`{cut(name)}` stands there already", code="matrix")


def _no_name(steps: Steps, name: str, *, on_key: bool) -> Mistake:
    message = f"{shown(name)} cannot stand in the id of a case"
    hint = "Give the value a name of lower-case letters, digits, `.`, `_` and `-`: `name: value`"
    return Mistake(steps, message, hint, "matrix", on_key)


def _wrong_exclusions(written: Mapping[str, Any]) -> Iterator[Mistake]:
    names = {
        axis: set(values) if isinstance(values, dict) else {called(v) for v in values}
        for axis, values in written.items()
        if axis != "exclude"
    }
    for index, entry in enumerate(written.get("exclude", ())):
        steps: Steps = ("matrix", "exclude", index)
        if not entry:
            yield Mistake(steps, "leaves everything out", "Say which combination", "matrix")
        for axis, value in entry.items():
            if axis not in names:
                guess = closest(axis, names)
                message = f"the matrix has no `{cut(axis)}`"
                message += f"; did you mean `{guess}`?" if guess else ""
                yield Mistake((*steps, axis), message, code="matrix", on_key=True)
            elif called(value) not in names[axis]:
                guess = closest(called(value), names[axis])
                message = f"`{axis}` has no value `{cut(called(value))}`"
                message += f"; did you mean `{guess}`?" if guess else ""
                yield Mistake((*steps, axis), message, code="matrix")
