"""A person without a model: the first rule that fits what the agent replied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from seatrial.documents import Persona
from seatrial.errors import SimulatorError
from seatrial.personas.hearing import fits
from seatrial.personas.playing import Line, Over, Said
from seatrial.verdicts import SimulatorFault


class Scripted:
    """Plays one person in one conversation by its rules."""

    def __init__(self, persona: Persona, name: str) -> None:
        self._persona = persona
        self._name = name
        self._used: Counter[int] = Counter()
        self._begun = False

    async def next(self, so_far: Sequence[Said]) -> Line | Over:
        """The opening first, then what the first rule says that fits the last reply and is not used up."""
        persona = self._persona
        if not self._begun:
            self._begun = True
            assert persona.opening is not None
            return self._line(persona.opening)
        reply = next((said.text for said in reversed(so_far) if not said.by), "")
        for number, rule in enumerate(persona.rules):
            if self._used[number] < rule.times and fits(rule.when, reply):
                self._used[number] += 1
                if rule.ends is not None:
                    return Over(rule.ends, rule.intent, persona.id)
                return self._line(rule.say)
        if persona.otherwise is not None:
            return self._line(persona.otherwise)
        raise SimulatorError(
            SimulatorFault.SAYS_NOTHING,
            f"persona {persona.id} has no rule for this reply, and no `otherwise`",
        )

    def _line(self, text: str) -> Line:
        return Line(self._persona.id, self._name, text)
