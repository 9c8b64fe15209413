"""A case that stands for several: one for each combination of named values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from seatrial.documents.base import Id, Part

Plain = StrictStr | StrictBool | StrictInt | StrictFloat
Values = (
    Annotated[tuple[Plain, ...], Field(min_length=1)]
    | Annotated[dict[str, Any], Field(min_length=1)]
)
"""The values of one name: a list of texts and numbers, or each value under a name of its own."""

AXIS = re.compile(r"[a-z][a-z0-9_]{0,29}")
"""What names in a matrix look like: `{{matrix.NAME}}` and the ids of the expansions hold them."""
VALUE_NAME = re.compile(r"(?!.*--)[a-z0-9][a-z0-9._-]{0,39}")
"""What values of a matrix are called in the ids of the expansions."""


class Matrix(Part):
    """Names, each with its values; the case is written once for each combination.

    In the texts of the case, and of the mocked answers and persons it leans on, `{{matrix.NAME}}` stands for the value.
    An expansion is called `CASE--NAME.VALUE--NAME.VALUE`, by the names in alphabetical order.
    Values are a list of texts and numbers, or `name: value` for values of any kind, whose inner keys are reached as
    `{{matrix.NAME.KEY}}`.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Values] = Field(init=False)

    exclude: tuple[dict[str, Plain], ...] = Field(default=(), max_length=256)
    """Combinations that are left out: each entry says names with values as the ids have them, and leaves out every
    combination that has them all."""

    @property
    def axes(self) -> Mapping[str, Mapping[str, Any]]:
        """Name → what each value is called → the value; the names in alphabetical order."""
        return {
            name: values if isinstance(values, dict) else {called(v): v for v in values}
            for name, values in sorted(self.__pydantic_extra__.items())
        }

    def count(self) -> int:
        """The combinations, those that are left out included."""
        number = 1
        for values in self.axes.values():
            number *= len(values)
        return number

    def points(self) -> Iterator[Point]:
        """Every combination that is not left out."""
        axes = self.axes
        left_out = [{name: called(v) for name, v in entry.items()} for entry in self.exclude]
        for names in itertools.product(*axes.values()):
            chosen = dict(zip(axes, names, strict=True))
            if not any(entry.items() <= chosen.items() for entry in left_out):
                yield Point(chosen, {axis: axes[axis][name] for axis, name in chosen.items()})


@dataclass(frozen=True, slots=True)
class Point:
    """One combination."""

    names: Mapping[str, str]
    """Name in the matrix → what the value is called."""
    values: Mapping[str, Any]
    """Name in the matrix → the value."""

    @property
    def suffix(self) -> str:
        """What the id of the expansion has behind that of the case."""
        return "".join(f"--{axis}.{name}" for axis, name in self.names.items())


class Expansion(Part):
    """Which case a case is an expansion of. Written by the loader, never by hand."""

    of: Id
    """The case as it is written."""
    values: dict[str, Any]
    """Name in its matrix → the value here."""


def called(value: Plain) -> str:
    """What a value of a list is called in ids."""
    return str(value).lower() if isinstance(value, bool) else str(value)
