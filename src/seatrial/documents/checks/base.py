"""What all kinds of check share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from seatrial.documents.base import Part
from seatrial.verdicts import Severity

TurnNumber = Annotated[StrictInt, Field(ge=1)]
"""A turn of the conversation, from 1."""

WhichReply = Literal["last", "any"] | TurnNumber
"""The last reply, any reply, or the reply of one turn."""


class CheckPart(Part):
    """What every check may say."""

    severity: Severity = "critical"
    """critical fails the trial, warning is recorded, info is only counted."""
    because: str = ""
    """Why this is expected, shown beside a failure."""
