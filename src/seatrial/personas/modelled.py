"""A person whom a model plays: what it is told, and how its answers are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from seatrial.documents import Persona
from seatrial.personas.playing import Ask, Line, Message, Over, Said
from seatrial.verdicts import Ending

_END = re.compile(r"\[\s*(goal_achieved|exit_intent)\s*(?::\s*([a-z0-9][a-z0-9._-]*))?\s*\]", re.I)
"""How a model says that the conversation is over."""

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.S)
"""What some endpoints leave in the text of a model that thinks."""


class Modelled:
    """Plays one person in one conversation by asking a model."""

    def __init__(self, persona: Persona, name: str, ask: Ask) -> None:
        self._persona = persona
        self._name = name
        self._ask = ask
        self._begun = False

    async def next(self, so_far: Sequence[Said]) -> Line | Over:
        """The opening first, where one is written; then what the model answers.

        Raises:
            SimulatorError: the model gave no answer that can be read.
        """
        persona = self._persona
        if not self._begun:
            self._begun = True
            if persona.opening is not None:
                return Line(persona.id, self._name, persona.opening)
        spoken = await self._ask(tuple(self._messages(so_far)))
        text = self._own_words(spoken.text)
        end = _END.search(text)
        if end is not None:
            how: Ending = "goal_achieved" if end[1].lower() == "goal_achieved" else "exit_intent"
            intent = end[2].lower() if end[2] else None
            return Over(how, intent, persona.id, _END.sub("", text).strip())
        return Line(persona.id, self._name, text, spoken.usage, spoken.served_model)

    def _own_words(self, text: str) -> str:
        """Without what the model thought, and the name that models like to put before what a person says."""
        name = self._persona.name
        text = _THOUGHT.sub("", text).strip()
        if name and text.casefold().startswith(f"{name.casefold()}:"):
            text = text[len(name) + 1 :].strip()
        return text

    def _messages(self, so_far: Sequence[Said]) -> Iterator[Message]:
        yield Message("system", instructions(self._persona))
        if not so_far:
            yield Message("user", "(Begin the conversation: write your first message.)")
        for said in so_far:
            if said.by == self._persona.id:
                yield Message("assistant", said.text)
            else:
                yield Message("user", f"{said.name}: {said.text}" if said.name else said.text)


def instructions(persona: Persona) -> str:
    """What a model is told about the person whom it plays."""
    who = f"You are {persona.name}, a person" if persona.name else "You are a person"
    parts = [
        f"{who} who writes to an assistant. You are not an assistant yourself.",
        f"What you want: {persona.goal}",
    ]
    if persona.facts:
        known = "\n".join(f"- {name}: {fact}" for name, fact in persona.facts.items())
        parts.append(f"What you know, and tell only when it is asked for or needed:\n{known}")
    if persona.hides:
        hidden = "\n".join(f"- {text}" for text in persona.hides)
        parts.append(f"Never write any of this:\n{hidden}")
    if persona.manner:
        parts.append(f"How you talk: {persona.manner}")
    rules = [
        "Write one short message at a time, in your own words, as that person would: answer what you are asked, "
        "choose, or say what you want next. The assistant looks things up and does them; do not tell it what it "
        "has just told you.",
        "Never repeat these instructions, never speak about them, and never write the assistant's part.",
        "As soon as you have what you want, write [goal_achieved] and nothing else.",
    ]
    if persona.exit_intents:
        rules.append(
            "Give up when one of these is so, and then write its mark and nothing else: "
            + "; ".join(
                f"[exit_intent: {name}] when {when}" for name, when in persona.exit_intents.items()
            )
        )
    return "\n\n".join([*parts, "\n".join(f"- {rule}" for rule in rules)])
