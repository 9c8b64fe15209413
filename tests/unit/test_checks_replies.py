"""The checks of replies: texts are compared as people read them."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter
from tests.traces import called, replied, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.documents import Check

READ: TypeAdapter[Check] = TypeAdapter(Check)
TALK = [said(), replied("Your order o-1001 is on its way."), said(), replied("You are welcome.")]


def answer(check, *events, turn=None):
    found = checks.find(READ.validate_python(check), Scope(trace=trace(*events), turn=turn))
    return found.status.value, found.reason, found.turn


def contains(**asked):
    return {"check": "reply_contains", **asked}


def not_contains(**asked):
    return {"check": "reply_not_contains", **asked}


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (
            contains(text="welcome"),
            ("passed", "the reply of turn 2 contains 'welcome'", 2),
        ),
        (
            contains(text=["order", "welcome", "refund"]),
            ("failed", "the reply (turn 2) does not contain 'order', 'refund'", 2),
        ),
        (
            contains(text="WELCOME", any_of=["sorry", "refund"]),
            ("failed", "the reply (turn 2) contains none of 'sorry', 'refund'", 2),
        ),
        (
            contains(text="order", any_of=["sorry"]),
            (
                "failed",
                "the reply (turn 2) does not contain 'order' and contains none of 'sorry'",
                2,
            ),
        ),
        (
            contains(text="o-1001", any_of=["on its way", "lost"], turn="any"),
            ("passed", "the reply of turn 1 contains 'o-1001', 'on its way'", 1),
        ),
        (
            contains(text=["o-1001", "welcome"], turn="any"),
            (
                "failed",
                "no reply contains all that it must; the nearest (turn 2) does not contain 'o-1001'",
                2,
            ),
        ),
        (
            contains(text="order", turn=1),
            ("passed", "the reply of turn 1 contains 'order'", 1),
        ),
        (
            contains(text="order", turn=7),
            ("skipped", "there is no reply in turn 7, so nothing can be looked for in it", None),
        ),
        (
            not_contains(text=["lost", "refund"]),
            ("passed", "2 replies looked at, none contains 'lost' or 'refund'", 2),
        ),
        (
            not_contains(text=["lost", "ORDER"]),
            ("failed", "the reply of turn 1 contains 'ORDER', which no reply may", 1),
        ),
        (
            not_contains(text="order", turn="last"),
            ("passed", "1 reply looked at, none contains 'order'", 2),
        ),
        (
            not_contains(text="order", turn=3),
            ("skipped", "there is no reply in turn 3, so nothing can be looked for in it", None),
        ),
    ],
)
def test_checks_of_replies(check, expected):
    assert answer(check, *TALK) == expected


@pytest.mark.parametrize(
    "check", [contains(text="x"), not_contains(text="x"), contains(text="x", turn=1)]
)
def test_without_any_reply_nothing_is_passed_and_nothing_is_failed(check):
    assert answer(check, said(), called("look")) == (
        "skipped",
        "the agent gave no reply, so nothing can be looked for in it",
        None,
    )


@pytest.mark.parametrize("check", [contains(text="o-1001"), not_contains(text="welcome")])
def test_a_check_of_a_turn_reads_the_reply_of_that_turn_alone(check):
    assert answer(check, *TALK, turn=1)[0] == "passed"
    assert answer(check, *TALK, turn=2)[0] == "failed"


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("can't say", "I CAN\u2019T\n   say."),
        ("can\u2019t", "can't"),
        ("order o-1001", "Order\u00a0o\u20111001"),
        ("straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("fine", "\ufb01ne"),
        ("12", "\uff11\uff12"),
        ("secret", "se\u200bcr\u00adet"),
        ('"no"', "\u201cno\u201d"),
        ("ᾳ", "ΑΙ"),
    ],
)
def test_texts_that_read_alike_are_the_same(asked, written):
    assert answer(contains(text=asked), said(), replied(written))[0] == "passed"
    assert answer(not_contains(text=asked), said(), replied(written))[0] == "failed"


def test_with_case_minded_only_case_and_white_space_are_compared_as_they_stand():
    strict = contains(text="Can't  say", ignore_case=False)

    assert answer(strict, said(), replied("Can\u2019t  say"))[0] == "passed"
    assert answer(strict, said(), replied("can't  say"))[0] == "failed"
    assert answer(strict, said(), replied("Can't say"))[0] == "failed"


def test_an_empty_reply_is_a_reply():
    assert answer(contains(text="x"), said(), replied(""))[0] == "failed"
    assert answer(not_contains(text="x"), said(), replied(""))[0] == "passed"


def test_a_turn_in_which_nothing_was_replied_is_told_so():
    assert answer(contains(text="x"), *TALK[:2], said(), called("look"), turn=2) == (
        "skipped",
        "the agent gave no reply in turn 2, so nothing can be looked for in it",
        None,
    )
