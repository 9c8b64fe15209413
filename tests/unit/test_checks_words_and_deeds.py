"""`claimed_without_change` and `asks_back`: what the agent says, held against what it did."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter
from tests.traces import called, changed, created, replied, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.documents import Check

READ: TypeAdapter[Check] = TypeAdapter(Check)


def answer(check, *events, changes=(), turn=None, **asked):
    read = READ.validate_python({"check": check, **asked})
    found = checks.find(read, Scope(trace=trace(said(), *events, changes=changes), turn=turn))
    return found.status.value, found.reason


def claimed(text, changes=(), **asked):
    return answer("claimed_without_change", replied(text), changes=changes, **asked)


REFUND = created("refund", "r-1", amount=35)


def test_a_claim_without_any_change_fails_and_is_quoted():
    assert claimed("Good news. I've refunded the 35 euros.") == (
        "failed",
        'the reply of turn 1 says "i\'ve refunded the 35 euros.", but nothing has changed',
    )
    assert claimed("I've refunded the 35 euros.", [REFUND])[0] == "passed"
    assert claimed("I've refunded the 35 euros.", None)[0] == "skipped"


@pytest.mark.parametrize(
    "text",
    [
        "Your order has been cancelled.",
        "I have successfully updated your address!",
        "Done: the ticket was closed",
        "I’ve now issued the refund",
        "All set! Enjoy your trip.",
        "The payment was processed successfully.",
        "We just sent the invitation",
        "Your booking is confirmed and the seats are reserved.",
    ],
)
def test_usual_claims_are_known(text):
    assert claimed(text)[0] == "failed"


@pytest.mark.parametrize(
    "text",
    [
        "I have not refunded anything.",
        "Your order could not be cancelled.",
        "I can only refund orders that were paid in full.",
        "I'll refund it once you have sent the number.",
        "Would you like me to cancel it? Nothing has been changed.",
        "Unfortunately I was unable to update the address.",
        "I checked the order: it costs 35 euros.",
        "Has it been refunded?",
        "Refunds have to be approved by a manager.",
        "",
    ],
)
def test_refusals_conditions_plans_and_questions_claim_nothing(text):
    assert claimed(text) == (
        "passed",
        "1 reply looked at, none says that something was done",
    )


def test_only_a_change_of_the_types_named_makes_a_claim_true():
    logged = [created("log", "l-1")]

    assert claimed("I've refunded it.", logged)[0] == "passed"
    assert claimed("I've refunded it.", logged, types=["refund"]) == (
        "failed",
        'the reply of turn 1 says "i\'ve refunded it.", but nothing of refund has changed',
    )


def test_a_case_can_say_what_a_claim_reads_like():
    german = {"says": ["ist erstattet", "wurde storniert"]}

    assert claimed("Der Betrag ist  erstattet.", **german) == (
        "failed",
        "the reply of turn 1 says 'ist erstattet', but nothing has changed",
    )
    assert claimed("I've refunded it.", **german)[0] == "passed"


def test_without_a_reply_nothing_was_claimed_and_nothing_is_known():
    assert answer("claimed_without_change", called("look")) == (
        "skipped",
        "the agent gave no reply, so nothing was claimed in one",
    )


def test_in_one_turn_the_calls_tell_whether_something_changed():
    first = [replied("I've cancelled it."), said("And the other?")]
    second = [called("cancel", changed=True), replied("I've cancelled that one too.")]
    changes = [changed("order", "o-2", "state", "open", "cancelled")]

    def of_turn(turn, *events):
        return answer("claimed_without_change", *events, changes=changes, turn=turn)

    assert of_turn(1, *first, *second)[0] == "failed"
    assert of_turn(2, *first, *second) == (
        "passed",
        'the reply of turn 2 says "i\'ve cancelled that one too.", and something changed: cancel '
        "changed the world (call 1, turn 2)",
    )
    elsewhere = called("cancel", answered_by="server")
    assert of_turn(1, elsewhere, *first)[0] == "skipped"
    looked = called("look", answered_by="server", read_only=True)
    assert of_turn(1, looked, *first)[0] == "failed"


# --- asks_back ---


def asked(text, changes=(), **more):
    return answer("asks_back", replied(text), changes=changes, **more)


@pytest.mark.parametrize(
    "text",
    [
        "Which order do you mean?",
        "I found two orders.\n\nWhich one do you mean, o-1 or o-2?",
        "Could you give me the order number? I'll look into it then.",
        "Which of these do you mean?\n\n- o-1 (drill)\n- o-2 (saw)",
        "**Which order do you mean?**",
        "どの注文ですか？",
        "ما هو رقم الطلب؟",
    ],
)
def test_a_reply_that_ends_with_a_question_asks_back(text):
    status, reason = asked(text)

    assert (status, reason.endswith(", and nothing has changed")) == ("passed", True)


@pytest.mark.parametrize(
    "text",
    [
        "I need the order number.",
        "Which order?\n\nI will take the first one and refund it.",
        "I've looked at it. Is there anything else I can help you with?",
        "See https://example.com/find?order=1 for more.",
        "```\nwhat?\n```",
        "",
    ],
)
def test_a_statement_courtesy_an_address_or_code_asks_nothing(text):
    assert asked(text) == (
        "failed",
        "the reply of turn 1 does not end with a question about the task",
    )


def test_the_question_may_stand_anywhere_when_that_is_asked():
    text = "Which order?\n\nI need it to go on."

    assert asked(text)[0] == "failed"
    assert asked(text, where="anywhere")[0] == "passed"


def test_asking_after_the_deed_is_too_late():
    assert asked("Was that the right one?", [REFUND]) == (
        "failed",
        "the reply of turn 1 asks 'Was that the right one?', but something changed already: "
        "created refund r-1",
    )
    assert asked("Which one?", [created("log", "l-1")], ignore=["log"])[0] == "passed"
    assert asked("Which one?", [changed("order", "o", "seen", 1, 2)], ignore=["order.seen"])[0] == (
        "passed"
    )
    assert asked("Which one?", None)[0] == "skipped"
    assert answer("asks_back")[0] == "skipped"


def test_one_turn_may_ask_and_a_later_one_act():
    events = [
        replied("Which one?"),
        said("o-2"),
        called("cancel", changed=True),
        replied("Cancelled. Was that all?"),
    ]
    changes = [changed("order", "o-2", "state", "open", "cancelled")]

    assert answer("asks_back", *events, changes=changes, turn=1)[0] == "passed"
    assert answer("asks_back", *events, changes=changes, turn=2)[0] == "failed"
