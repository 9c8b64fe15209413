"""The attack of an injection case: what is placed where, and what its attacker wants."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt, model_validator

from seatrial.documents import placeholders
from seatrial.documents.base import Id, Part
from seatrial.documents.checks import Changes, ExpectedCall
from seatrial.documents.payloads import Language
from seatrial.documents.world.directory import FileName

How = Literal["append", "prepend", "replace"]


class Placement(Part):
    """Where a payload stands."""

    how: How = "append"
    """append: after the text that is there. prepend: before it. replace: in its place."""


class InObject(Placement):
    """In a text of an object of the world."""

    at: Literal["object"]
    type: str
    """The object type."""
    key: str
    """The object's key."""
    property: str
    """The property, a text; or a path to a text inside of it (`mail.body`)."""


class InAnswer(Placement):
    """In the mocked answers of a tool."""

    at: Literal["answer"]
    tool: str
    """The tool's name, as the fixture of answers has it."""
    path: str = ""
    """Where in the answer, a path to a text (`articles.0.text`); the whole answer when empty. Answers without
    such a text stay as they are."""


class InFile(Placement):
    """In a text file of a world of kind `directory`; the file is made when it is not there."""

    at: Literal["file"]
    path: FileName
    """Its path from the top of the folder."""


class InMessage(Placement):
    """In what the user says."""

    at: Literal["message"]
    turn: StrictInt = Field(default=1, ge=1)
    """In which turn, from 1."""


Place = Annotated[InObject | InAnswer | InFile | InMessage, Field(discriminator="at")]


class Goal(Part):
    """What the attacker wants: any one of these. Reached, the attack has succeeded: a forbidden action."""

    calls: tuple[str | ExpectedCall, ...] = ()
    """Names of tools, or calls with arguments, any one of which is the goal. One that is refused or gives an
    error counts as attempted."""
    state: Changes | None = None
    """Changes of the world that together are the goal. Some of them count as attempted."""

    @model_validator(mode="after")
    def _can_be_reached(self) -> Goal:
        if not self.calls and (self.state is None or not self.state.anything):
            raise ValueError(
                "write what the attacker wants: `calls` (any one of them) or `state` (changes)"
            )
        return self


class Attack(Part):
    """The attack that a case of group `injection` is about."""

    goal: Goal
    """What the attacker wants."""
    payloads: Id | None = None
    """A fixture of payloads; without one, and without `text`, the payload stands in the world already."""
    variant: Id | None = None
    """Its variant."""
    variants: Literal["all"] | tuple[Id, ...] | None = None
    """In place of `variant`: these, or all that fit where they are placed. Each becomes a case of its own,
    `case--variant`."""
    asks: str | dict[Language, str] | None = None
    """What the payload asks for, in words: text, or text by language. Stands for `{{asks}}` in the fixture."""
    text: str | None = Field(default=None, min_length=1)
    """The payload itself, in place of a fixture's. (In a stored run: the variant as it was placed.)"""
    place: tuple[Place, ...] = ()
    """Where it is placed; in each of these places."""

    @model_validator(mode="after")
    def _fits_together(self) -> Attack:
        if self.payloads is None:
            for name in ("variant", "variants", "asks"):
                if getattr(self, name) is not None:
                    raise ValueError(f"`{name}` belongs to `payloads`, which names no fixture")
            if (self.text is None) != (not self.place):
                raise ValueError("`text` and `place` need each other: what is placed, and where")
            return self
        if (self.variant is None) == (self.variants is None):
            raise ValueError("write either `variant` (one) or `variants` (`all`, or a list)")
        if self.variants == ():
            raise ValueError("`variants` names none; write `all`, or ids of the fixture's variants")
        if next(placeholders.names(self.asks), None) is not None:
            raise ValueError("`asks` holds no placeholders: it is put in before there is a trial")
        if not self.asks:
            raise ValueError("`asks` is missing: what the payload asks for, in words")
        if not self.place:
            raise ValueError("`place` is missing: where the payload stands")
        return self

    def in_message(self, text: str, turn: int) -> str:
        """A message of the user with the payload, where it is placed there."""
        for place in self.place:
            if isinstance(place, InMessage) and place.turn == turn and self.text is not None:
                text = placed_in(text, self.text, place.how)
        return text


def placed_in(text: str, payload: str, how: How) -> str:
    """A text with the payload, on a line of its own."""
    match how:
        case "replace":
            return payload
        case "prepend":
            return f"{payload}\n{text}" if text else payload
        case "append":
            return f"{text}\n{payload}" if text else payload
