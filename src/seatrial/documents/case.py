"""A case: an instruction, a starting state, and the checks that grade what was done."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator
from pydantic.json_schema import SkipJsonSchema

from seatrial.documents import placeholders
from seatrial.documents.attack import Attack
from seatrial.documents.base import MOST_TRIALS, Date, Document, Id, Part
from seatrial.documents.checks import OF_THE_END, Check, PythonCheck
from seatrial.documents.golden import GoldenStep
from seatrial.documents.matrix import Expansion, Matrix
from seatrial.documents.solution import Solution, SolutionTurn

Group = Literal["task", "boundary", "clarify", "injection", "purpose"]
GROUPS: tuple[Group, ...] = ("task", "boundary", "clarify", "injection", "purpose")


def _one_or_many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Ids = Annotated[
    tuple[Id, ...],
    BeforeValidator(_one_or_many, json_schema_input_type=Id | list[Id]),
]
"""One id or a list of ids."""


class Provenance(Part):
    """Who wrote the case, and where its answer lives."""

    source: Literal["hand", "synthesized", "production"]
    """How the case came to be."""
    author: str = ""
    """Who wrote it."""
    date: Date | None = None
    """When."""
    answer: str = ""
    """Where the right answer can be looked up."""


class Quarantine(Part):
    """Why a required case must not block a change for a while, and who sees to it."""

    owner: str = Field(min_length=1)
    """Who sees to it."""
    reason: str = Field(min_length=1)
    """What is wrong with the case."""
    until: Date
    """The last day; after it `seatrial check` refuses the case until somebody decides anew."""


class Turn(Part):
    """One scripted message of a person, and what must hold after the reply."""

    say: str = Field(min_length=1)
    """What the person says."""
    by: Id | None = None
    """Who says it, one of the case's `speakers`."""
    seconds: StrictFloat | StrictInt | None = Field(default=None, gt=0)
    """For the reply of this turn; `limits.turn_seconds` when left out."""
    checks: tuple[Check, ...] = ()
    """Checks over the calls and the reply of this turn alone (what the world ended up as is a matter of
    the case)."""


COST = r"^[0-9]+(?:\.[0-9]+)? ?[A-Z]{3}$"
"""An amount and its currency."""


class Limits(Part):
    """How far a trial may go."""

    turn_seconds: StrictFloat | None = Field(default=None, gt=0)
    """For one reply; a slower agent makes the trial invalid (time)."""
    trial_seconds: StrictFloat | None = Field(default=None, gt=0)
    """For the whole trial."""
    calls: StrictInt | None = Field(default=None, ge=1)
    """Tool calls; more are refused and fail the trial."""
    tokens: StrictInt | None = Field(default=None, ge=1)
    """Tokens that the agent reads and writes; more fail the trial, and after the reply with which it took them nothing
    more is said. A trial whose agent reports none is invalid (no_evidence)."""
    cost: str | None = Field(default=None, pattern=COST)
    """What these tokens may cost by the `prices` of the arm, for example `0.05 EUR`; more fails the trial, as more
    tokens do. Without prices in this currency the trial is invalid (no_evidence)."""


class Case(Document):
    """One situation an agent is put into, and how what it does is graded."""

    not_written: ClassVar[frozenset[str]] = frozenset({"expansion"})
    """Keys that nobody writes: the loader adds them."""

    kind: Literal["case"]
    title: str = Field(min_length=1)
    """One line for people: what the case asks."""
    matrix: Matrix | None = None
    """Named values: the case stands for one case for each combination of them."""
    expansion: Annotated[Expansion | None, SkipJsonSchema()] = None
    """For a case that a matrix expands to: of which case, and the values."""
    group: Group
    """task, boundary, clarify, injection or purpose."""
    required: StrictBool = False
    """The gate never opens when this case is shown worse, or could not be run."""
    negative: StrictBool = False
    """The right answer is a refusal, an admission of ignorance, or a question back."""
    agent: Id
    """The agent it is for; arms name the same."""
    world: Id
    """The world fixture it starts from."""
    role: str | None = None
    """The role the agent acts under; the world's roles say what it may do. Left out only in a world
    without roles, where everything is allowed."""
    purpose: str | None = None
    """The purpose the role acts under, one of its `purposes`; without one, what the world locks by purpose
    is not read."""
    see_refused: StrictBool | None = None
    """Whether tools beyond the role's rights are listed, and refused when called; as the role says when left
    out."""
    answers: Id | None = None
    """A fixture of mocked tool answers."""
    servers: tuple[Id, ...] = ()
    """Fixtures of type `server`: real MCP servers whose tools the agent has beside those of the world."""
    version: str | None = Field(default=None, min_length=1)
    """The version of the agent that answers it, also where another one is run, unless `--agent-version` says
    otherwise. Left out: whichever is run."""
    environment: Id = "test"
    """Where it is run, as far as its servers are concerned: their `targets` say what answers there. In one
    named `prod`, `production` or `live` nothing is mocked."""
    task: str | None = Field(default=None, min_length=1)
    """The instruction, when it is one message."""
    turns: tuple[Turn, ...] = ()
    """The scripted conversation, when it is more than one message."""
    golden: tuple[GoldenStep, ...] = ()
    """A reviewed conversation, when what the agent does is held against it step by step."""
    persona: Ids = ()
    """Fixtures of type `persona`: the people who talk to the agent, when nobody writes their messages
    beforehand. Several speak in turn, in this order."""
    speakers: dict[Id, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    """The people of a written conversation, when there are several: name in `by` → name that the agent reads
    before each message."""
    on_failed_turn: Literal["go_on", "stop"] = "go_on"
    """What comes after a turn that failed a critical check of its own. go_on: the script goes on as it is
    written. stop: the conversation ends there, and later turns are not graded."""
    checks: tuple[Check, ...] = ()
    """What the whole trial is held against."""
    attack: Attack | None = None
    """For the group `injection`: what the attacker wants, and the payload, where it does not stand in the
    world already."""
    solution: Solution | None = None
    """What a right agent does, for `seatrial check --prove`; worked out from the checks when left out."""
    weak: str | None = Field(default=None, min_length=1)
    """Why the case may stay though an agent that does nothing passes it. Weak cases never carry a gate
    alone."""
    limits: Limits = Limits()
    """How far a trial of this case may go."""
    trials: StrictInt | None = Field(default=None, ge=1, le=MOST_TRIALS)
    """Trials of this case; the suite says when left out."""
    owner: str = ""
    """Who answers for the case."""
    tags: tuple[str, ...] = ()
    """Free words to select by."""
    priority: StrictInt = 0
    """Higher runs earlier, after the required cases."""
    requirements: tuple[str, ...] = ()
    """Ids of the requirements or defects it stands for."""
    provenance: Provenance | None = None
    """Who wrote it, and where its answer lives."""
    reviewed: Date | None = None
    """When a person last looked at it."""
    quarantine: Quarantine | None = None
    """For a while it is run and told, does not count as required, and is in no mean; forbidden actions count as ever.
    It takes effect once the base revision says so too: no change puts a case that it breaks into quarantine."""

    @model_validator(mode="after")
    def _one_instruction_and_some_check(self) -> Case:
        ways = (self.task is not None, bool(self.turns), bool(self.golden), bool(self.persona))
        if sum(ways) != 1:
            raise ValueError(
                "a case has one of `task` (one message), `turns` (several), `golden` (a reviewed conversation) "
                "and `persona` (somebody who talks)"
            )
        placed = self.placed_checks()
        if not any(check.severity == "critical" for _, _, check in placed):
            raise ValueError("a case needs at least one check of severity critical")
        for _, turn, check in placed:
            if turn is not None and check.check in OF_THE_END:
                raise ValueError(
                    f"turn {turn}: `{check.check}` belongs under the case's own `checks`"
                )
        self._says_who_speaks()
        self._refuse_turns_that_never_come(placed)
        self._has_a_solution_for_each_turn()
        return self

    def _says_who_speaks(self) -> None:
        if self.speakers and not (self.turns or self.golden):
            raise ValueError(
                "`speakers` belong to `turns` or `golden`, whose messages say `by` whom"
            )
        written: tuple[Turn | GoldenStep, ...] = self.turns or self.golden
        for number, step in enumerate(written, 1):
            if step.by is None and self.speakers:
                raise ValueError(
                    f"turn {number}: there are `speakers`, and it does not say `by` whom"
                )
            if step.by is not None and step.by not in self.speakers:
                known = ", ".join(f"`{name}`" for name in self.speakers) or "none"
                raise ValueError(
                    f"turn {number}: `{step.by}` is none of the case's `speakers` ({known})"
                )
        unheard = [name for name in self.speakers if all(s.by != name for s in written)]
        if unheard:
            raise ValueError(f"speakers: `{unheard[0]}` never says anything")
        if len(set(self.persona)) < len(self.persona):
            raise ValueError("persona: names somebody twice")
        if self.on_failed_turn == "stop" and not (self.turns or self.golden):
            raise ValueError("`on_failed_turn` belongs to `turns` or `golden`")

    def _has_a_solution_for_each_turn(self) -> None:
        solution = self.solution
        if solution is None:
            return
        alone = bool(solution.calls or solution.reply)
        if self.persona:
            if alone and solution.turns:
                raise ValueError(
                    "solution: write either `calls` and `reply` (all in the first turn) or `turns`"
                )
            return
        turns = len(self.turns or self.golden)
        if turns and alone:
            raise ValueError(
                "solution: the case has `turns`; write `turns` with `calls` and `reply` for each of them"
            )
        if not turns and solution.turns:
            raise ValueError("solution: the case has one message; write `calls` and `reply`")
        if len(solution.turns) != turns:
            raise ValueError(
                f"solution: the case has {turns} turns, and it has {len(solution.turns)}"
            )

    def _refuse_turns_that_never_come(
        self, placed: tuple[tuple[str, int | None, Check], ...]
    ) -> None:
        """A check of the reply of such a turn would be skipped in every trial."""
        for path, own, check in placed:
            if "turn" not in type(check).model_fields:
                continue  # asking a model for what it lacks costs more than the rest of a case
            asked = getattr(check, "turn", None)
            if isinstance(asked, int) and own not in (None, asked):
                raise ValueError(f"{path}: this check sees turn {own} alone, never turn {asked}")
            last = len(self.turns or self.golden)
            if isinstance(asked, int) and last and asked > last:
                raise ValueError(f"{path}: there is no turn {asked}, the last is {last}")

    @property
    def fixtures(self) -> tuple[Id, ...]:
        """Every fixture that it leans on."""
        answers = () if self.answers is None else (self.answers,)
        return (self.world, *answers, *self.servers, *self.persona)

    @property
    def script(self) -> tuple[Turn | GoldenStep, ...]:
        """The turns that are written, in order; none where somebody talks whose messages nobody wrote."""
        if self.task is not None:
            return (Turn.model_construct(say=self.task),)
        return self.turns or self.golden

    @property
    def messages(self) -> tuple[str, ...]:
        """What the agent is told, turn by turn, as far as it is written."""
        return tuple(
            self.told(step.say, turn, self.speakers[step.by] if step.by is not None else "")
            for turn, step in enumerate(self.script, 1)
        )

    def told(self, text: str, turn: int, speaker: str = "") -> str:
        """A message as the agent reads it: with the payload, where one is placed there, and its speaker."""
        if self.attack is not None:
            text = self.attack.in_message(text, turn)
        return f"{speaker}: {text}" if speaker else text

    @property
    def solution_turns(self) -> tuple[SolutionTurn, ...]:
        """The written solution, turn by turn; empty when there is none."""
        if self.solution is None:
            return ()
        return self.solution.turns or (self.solution,)

    @property
    def written_as(self) -> str:
        """The id of the case as it stands in its file: of a variant or an expansion, that of the case it is one of."""
        return self.names[-1]

    @property
    def names(self) -> tuple[str, ...]:
        """What stands for the case, each once: its id, that without the variant of its payload, that as written."""
        variant = self.attack.variant if self.attack else None
        alike = self.id.removesuffix(f"--{variant}") if variant else self.id
        written = self.expansion.of if self.expansion else alike
        return tuple(dict.fromkeys((self.id, alike, written)))

    @property
    def lookup(self) -> dict[str, Any]:
        """What the placeholders stand for that an expansion adds to those of each trial, by name."""
        return placeholders.of_matrix(self.expansion.values) if self.expansion else {}

    def placed_checks(self) -> tuple[tuple[str, int | None, Check], ...]:
        """Each check with its path in the document and the turn it is limited to."""
        own = tuple((f"checks[{i}]", None, c) for i, c in enumerate(self.checks))
        scripted = tuple(
            (f"turns[{t}].checks[{i}]", t + 1, c)
            for t, turn in enumerate(self.turns)
            for i, c in enumerate(turn.checks)
        )
        reviewed = tuple(
            (f"golden[{t}].{key}", t + 1, check)
            for t, step in enumerate(self.golden)
            for key, check in step.graded()
        )
        return scripted + reviewed + own

    def functions(self) -> dict[str, PythonCheck]:
        """The checks that are functions of the repository, by their path."""
        return {p: check for p, _, check in self.placed_checks() if isinstance(check, PythonCheck)}

    def check_files(self) -> tuple[str, ...]:
        """Patterns of the files behind those checks."""
        return tuple(pattern for check in self.functions().values() for pattern in check.leans_on)

    def filled(self, lookup: dict[str, Any]) -> Case:
        """The case with `{{run}}`, `{{today}}` and `{{now}}` replaced throughout, but for its solution.

        That is filled while it is carried out: what earlier calls gave stands in it too.
        """
        raw = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        solution = {name: raw.pop(name) for name in ("solution",) if name in raw}
        if next(placeholders.names(raw), None) is None:
            return self
        return Case.model_validate(placeholders.fill(raw, lookup.__getitem__) | solution)
