"""`prices: LIST` of an arm or of a person's model → the prices of its model, as the list has them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.origins import Layer, Origin
from seatrial.loading.places import Steps

Find = Callable[[str], Layer | Mistake | None]
"""The price list of an id; what is wrong with the id; None where that is told elsewhere."""


def named_list(value: Mapping[str, Any]) -> tuple[Steps, str] | None:
    """Where a document names a price list, and which; None where it names none."""
    found: Any = value
    steps: Steps = ("prices",)
    if value.get("kind") == "fixture" and value.get("type") == "persona":
        found, steps = value.get("model"), ("model", "prices")
    elif value.get("kind") != "arm":
        return None
    named = found.get("prices") if isinstance(found, dict) else None
    return (steps, named) if isinstance(named, str) else None


def priced(layer: Layer, find: Find) -> Generator[Mistake, None, Layer | None]:
    """The document with the prices of its model written out; None where there is a mistake."""
    named = named_list(layer.value)
    if named is None:
        return layer
    steps, id = named
    found = find(id)
    if found is None:
        return None
    if isinstance(found, Mistake):
        yield Mistake(steps, found.message, found.hint, found.code)
        return None
    model = layer.value.get("model")
    name = model.get("name") if isinstance(model, dict) else None
    models = found.value.get("models")
    if not isinstance(name, str) or not isinstance(models, dict):
        if not isinstance(name, str):
            message = (
                f"price list `{cut(id)}` has prices by model, and there is no `model` with a `name`"
            )
            yield Mistake(steps, message, code="no-price")
        return None
    if not isinstance(models.get(name), dict):
        guess = closest(name, models)
        message = f"price list `{cut(id)}` has no model `{cut(name)}`"
        message += f"; did you mean `{guess}`?" if guess else ""
        yield Mistake(steps, message, code="no-price")
        return None
    row = found.of("models").of(name)
    value = dict(row.value)
    parts = dict(row.origin.parts)
    if "currency" in found.value:
        value["currency"] = found.value["currency"]
        parts["currency"] = found.origin.of("currency")
    return _put(layer, steps, Layer(value, Origin(row.origin.places, row.origin.steps, parts)))


def _put(layer: Layer, steps: Steps, new: Layer) -> Layer:
    """The value with a part of it replaced."""
    if not steps:
        return new
    inner = _put(layer.of(steps[0]), steps[1:], new)
    origin = layer.origin
    parts = {**origin.parts, steps[0]: inner.origin}
    value = {**layer.value, steps[0]: inner.value}
    return Layer(value, Origin(origin.places, origin.steps, parts))
