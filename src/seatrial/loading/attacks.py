"""Attacks that could not take place, or that nothing would be learned from; and solutions that fit no world."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.documents import Answers, Attack, Case, Check, Payloads
from seatrial.documents.attack import InAnswer, InFile, InMessage, InObject
from seatrial.documents.checks import (
    AnyOf,
    AsksBack,
    AtLeast,
    CallSequence,
    EndedAs,
    EndState,
    GoldenCalls,
    GoldenReply,
    ObjectExists,
    PythonCheck,
    ReplyContains,
    ReplyMatches,
    ReplyNumber,
    ReplySchema,
    SkillUsed,
    ToolCalled,
    ToolOrder,
)
from seatrial.errors import WorldError
from seatrial.loading.bounds import LONGEST_ID
from seatrial.loading.expectations import most_turns
from seatrial.loading.library import Draft, Found, Library
from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.places import Steps
from seatrial.loading.variants import asked, chosen
from seatrial.state import placing


def attacks(library: Library) -> Found:
    """An injection case without a goal or a legitimate task, an attack in another case, and what fits nothing."""
    for draft, case in library.of(Case):
        for mistake in _of_group(case):
            yield draft, mistake
        if case.attack is not None:
            for mistake in _of_payloads(library, case, case.attack):
                yield draft, mistake
            yield from _of_places(library, draft, case, case.attack)


def _of_group(case: Case) -> Iterator[Mistake]:
    if case.group != "injection":
        if case.attack is not None:
            message = (
                f"an attack belongs to the group `injection`, and this case is of `{case.group}`"
            )
            yield Mistake(("attack",), message, code="attack", on_key=True)
        return
    if case.attack is None:
        message = "an injection case says what its attacker wants: missing key `attack`"
        hint = (
            "Write `attack: {goal: {calls: [{tool: …}]}}`, or a goal with `state: {created: […]}`"
        )
        yield Mistake((), message, hint, "attack")
    if not any(_asks_for_something(check) for _, _, check in case.placed_checks()):
        message = (
            "an injection case also checks that the legitimate task is done, and this one does not"
        )
        hint = (
            "Add a critical check that an agent which does nothing fails: an `end_state` with changes, "
            "`tool_called`, `reply_contains`, …"
        )
        yield Mistake(("checks",), message, hint, "attack", on_key=True)


def _asks_for_something(check: Check) -> bool:
    """Whether a check can only be met by doing something."""
    if check.severity != "critical":
        return False
    match check:
        case ToolCalled() | ToolOrder() | CallSequence() | AnyOf() | AtLeast() | SkillUsed():
            return True
        case ReplyContains() | ReplyMatches() | ReplyNumber() | ReplySchema() | AsksBack():
            return True
        case GoldenCalls():
            return bool(check.calls)
        case GoldenReply():
            return True
        case EndedAs():
            return "goal_achieved" in check.ended
        case ObjectExists(created_during_trial=new):
            return new
        case EndState():
            return check.anything or bool(check.any_of and all(a.anything for a in check.any_of))
        case PythonCheck():
            return True
        case _:
            return False


def _of_payloads(library: Library, case: Case, attack: Attack) -> Iterator[Mistake]:
    """Variants that are not there, do not fit their places, or are asked for in no language of theirs."""
    if attack.payloads is None:
        return
    if "text" in attack.model_fields_set:
        message = "the text comes from the fixture"
        yield Mistake(
            ("attack", "text"), message, "Leave out `text`, or `payloads`", "attack", True
        )
        return
    draft = library.drafts.get(("fixture", attack.payloads))
    if draft is None or not isinstance(draft.document, Payloads):
        return
    payloads = draft.document
    places = {place.at for place in attack.place}
    named: list[tuple[Steps, str]] = []
    if attack.variant is not None:
        named.append((("attack", "variant"), attack.variant))
    elif isinstance(attack.variants, tuple):
        named += ((("attack", "variants", i), v) for i, v in enumerate(attack.variants))
    elif not chosen(attack, payloads):
        message = f"no variant of `{payloads.id}` fits where the payload is placed"
        yield Mistake(("attack", "variants"), message, code="attack")
    for steps, id in named:
        variant = payloads.variant(id)
        if variant is None:
            known = [v.id for v in payloads.variants]
            guess = closest(id, known)
            message = f"fixture `{payloads.id}` has no variant `{cut(id)}`"
            message += f"; did you mean `{guess}`?" if guess else ""
            yield Mistake(steps, message, code="attack")
        elif misfit := sorted(places - set(variant.fits)):
            message = f"variant `{id}` does not fit `at: {misfit[0]}`"
            fitting = ", ".join(f"`{name}`" for name in variant.fits)
            yield Mistake(steps, message, f"It fits {fitting}", "attack")
    unasked = dict.fromkeys(
        v.language for v in chosen(attack, payloads) if asked(attack, v) is None
    )
    if unasked:
        languages = ", ".join(f"`{name}`" for name in unasked)
        message = f"`asks` says nothing in {languages}, the language of a variant"
        yield Mistake(("attack", "asks"), message, code="attack")
    if attack.variants is not None:
        for variant in chosen(attack, payloads):
            id = f"{case.id}--{variant.id}"
            if len(id) > LONGEST_ID:
                message = f"the variant's case `{cut(id, 90)}` has an id of more than {LONGEST_ID} characters"
                yield Mistake(("id",), message, "Shorten the id", "attack")
                break
            if ("case", id) in library.places_of_ids:
                message = f"the variant's case `{id}` is there already, as a case of its own"
                yield Mistake(("id",), message, "Ids are unique per kind", "duplicate-id")


def _of_places(library: Library, draft: Draft, case: Case, attack: Attack) -> Found:
    """Places that are not there."""
    world = library.world_of(case)
    answers = library.drafts.get(("fixture", case.answers or ""))
    for index, place in enumerate(attack.place):
        steps: Steps = ("attack", "place", index)
        try:
            match place:
                case InMessage(turn=turn):
                    turns = most_turns(library, case)
                    if turn > turns:
                        message = f"there is no turn {turn}: the case has {turns}, counted from 1"
                        yield draft, Mistake((*steps, "turn"), message, code="unknown-turn")
                case InObject():
                    if world is not None:
                        placing.in_object(world, place, "payload")
                case InFile():
                    if world is not None:
                        placing.in_file(world, place, "payload")
                case InAnswer():
                    if case.answers is None:
                        message = (
                            "the case has no `answers`, and only mocked answers can hold a payload"
                        )
                        yield draft, Mistake(steps, message, code="attack")
                    elif answers is not None and isinstance(answers.document, Answers):
                        placing.in_answers(answers.document, place, "payload")
        except WorldError as error:
            yield draft, Mistake(steps, error.message, code="attack")
