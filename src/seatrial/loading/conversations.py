"""People who talk in a case: that several can be told apart, and that it can end as the case expects."""

from __future__ import annotations

from seatrial.documents import Case
from seatrial.documents.checks import EndedAs
from seatrial.loading.library import Found, Library
from seatrial.loading.mistakes import Mistake, cut


def people_who_cannot_talk(library: Library) -> Found:
    """Several people without names, and ends that these people never bring about."""
    for draft, case in library.of(Case):
        people = library.personas_of(case)
        if not people:
            continue
        if len(people) > 1:
            for index, person in enumerate(people):
                if not person.name:
                    message = (
                        f"several people speak, and persona `{person.id}` has no `name` that the agent "
                        "could tell it by"
                    )
                    hint = f"Write `name` in fixture `{person.id}`"
                    yield draft, Mistake(("persona", index), message, hint, "persona-without-name")
            names = [person.name for person in people if person.name]
            if len(set(names)) < len(names):
                message = "two of the people who speak have the same `name`"
                yield draft, Mistake(("persona",), message, code="persona-without-name")
        paid = {
            person.model.prices.currency: person.id
            for person in people
            if person.model is not None and person.model.prices is not None
        }
        if len(paid) > 1:
            message = f"the people who speak are paid in {' and '.join(sorted(paid))}"
            hint = "Write the `prices` of their models in one currency"
            yield draft, Mistake(("persona",), message, hint, "several-currencies")
        possible = {ending for person in people for ending in person.endings}
        intents = {intent for person in people for intent in person.exit_intents}
        for index, check in enumerate(case.checks):
            if not isinstance(check, EndedAs):
                continue
            steps = ("checks", index)
            if not possible & set(check.ended):
                message = f"with these people no conversation ends as {' or '.join(check.ended)}"
                hint = f"It can end as {', '.join(sorted(possible))}"
                yield draft, Mistake((*steps, "ended"), message, hint, "unknown-ending")
            elif check.intent is not None and check.intent not in intents:
                message = f"nobody who speaks has an exit intent `{cut(check.intent)}`"
                known = ", ".join(f"`{name}`" for name in sorted(intents))
                hint = f"There are {known}" if known else "There are none"
                yield draft, Mistake((*steps, "intent"), message, hint, "unknown-ending")
