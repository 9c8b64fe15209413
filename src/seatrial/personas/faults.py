"""What is wrong with a simulated person's part, found by rules: the agent is never to blame for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seatrial.checks.replies import readable
from seatrial.documents import Persona
from seatrial.personas.hearing import fits
from seatrial.personas.playing import Over, Said
from seatrial.verdicts import SimulatorFault

Fault = tuple[SimulatorFault, str]
"""What is wrong, and a sentence about it."""

WORDS_IN_A_ROW = 8
"""Of the goal, in the same order: a person who says so many recites what it was told."""
ECHO, HALF_AN_ECHO = 0.9, 0.5
"""Shares of a message's runs of three words that stand in the agent's last reply. Who takes up an offer says many
of its words (`book the train at 08:10 from Northport to Eastbay`), but not nearly all of them and no others."""
FEWEST_ECHOED = 8
"""A message of fewer words may be a quotation as a whole (`the train at 08:10`)."""
FEWEST_WORDS = 4
"""A goal of fewer words is told by everybody who says what they want."""

_OUT_OF_ROLE = re.compile(
    r"\b(?:as|i am|i'm|being) an? (?:ai\b|artificial intelligence|(?:large )?language model|"
    r"(?:virtual|ai|digital) assistant\b|chatbot)"
    r"|\bhow (?:can|may) i (?:help|assist) you\b"
    r"|\banything else i can (?:help|assist) (?:you )?with\b"
    r"|\b(?:system prompt|my persona|i (?:was|am|have been) instructed to)\b"
    r"|\b(?:role-?play(?:ing)?|simulat(?:ed|ing) (?:user|person|customer|conversation))\b"
    r"|\[\s*(?:goal_achieved|exit_intent|instructions?|system)\b"
)
_PART_OF_ANOTHER = re.compile(r"(?m)^\s*(?:assistant|agent|system|user|ai)\s*:", re.I)
"""A line that writes somebody else's part."""


def of_line(persona: Persona, text: str, so_far: Sequence[Said]) -> Fault | None:
    """What is wrong with a message, given all that was said before it; None where nothing is."""
    if not readable(text):
        return SimulatorFault.SAYS_NOTHING, "the message is empty"
    said = readable(text)
    role = _OUT_OF_ROLE.search(said) or _PART_OF_ANOTHER.search(text)
    if role is not None:
        return SimulatorFault.LEAVES_ROLE, f"it says {role[0].strip()!r}"
    for hidden in persona.hides:
        if readable(hidden) in said:
            return SimulatorFault.REVEALS_GOAL, f"it says {hidden!r}, which it hides"
    if (recited := _recited(persona.goal, text)) is not None:
        return SimulatorFault.REVEALS_GOAL, f"it recites its goal: {recited!r}"
    return _repetition(persona, said, so_far) if persona.model is not None else None


def of_end(persona: Persona, over: Over, so_far: Sequence[Said]) -> Fault | None:
    """What is wrong with ending the conversation now; None where nothing is."""
    own = sum(said.by == persona.id for said in so_far)
    replies = [said.text for said in so_far if not said.by]
    early = SimulatorFault.STOPS_EARLY
    if not replies or own < persona.min_turns:
        return early, f"it ends after {own} of at least {persona.min_turns} messages"
    shown = persona.achieved_when is None or any(fits(persona.achieved_when, r) for r in replies)
    if over.how == "goal_achieved" and not shown:
        return early, "it says that its goal is achieved, and no reply shows that"
    gives_up = over.how == "exit_intent" and persona.model is not None
    if gives_up and over.intent not in persona.exit_intents:
        named = f"{over.intent!r}" if over.intent else "none"
        return early, f"it gives up for a reason that it does not have ({named})"
    return None


def _recited(goal: str, text: str) -> str | None:
    """The longest run of the goal's words in a message, where it is long enough to be the goal's."""
    wanted, said = (re.findall(r"\w+", readable(t)) for t in (goal, text))
    length = min(WORDS_IN_A_ROW, len(wanted))
    if length < FEWEST_WORDS:
        return None
    runs = {tuple(wanted[at : at + length]) for at in range(len(wanted) - length + 1)}
    for at in range(len(said) - length + 1):
        if tuple(said[at : at + length]) in runs:
            return " ".join(said[at : at + length])
    return None


def _repetition(persona: Persona, said: str, so_far: Sequence[Said]) -> Fault | None:
    """A message that the person said just before, or twice already, or that is the agent's last reply.

    To an agent that answers the same to the same, a person may well say the same again; but not one
    whose message only gives the agent its own words back, which leads nowhere by itself.
    """
    own: list[tuple[str, str]] = []
    reply = ""
    for one in so_far:
        if not one.by:
            reply = readable(one.text)
        elif one.by == persona.id:
            own.append((readable(one.text), reply))
    echoed = _share(said, reply)
    if echoed >= ECHO:
        return SimulatorFault.REPEATS_ITSELF, "it gives the agent its last reply back"
    again = [
        at
        for at, (text, heard) in enumerate(own)
        if text == said and (heard != reply or echoed >= HALF_AN_ECHO)
    ]
    if again and (again[-1] == len(own) - 1 or len(again) > 1):
        return (
            SimulatorFault.REPEATS_ITSELF,
            f"it says what it said in its message {again[-1] + 1}, and nothing that the agent could go on by",
        )
    return None


def _share(said: str, reply: str) -> float:
    """The share of a message's runs of three words that stand in a reply; 0 for a short message."""
    mine, theirs = (re.findall(r"\w+", text) for text in (said, reply))
    if len(mine) < FEWEST_ECHOED:
        return 0.0
    runs = list(zip(mine, mine[1:], mine[2:], strict=False))
    known = set(zip(theirs, theirs[1:], theirs[2:], strict=False))
    return sum(run in known for run in runs) / len(runs)
