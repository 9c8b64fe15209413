"""One module per kind of practice world: copy it for a trial, serve its actions, capture its state."""

from __future__ import annotations

import weakref
from typing import assert_never

from seatrial.documents.world import World
from seatrial.state.actions import Actions
from seatrial.worlds.objects import ObjectsWorld

_ready: dict[int, tuple[weakref.ref[World], Actions]] = {}
"""By the fixture's identity: its actions made ready, for as long as the fixture is in use."""


def open_world(fixture: World, *, run_token: str, seed: int) -> ObjectsWorld:
    """A trial's own copy of a world. The first of a fixture costs its size, all further ones nothing.

    `run_token` is what `{{run}}` stands for, `seed` what `{{new_id}}` is drawn from.
    """
    match fixture.world:
        case "objects":
            return ObjectsWorld(_actions(fixture), run_token=run_token, seed=seed)
        case _:
            assert_never(fixture.world)


def _actions(fixture: World) -> Actions:
    identity = id(fixture)
    known = _ready.get(identity)
    if known is not None and known[0]() is fixture:
        return known[1]
    # What is made ready must not keep the fixture alive, or it would never be forgotten.
    actions = Actions(fixture.model_copy())
    _ready[identity] = (weakref.ref(fixture, lambda _: _ready.pop(identity, None)), actions)
    return actions


__all__ = ["ObjectsWorld", "open_world"]
