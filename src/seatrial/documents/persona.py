"""A fixture of a person: who talks to the agent where a case does not write each message out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, StrictBool, StrictFloat, StrictInt, field_validator, model_validator

from seatrial.documents import placeholders
from seatrial.documents.arm import Model, PricesOrList
from seatrial.documents.base import Document, Id, Part, Texts
from seatrial.verdicts import Ending

MOST_TURNS = 100
"""Of one conversation: more than anybody has patience for."""

_OWN_KEYS = frozenset({"model", "messages", "temperature", "max_tokens", "seed", "stream", "n"})


class Heard(Part):
    """What a reply of the agent is like; all that is written must hold.

    There are no regular expressions: a reply is an agent's, and everybody would wait while one is looked for in it.
    """

    contains: Texts = ()
    """All these texts, without regard to case and runs of white space; one text or a list."""
    any_of: Texts = ()
    """At least one of these texts."""
    not_contains: Texts = ()
    """None of these texts."""
    asks: StrictBool | None = None
    """`true`: it asks a question. `false`: it asks none."""

    @model_validator(mode="after")
    def _says_something(self) -> Heard:
        if not self.model_fields_set:
            raise ValueError("says nothing of the reply; write what it is like, or leave it out")
        for text in (*self.contains, *self.any_of, *self.not_contains):
            if not text.strip():
                raise ValueError("every reply contains a blank text; write the words to look for")
        return self


class PersonRule(Part):
    """What a person without a model does after a reply: says something, or ends the conversation."""

    when: Heard | None = None
    """What the reply is like; left out: whatever it is."""
    say: str = ""
    """What the person says then; may hold `{{run}}`, `{{today}}` and `{{now}}`."""
    ends: Literal["goal_achieved", "exit_intent"] | None = None
    """In place of `say`: the conversation is over, and this is how."""
    intent: Id | None = None
    """For `exit_intent`: which of the person's `exit_intents`."""
    times: StrictInt = Field(default=1, ge=1, le=MOST_TURNS)
    """How often the rule is used in one conversation; then the ones after it are looked at."""

    @model_validator(mode="after")
    def _says_or_ends(self) -> PersonRule:
        if bool(self.say.strip()) == (self.ends is not None):
            raise ValueError("write either `say` or `ends`: after the end nobody says anything")
        if self.intent is not None and self.ends != "exit_intent":
            raise ValueError("`intent` goes with `ends: exit_intent`")
        return self


class PersonModel(Model):
    """The pinned model that plays a person, at an endpoint as OpenAI's chat completions.

    Where another one is served the trial is invalid (`simulator`).
    """

    url: str = Field(pattern=r"^https?://[^?#\s]+$")
    """Base URL of the endpoint, to which `/chat/completions` is added."""
    key: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The name of the environment variable that holds the key, never the key itself."""
    temperature: StrictFloat | StrictInt = Field(default=0.0, ge=0, le=2)
    """How freely it chooses its words."""
    seed: StrictInt | Literal["trial"] | None = None
    """`trial`: the trial's own seed, another one when the conversation is held again. Left out: none is sent."""
    max_tokens: StrictInt = Field(default=300, ge=1)
    """Of one message."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further keys of each request, as the endpoint takes them."""
    seconds: StrictFloat | StrictInt = Field(default=60.0, gt=0)
    """How long one message may take; then the trial is invalid (`simulator`)."""
    prices: PricesOrList | None = None
    """What its tokens cost, or the fixture of type `prices` that has those of its model. They count into the budget,
    and are told apart from the agent's. No part of the fingerprint."""

    @field_validator("extra_body")
    @classmethod
    def _says_nothing_twice(cls, extra: dict[str, Any]) -> dict[str, Any]:
        own = sorted(extra.keys() & _OWN_KEYS)
        if own:
            raise ValueError(f"Seatrial itself writes {', '.join(own)}; use the model's own keys")
        return extra

    @field_validator("url")
    @classmethod
    def _leads_to_a_host(cls, url: str) -> str:
        try:
            host, _ = urlsplit(url).hostname, urlsplit(url).port
        except ValueError as error:  # a port that is none
            raise ValueError(f"{url} is no address: {error}") from error
        if not host:
            raise ValueError(f"{url} is no address: it names no host")
        return url


class Persona(Document):
    """A person who talks to the agent: played by rules (`rules`), or by a model (`model`)."""

    kind: Literal["fixture"]
    type: Literal["persona"]
    title: str = ""
    """One line for people; neither the agent nor the model sees it."""
    name: str = ""
    """What the person is called; agents read it before each message where several people speak."""
    goal: str = Field(min_length=1)
    """What the person wants. The agent is never told it in these words: that is a fault of the simulation."""
    facts: dict[str, str] = Field(default_factory=dict)
    """What the person knows and may tell, by name."""
    hides: Texts = ()
    """Texts that the person never says; one that does gives the goal away."""
    manner: str = ""
    """How the person talks; for a model."""
    exit_intents: dict[Id, str] = Field(default_factory=dict)
    """Why the person would give up: name → when that is so."""
    opening: str | None = Field(default=None, min_length=1)
    """The first message; must be there with `rules`, otherwise the model writes it."""
    achieved_when: Heard | None = None
    """What some reply must be like before the goal can be achieved; who ends earlier stops too early."""
    min_turns: StrictInt = Field(default=1, ge=1, le=MOST_TURNS)
    """Turns before which no end is believed; who ends earlier stops too early."""
    max_turns: StrictInt = Field(default=10, ge=1, le=MOST_TURNS)
    """Messages of this person, at most; a conversation that goes on is ended there (`max_turns_reached`)."""
    rules: tuple[PersonRule, ...] = ()
    """What a person without a model does after each reply: the first rule that fits and is not used up."""
    otherwise: str | None = Field(default=None, min_length=1)
    """What a person without a model says where no rule fits; without it that is a fault of the simulation."""
    model: PersonModel | None = None
    """The model that plays the person."""

    @model_validator(mode="after")
    def _is_played_one_way(self) -> Persona:
        if self.model is not None and (self.rules or self.otherwise is not None):
            raise ValueError(
                "a person is played by `rules` (with `otherwise`) or by a `model`, not by both"
            )
        if self.model is None and not self.rules and self.otherwise is None:
            raise ValueError("says nothing of how the person is played: write `rules` or `model`")
        if self.model is None and self.opening is None:
            raise ValueError("a person without a model needs an `opening`, its first message")
        if self.min_turns > self.max_turns:
            raise ValueError("`min_turns` is more than `max_turns`: no conversation could end well")
        return self

    @model_validator(mode="after")
    def _ends_as_it_may(self) -> Persona:
        for number, rule in enumerate(self.rules):
            if rule.ends != "exit_intent":
                continue
            if rule.intent is not None and rule.intent not in self.exit_intents:
                known = ", ".join(f"`{name}`" for name in self.exit_intents) or "none"
                raise ValueError(
                    f"rules[{number}]: `{rule.intent}` is none of the person's `exit_intents` ({known})"
                )
            if rule.intent is None and self.exit_intents:
                raise ValueError(
                    f"rules[{number}]: which of the `exit_intents` is it? write `intent`"
                )
        return self

    @model_validator(mode="after")
    def _keeps_what_it_hides(self) -> Persona:
        said = [self.opening or "", self.otherwise or "", *(rule.say for rule in self.rules)]
        for text in self.hides:
            plain = " ".join(text.casefold().split())
            if not plain:
                raise ValueError("`hides` contains a blank text, which everybody says")
            if any(plain in " ".join(message.casefold().split()) for message in said):
                raise ValueError(f"the person says {text!r}, which it `hides`")
        return self

    @property
    def endings(self) -> frozenset[Ending]:
        """How a conversation with this person can end, as far as the document says."""
        if self.model is not None:
            given_up: set[Ending] = {"exit_intent"} if self.exit_intents else set()
            return frozenset({"goal_achieved", "max_turns_reached", *given_up})
        return frozenset({"max_turns_reached", *(rule.ends for rule in self.rules if rule.ends)})

    def stand_in(self, turns: int | None) -> Persona:
        """A person without a model in the place of one with a model, for a rehearsal without asking anybody.

        Args:
            turns: after so many messages its goal is achieved; None: it says one message, and that is all.
        """
        going_on = "Please go on."
        rules = (
            PersonRule(say=going_on, times=turns - 1) if turns and turns > 1 else None,
            PersonRule(ends="goal_achieved") if turns else None,
        )
        return Persona(
            kind="fixture",
            type="persona",
            id=self.id,
            name=self.name,
            goal=going_on,
            opening=self.opening or going_on,
            rules=tuple(rule for rule in rules if rule is not None),
            otherwise=going_on,
            max_turns=turns or 1,
        )

    def variables(self) -> tuple[str, ...]:
        """Environment variables that it needs; their values are secrets."""
        return (self.model.key,) if self.model is not None and self.model.key else ()

    def filled(self, lookup: Mapping[str, Any]) -> Persona:
        """The person with what a trial stands for and the values of a matrix put into all it knows and says."""
        raw = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if next(placeholders.names(raw), None) is None:
            return self
        return Persona.model_validate(placeholders.fill(raw, lookup.__getitem__))
