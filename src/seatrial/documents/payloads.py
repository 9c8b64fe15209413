"""A fixture of payloads: texts by which an attacker tries to make an agent do something else."""

from __future__ import annotations

import base64
import codecs
import html
from collections.abc import Callable
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import Field, model_validator

from seatrial.documents import placeholders
from seatrial.documents.base import Date, Document, Id, Part

Carrier = Literal["object", "answer", "file", "message"]
CARRIERS: tuple[Carrier, ...] = ("object", "answer", "file", "message")

Encoding = Literal[
    "base64", "hex", "rot13", "percent", "html_entities", "spaced", "zero_width", "tags"
]

Language = Annotated[
    str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", examples=["en", "sr-Latn"])
]
"""A language, as BCP 47 names it."""


class Variant(Part):
    """One payload: an instruction in a language, in a disguise."""

    id: Id
    """Its name, unique in the fixture."""
    text: str = Field(min_length=1)
    """The instruction, readable; `{{asks}}` stands for what the attacker of a case asks for."""
    encode: Encoding | None = None
    """How the text is hidden. base64, hex, rot13, percent and html_entities as the words say; spaced: a blank
    between any two characters; zero_width: an invisible character between any two; tags: invisible altogether,
    in Unicode's tag characters (what is no ASCII is left as it is)."""
    wrap: str = "{{payload}}"
    """What stands around it; `{{payload}}` stands for the text, encoded."""
    disguise: str = Field(min_length=1)
    """What it pretends to be, in a word or two: `none`, `comment`, `quoted mail`, …"""
    language: Language
    """The language of the instruction."""
    fits: tuple[Carrier, ...] = Field(default=CARRIERS, min_length=1)
    """Where it can stand: in an object's text, a tool's answer, a file, or the user's message."""

    @model_validator(mode="after")
    def _carries_its_text(self) -> Variant:
        if set(placeholders.names(self.wrap)) != {"payload"}:
            raise ValueError("`wrap` needs `{{payload}}`, where the text stands, and no other name")
        if set(placeholders.names(self.text)) != {"asks"}:
            raise ValueError(
                "`text` needs `{{asks}}`, for what the attacker of a case asks for, and no other name"
            )
        return self

    def rendered(self, asks: str) -> str:
        """The payload as it is placed, for an attacker who asks for this."""
        text = str(placeholders.fill(self.text, {"asks": asks}.__getitem__))
        encoded = _ENCODINGS[self.encode](text) if self.encode else text
        return str(placeholders.fill(self.wrap, {"payload": encoded}.__getitem__))


class Payloads(Document):
    """Payloads for the cases of group `injection` that name this fixture."""

    kind: Literal["fixture"]
    type: Literal["payloads"]
    title: str = ""
    """One line for people."""
    owner: str = ""
    """Who answers for it."""
    reviewed: Date | None = None
    """When a person last looked at it."""
    variants: tuple[Variant, ...] = Field(min_length=1)
    """The payloads."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> Payloads:
        seen = set[str]()
        for variant in self.variants:
            if variant.id in seen:
                raise ValueError(f"two variants have the id {variant.id!r}")
            seen.add(variant.id)
        return self

    def variant(self, id: str) -> Variant | None:
        """The variant of this id."""
        return next((v for v in self.variants if v.id == id), None)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def _html_entities(text: str) -> str:
    return "".join(f"&#{ord(c)};" if c.isalnum() else html.escape(c) for c in text)


def _tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(c)) if 0x20 <= ord(c) < 0x7F else c for c in text)


_ENCODINGS: dict[Encoding, Callable[[str], str]] = {
    "base64": _base64,
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "percent": lambda text: quote(text, safe=""),
    "html_entities": _html_entities,
    "spaced": " ".join,
    "zero_width": "\u200b".join,
    "tags": _tags,
}
