"""Locks: what of a world is read only with clearances for its markings, or for a purpose."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from seatrial.documents.base import Part
from seatrial.documents.conditions import Conditions
from seatrial.documents.world.base import Name

Hidden = Literal["absent", "refused"]
"""How a call that needs what is hidden from the role is answered."""


class Lock(Part):
    """Objects, or properties of objects, that only those may read who fulfil all that is written here."""

    type: Name
    """The object type."""
    keys: tuple[str, ...] = ()
    """Only the objects with these keys; all of the type when left out."""
    where: Conditions = Field(default_factory=dict)
    """Only the objects that fulfil these conditions over their properties, as they are at that moment."""
    properties: tuple[Name, ...] = ()
    """Only these properties; the whole object when left out."""
    markings: tuple[Name, ...] = ()
    """Markings of what is locked: the role needs a clearance for each of them."""
    purposes: tuple[Name, ...] = ()
    """Purposes for which it is read: the role must act under one of them."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> Lock:
        if not self.markings and not self.purposes:
            raise ValueError("a lock needs `markings` or `purposes`, or nothing is locked by it")
        return self
