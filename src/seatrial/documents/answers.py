"""A fixture of mocked tool answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, model_validator

from seatrial.documents.base import Document, Part
from seatrial.documents.behaviour import Behaviour, Number
from seatrial.documents.conditions import Conditions, is_schema
from seatrial.documents.world import Name

ToolName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,128}$")]
"""A tool's name, as MCP servers may give one."""

ANSWERS = ("answer", "error", "sequence", "pass_through")
"""Keys of which one says what is answered."""


class Given(Behaviour):
    """What a call is answered with, how that behaves, and what it leaves behind for later calls."""

    answer: Any = None
    """An object, a list or text; may hold `{{args.…}}`, `{{state.…}}`, `{{now}}`, `{{today}}`, `{{uuid}}`. Where the
    tool has an output schema it must fit, and comes as structured content too."""
    error: str | None = Field(default=None, min_length=1)
    """Answer with this tool error instead; may hold placeholders."""
    pass_through: StrictBool = False
    """Let the world or the server answer; delays and what goes wrong on purpose still apply."""
    put: dict[Name, Any] = Field(default_factory=dict)
    """State that the call leaves behind: name → value, may hold placeholders."""
    add: dict[Name, Number] = Field(default_factory=dict)
    """Numbers of the state that grow by so much."""

    @property
    def says(self) -> tuple[str, ...]:
        """The keys, among `ANSWERS`, by which it says what is answered."""
        return tuple(key for key in ANSWERS if key in self.model_fields_set)

    def _check_one_answer(self, *, needed: bool = True) -> None:
        says = self.says
        if len(says) > 1:
            raise ValueError(f"`{says[0]}` and `{says[1]}` exclude each other: write one of them")
        if "pass_through" in says and not self.pass_through:
            raise ValueError("`pass_through: false` says nothing; leave it out")
        if needed and not says and not self.stands_for_an_answer:
            raise ValueError(f"says no answer: write one of {', '.join(f'`{k}`' for k in ANSWERS)}")
        if self.pass_through and (self.put or self.add):
            raise ValueError(
                "`put` and `add` belong to answers of the fixture's own, not to `pass_through`"
            )


class MockStep(Given):
    """One answer of a sequence."""

    @model_validator(mode="after")
    def _says_one_answer(self) -> MockStep:
        self._check_one_answer()
        return self


class Reply(Given):
    """An answer, or a sequence of them."""

    sequence: tuple[MockStep, ...] = Field(default=(), min_length=1)
    """Answers in order: the first call gets the first, and so on. Calls that failed on purpose do not count."""
    at_end: Literal["repeat_last", "start_over", "error"] = "repeat_last"
    """What calls get after the last of the sequence."""

    @model_validator(mode="after")
    def _ends_what_it_has(self) -> Reply:
        if "at_end" in self.model_fields_set and "sequence" not in self.model_fields_set:
            raise ValueError("`at_end` goes with a `sequence`")
        return self


class MockRule(Reply):
    """One rule: when arguments and state fulfil all conditions, this is the answer."""

    when: Conditions = Field(default_factory=dict)
    """Conditions over the arguments; `matches` is refused here."""
    state: Conditions = Field(default_factory=dict)
    """Conditions over the state that earlier calls left behind."""

    @model_validator(mode="after")
    def _says_one_answer(self) -> MockRule:
        self._check_one_answer()
        return self


class WrittenFor(Part):
    """The schemas that answers were written for: where those of the tool no longer fit, the answers are stale."""

    parameters: dict[str, Any] | None = None
    """JSON Schema of the arguments."""
    output: dict[str, Any] | None = None
    """JSON Schema of the structured answer."""

    @model_validator(mode="after")
    def _says_something(self) -> WrittenFor:
        if self.parameters is None and self.output is None:
            raise ValueError("write `parameters`, `output`, or both")
        for schema in (self.parameters, self.output):
            if schema is not None:
                is_schema(schema)
        return self


class MockedTool(Reply):
    """The mocked answers of one tool: the first rule that fits, else its plain answer.

    A tool without a plain answer answers what fits no rule with an error that names the nearest one.
    """

    rules: tuple[MockRule, ...] = ()
    """Tried in order."""
    allow_undeclared: StrictBool = False
    """Mock it though its server does not say whether it only reads."""
    reason: str | None = Field(default=None, min_length=1)
    """Why that is right; shown in the report."""
    written_for: WrittenFor | None = None
    """What the tool declared when the answers were written. When it declares something that they may no longer fit,
    they are refused as stale, with the difference."""

    @model_validator(mode="after")
    def _says_something(self) -> MockedTool:
        self._check_one_answer(needed=not self.rules)
        if self.allow_undeclared and self.reason is None:
            raise ValueError("`allow_undeclared` needs a `reason`, which the report shows")
        if self.reason is not None and not self.allow_undeclared:
            raise ValueError("`reason` goes with `allow_undeclared: true`")
        return self

    @property
    def has_plain_answer(self) -> bool:
        """Calls that fit no rule are answered too."""
        return bool(self.says) or (not self.rules and self.stands_for_an_answer)

    def parts(self) -> Iterator[tuple[str, Given]]:
        """Everything that may answer a call, each with its path inside the tool, in order."""
        for number, rule in enumerate(self.rules):
            yield f"rules[{number}]", rule
            for at, step in enumerate(rule.sequence):
                yield f"rules[{number}].sequence[{at}]", step
        if self.has_plain_answer:
            yield "", self
            for at, step in enumerate(self.sequence):
                yield f"sequence[{at}]", step

    @property
    def invents(self) -> bool:
        """Some call is answered with what is written here, and not by the world or the server."""
        return any(key in ("answer", "error") for _, part in self.parts() for key in part.says)

    @property
    def passes_through(self) -> bool:
        """Some call is answered by the world or the server."""
        return any(part.pass_through for _, part in self.parts())


class Answers(Document):
    """Mocked tool answers for the cases that name this fixture; only read-only tools may be mocked."""

    kind: Literal["fixture"]
    type: Literal["answers"]
    title: str = ""
    """One line for people."""
    state: dict[Name, Any] = Field(default_factory=dict)
    """What `{{state.…}}` stands for when a trial begins; each trial has its own."""
    replay: Literal["strict", "fall_through"] = "strict"
    """What becomes of a call that fits no rule of its tool, where the tool has no plain answer. strict: an error that
    names the nearest rule. fall_through: the world or the server answers."""
    tools: dict[ToolName, MockedTool] = Field(min_length=1)
    """Tool → answers."""

    def tool(self, name: str) -> MockedTool:
        """The answers of one tool, with what `replay` says of calls that fit none of them."""
        tool = self.tools[name]
        if self.replay == "strict" or tool.has_plain_answer:
            return tool
        return tool.model_copy(update={"pass_through": True})

    @property
    def answered_here(self) -> frozenset[str]:
        """Tools of which no call reaches the world or the server."""
        return frozenset(name for name in self.tools if not self.tool(name).passes_through)
