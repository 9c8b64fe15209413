"""A suite: which cases, how often each, and the gate's policy for them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from seatrial.documents.base import MOST_TRIALS, Document, Id, Part
from seatrial.documents.case import Group


class Selector(Part):
    """Cases by what they are; every word that is written must fit. Or all that another suite has."""

    suite: Id | None = None
    """All that another suite has, in its order; stands alone."""

    tags: tuple[str, ...] = ()
    """All of these tags."""
    group: Group | None = None
    """Of this group."""
    folder: str | None = None
    """In files under this folder, relative to the repository; `*` and `?` stand for anything in a name."""
    required: StrictBool | None = None
    """Required cases only, or only the others."""
    priority: StrictInt | None = None
    """Of this priority or a higher one."""

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> Selector:
        if self.suite is not None and len(self.model_fields_set) > 1:
            raise ValueError(
                "`suite` stands alone: it takes the other suite as it is; write the rest as an entry of its own"
            )
        return self


class Policy(Part):
    """What the gate asks of the cases. Forbidden actions have the target zero, always."""

    profile: Literal["pr", "release"] = "pr"
    """pr: not shown worse. release: shown not worse."""
    alpha: StrictFloat = Field(default=0.01, gt=0, lt=0.5)
    """Chance of a wrong red per pull request, over all required cases together."""
    beta: StrictFloat = Field(default=0.10, gt=0, lt=0.5)
    """Chance to clear a case that dropped by `drop`."""
    drop: StrictFloat = Field(default=0.5, gt=0, le=1)
    """The drop of one required case's pass rate that must be caught."""
    margin: StrictFloat = Field(default=0.05, gt=0, lt=1)
    """How far the mean pass rate of the suite may be lower before it counts as worse."""
    invalid_cap: StrictFloat = Field(default=0.10, ge=0, le=1)
    """Share of invalid trials beyond which the gate is undecided."""


class Selecting(Part):
    """Which cases a change touches, where that is a matter of choice."""

    tools: Literal["listed", "called"] = "listed"
    """Where what agents read of a tool changed. listed: run each case that could list it. called: only those
    that called it in the baseline."""


BUDGET = r"^([0-9]+(?:\.[0-9]+)?) ?(tokens|[A-Z]{3})$"
"""What a run may spend: an amount and a currency, or a number of tokens."""


class Suite(Document):
    """An ordered list of cases, how often each is run, and the gate's policy."""

    kind: Literal["suite"]
    title: str = ""
    """One line for people."""
    cases: tuple[Id | Selector, ...] = Field(min_length=1)
    """Ids of cases, or selectors; in this order, each case once. The id of a case with a matrix stands for all of its
    expansions."""
    arms: tuple[Id, ...] = ()
    """The arms that run it where none is named; left out: all arms of the agents that its cases are for."""
    trials: StrictInt = Field(default=4, ge=1, le=MOST_TRIALS)
    """Trials per case."""
    budget: str | None = Field(default=None, pattern=BUDGET)
    """What a run may spend at most, for example `5 EUR` (by the `prices` of the arms) or `200000 tokens`. Trials that
    no longer fit are not begun, and are invalid (`budget`). `--budget` says otherwise for one run."""
    gate: Policy = Policy()
    """The policy."""
    must_tie: tuple[Id | Selector, ...] = ()
    """Cases of the suite, as ids or selectors, that a change must neither worsen nor better: what it cannot
    touch. They are tested for equality, and one that moves is a warning."""
    select: Selecting = Selecting()
    """How the cases of a run with a base are selected."""
