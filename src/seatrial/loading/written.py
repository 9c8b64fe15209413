"""A document as it is written, and with all that it inherits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.documents import Kind
from seatrial.loading.origins import Layer, Origin
from seatrial.loading.places import Places


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A document as it was written, before anything is inherited."""

    kind: Kind
    id: str
    value: dict[str, Any]
    places: Places
    sound: bool
    """Nothing in it was refused."""
    odd: bool
    """It may hold a placeholder that not every document knows."""
    refers: bool
    """It may hold a schema that refers to another."""
    holes: Mapping[int, Any] = field(default_factory=dict)
    """Mappings that lost a key when they were read, by identity."""

    @property
    def path(self) -> str:
        """The file that it stands in."""
        return self.places.file.path

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return self.path.rpartition("/")[0]

    @property
    def layer(self) -> Layer:
        """Its value, with itself as the origin."""
        return Layer(self.value, Origin(self.places))

    @property
    def abstract(self) -> bool:
        """It is only there to be extended."""
        return self.value.get("abstract") is True


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a document comes to with all that it inherits."""

    layer: Layer
    holes: Mapping[int, Any]
    sound: bool
    odd: bool
    refers: bool
