"""What the tokens of several models cost, written once for all arms and people that they play."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from seatrial.documents.arm import ModelPrices
from seatrial.documents.base import Date, Document


class PriceList(Document):
    """Prices by model: `prices: ID` in an arm, or of a person's model, takes those of its pinned model from here."""

    kind: Literal["fixture"]
    type: Literal["prices"]
    title: str = ""
    """One line for people."""
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    """Of all of them, for example EUR or USD."""
    models: dict[Annotated[str, Field(min_length=1)], ModelPrices] = Field(min_length=1)
    """The pinned name of a model → what a million of its tokens cost."""
    reviewed: Date | None = None
    """When a person last held it against what the provider says."""
