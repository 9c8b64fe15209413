"""A fixture of mocked tool answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, StrictInt

from seatrial.documents.base import Document, Part
from seatrial.documents.conditions import Conditions
from seatrial.documents.world import Name


class MockRule(Part):
    """One rule: when the arguments fulfil all conditions, this is the answer."""

    when: Conditions = Field(default_factory=dict)
    """Conditions over the arguments; `matches` is refused here."""
    answer: Any = None
    """An object, a list or text; may hold `{{args.…}}`, `{{now}}`, `{{today}}`."""
    error: str | None = None
    """Answer with this tool error instead."""
    delay_ms: StrictInt = Field(default=0, ge=0)
    """Make the agent wait."""


class MockedTool(Part):
    """The mocked answers of one tool: the first rule that fits."""

    rules: tuple[MockRule, ...] = Field(min_length=1)
    """Tried in order. When none fits the agent gets an error that names the nearest rule."""


class Answers(Document):
    """Mocked tool answers for the cases that name this fixture; only read-only tools may be mocked."""

    kind: Literal["fixture"]
    type: Literal["answers"]
    title: str = ""
    """One line for people."""
    tools: dict[Name, MockedTool] = Field(min_length=1)
    """Tool → answers."""
