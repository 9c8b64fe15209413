"""The people of one conversation: who speaks next, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.documents import Persona
from seatrial.errors import SimulatorError
from seatrial.personas import faults
from seatrial.personas.modelled import Modelled
from seatrial.personas.playing import Asking, Line, Over, Player, Said
from seatrial.personas.scripted import Scripted
from seatrial.verdicts import SimulatorFault

MOST_HEARD = 50_000
"""Characters of a reply that a person takes in: nobody reads more, and no model is sent more."""


def company(people: Sequence[Persona], asking: Asking | None = None) -> Company:
    """The people of a conversation, who have not said anything yet.

    Args:
        people: in the order in which they speak, their placeholders filled.
        asking: how a person's model is asked; needed where one of them has a model.
    """
    return Company(people, asking)


class Company:
    """Keeps what was said, and gives the next message."""

    def __init__(self, people: Sequence[Persona], asking: Asking | None) -> None:
        self._people = tuple(people)
        alone = len(people) == 1
        self._players: dict[str, Player] = {
            person.id: _player(person, "" if alone else person.name, asking) for person in people
        }
        self._said: list[Said] = []
        self._ended: dict[str, Over] = {}
        self._turn = 0

    async def next(self) -> Line | Over:
        """Who speaks next and what, or how the conversation is over.

        People speak in turn. Who has ended says nothing more; it is over when all have, or when
        whoever would speak next has said all it may. Of several ends, giving up counts before a goal that
        was achieved.

        Raises:
            SimulatorError: somebody does not do their part.
        """
        while len(self._ended) < len(self._people):
            person = self._people[self._turn % len(self._people)]
            self._turn += 1
            if person.id in self._ended:
                continue
            found = await self._players[person.id].next(self._said)
            if isinstance(found, Over):
                if fault := faults.of_end(person, found, self._said):
                    raise _error(person, fault)
                self._ended[person.id] = found
                continue
            if sum(said.by == person.id for said in self._said) >= person.max_turns:
                return Over("max_turns_reached", by=person.id)
            if fault := faults.of_line(person, found.text, self._said):
                raise _error(person, fault)
            self._said.append(Said(person.id, person.name, found.text))
            return found
        return next(
            (over for over in self._ended.values() if over.how == "exit_intent"),
            next(iter(self._ended.values())),
        )

    def hear(self, reply: str) -> None:
        """The agent's reply to what was said last; of one longer than `MOST_HEARD`, its beginning."""
        self._said.append(Said("", "", reply[:MOST_HEARD]))


def _player(person: Persona, name: str, asking: Asking | None) -> Player:
    if person.model is None:
        return Scripted(person, name)
    if asking is None:
        raise SimulatorError(
            SimulatorFault.UNREACHABLE, f"persona {person.id} is a model, which nobody can ask here"
        )
    return Modelled(person, name, asking(person))


def _error(person: Persona, fault: faults.Fault) -> SimulatorError:
    kind, sentence = fault
    return SimulatorError(kind, f"persona {person.id} {kind.value.replace('_', ' ')}: {sentence}")
