"""Placeholders that stand for nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from seatrial.documents import (
    A2a,
    Answers,
    Arm,
    Case,
    Http,
    Mcp,
    Persona,
    Suite,
    placeholders,
    requests,
)
from seatrial.documents.placeholders import TRIAL_NAMES
from seatrial.documents.solution import called
from seatrial.loading.library import Found, Library
from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.places import Steps

_SOME_DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_OF_CASES = tuple(sorted(TRIAL_NAMES))
_OF_SOLUTIONS = (*_OF_CASES, "calls.1.…")
_OF_CALLS = (*_OF_CASES, "uuid", "args.…", "state.…")


def unknown_placeholders(library: Library) -> Found:
    """Text in double braces that is none of the names known there, or braces that are not closed."""
    for draft, case in library.of(Case):
        if draft.value is None:
            continue
        written = {k: v for k, v in draft.value.items() if k not in ("solution", "expansion")}
        known = (*case.lookup, *_OF_CASES)
        for mistake in _unknown(written, (), TRIAL_NAMES.__contains__, known):
            yield draft, mistake
        for mistake in _of_solution(case, draft.value.get("solution")):
            yield draft, mistake
    for draft, _ in library.of(Persona):
        if draft.value is not None:
            for mistake in _unknown(draft.value, (), _of_conversation, _OF_CASES):
                yield draft, mistake
    for draft, _ in library.of(Answers):
        if draft.value is not None:
            for mistake in _unknown(draft.value, (), _of_call, _OF_CALLS):
                yield draft, mistake
    for draft, arm in library.of(Arm):
        for mistake in _of_arm(arm, draft.value):
            yield draft, mistake
    for draft, _ in library.of(Suite):
        if draft.value is not None:
            for mistake in _unknown(draft.value, (), lambda _: False, ()):
                yield draft, mistake
    yield from _values_of_no_matrix(library)


def _values_of_no_matrix(library: Library) -> Found:
    """A case leans on mocked answers or persons that name a value which the case does not have."""
    named: dict[str, tuple[str, ...]] = {}
    for fixture, document in (*library.of(Answers), *library.of(Persona)):
        found = dict.fromkeys(
            name for name in placeholders.names(fixture.value or ()) if _is_of_matrix(name)
        )
        if found:
            named[document.id] = tuple(found)
    if not named:
        return
    for draft, case in library.of(Case):
        leans_on: list[tuple[Steps, str]] = [
            (("persona", i), id) for i, id in enumerate(case.persona)
        ]
        if case.answers is not None:
            leans_on.append((("answers",), case.answers))
        for steps, id in leans_on:
            for name in named.get(id, ()):
                if name not in case.lookup:
                    guess = closest(name, case.lookup)
                    message = f"fixture `{id}` names `{{{{{cut(name)}}}}}`, which this case has not"
                    message += f"; did you mean `{{{{{guess}}}}}`?" if guess else ""
                    yield draft, Mistake(steps, message, code="unknown-placeholder")


def _is_of_matrix(name: str) -> bool:
    return name.startswith(placeholders.MATRIX)


def _of_conversation(name: str) -> bool:
    return name in TRIAL_NAMES or _is_of_matrix(name)


def _of_solution(case: Case, written: Any) -> Iterator[Mistake]:
    """What a solution names beside the trial's own: parts of what earlier calls gave."""
    if not isinstance(written, dict):
        return
    before = 0
    for number, turn in enumerate(case.solution_turns):
        by_turn = bool(written.get("turns"))
        steps: Steps = ("solution", "turns", number) if by_turn else ("solution",)
        value = written["turns"][number] if by_turn else written
        for index in range(len(turn.calls)):
            yield from _unknown(
                value["calls"][index], (*steps, "calls", index), _of_earlier(before), _OF_SOLUTIONS
            )
            before += 1
        yield from _unknown(
            value.get("reply", ""), (*steps, "reply"), _of_earlier(before), _OF_SOLUTIONS
        )


def _of_arm(arm: Arm, written: Any) -> Iterator[Mistake]:
    """What an arm sends to an agent in a form of its own."""
    adapter = arm.adapter
    if not isinstance(written, dict) or not isinstance(adapter, A2a | Http | Mcp):
        return
    everything = (*requests.OF_TRIAL, *requests.OF_TURN)
    of_trial = tuple(name for name in requests.IN_HEADERS if name not in requests.OF_TURN)
    places: dict[tuple[str, ...], tuple[str, ...]]
    if isinstance(adapter, Mcp):
        places = {("arguments",): everything, ("headers",): of_trial, ("url",): ()}
    elif isinstance(adapter, A2a):
        places = {("metadata",): everything, ("headers",): of_trial, ("url",): (), ("card",): ()}
    else:
        places = {
            ("request",): everything,
            ("url",): requests.IN_ADDRESS,
            # Sent with what begins a conversation, too: before any turn.
            ("headers",): (*of_trial, "session", *(() if adapter.begin else ("turn",))),
            ("begin", "url"): tuple(n for n in requests.IN_ADDRESS if n != "session"),
            ("begin", "body"): requests.OF_TRIAL,
        }
    for steps, names in places.items():
        value: Any = written["adapter"]
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None

        def known(name: str, among: tuple[str, ...] = names) -> bool:
            return bool(among) and requests.is_known(name, among, arm.settings, adapter.pass_env)

        families = (
            *(f"settings.{key}" for key in arm.settings),
            "mcp.url.…",
            *(f"env.{variable}" for variable in adapter.pass_env),
        )
        shown = (*names, *families) if names else ()
        yield from _unknown(value, ("adapter", *steps), known, shown)


def _of_earlier(calls: int) -> Callable[[str], bool]:
    """Whether a name stands for something once so many calls have been made."""

    def known(name: str) -> bool:
        number = called(name)
        return name in TRIAL_NAMES or (number is not None and 1 <= number <= calls)

    return known


def _of_call(name: str) -> bool:
    if name in TRIAL_NAMES or name == "uuid" or _is_of_matrix(name):
        return True
    if name.startswith(("args.", "state.")):
        return not name.endswith(".")
    return placeholders.moved(name, _SOME_DAY) is not None


def _unknown(
    value: Any, steps: Steps, is_known: Callable[[str], bool], known: Iterable[str]
) -> Iterator[Mistake]:
    if isinstance(value, str):
        yield from _in_text(value, steps, is_known, known, on_key=False)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _in_text(key, (*steps, key), is_known, known, on_key=True)
            yield from _unknown(item, (*steps, key), is_known, known)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, (*steps, index), is_known, known)


def _in_text(
    text: str, steps: Steps, is_known: Callable[[str], bool], known: Iterable[str], *, on_key: bool
) -> Iterator[Mistake]:
    if "{{" not in text:
        return
    names = ", ".join(f"`{{{{{name}}}}}`" for name in known)
    hint = f"Known here: {names}" if names else "None is known here"
    for name in placeholders.names(text):
        if _is_of_matrix(name) and name in known:
            message = (
                f"`{{{{{cut(name)}}}}}` stands for nothing here: a value of a matrix names no other"
            )
            yield Mistake(steps, message, "Write it out", "unknown-placeholder", on_key)
        elif not is_known(name):
            guess = closest(name, known)
            message = f"`{{{{{cut(name)}}}}}` stands for nothing" + (
                f"; did you mean `{{{{{guess}}}}}`?" if guess else ""
            )
            yield Mistake(steps, message, "" if guess else hint, "unknown-placeholder", on_key)
    if text.count("{{") > sum(1 for _ in placeholders.names(text)):
        message = "`{{` without its `}}`"
        yield Mistake(steps, message, hint, "unknown-placeholder", on_key)
