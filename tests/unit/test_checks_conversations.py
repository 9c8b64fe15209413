"""The checks of golden conversations and of how a conversation ended."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import TypeAdapter
from tests.sides import side
from tests.traces import called, replied, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.compare import compare
from seatrial.documents import Check, Persona, Policy
from seatrial.gate import rule
from seatrial.personas import faults
from seatrial.personas.playing import Said
from seatrial.records import Retried
from seatrial.verdicts import Cause, Gate, SimulatorFault

READ: TypeAdapter[Check] = TypeAdapter(Check)


def answer(check, *events, turn=None, **of_trace):
    found = checks.find(
        READ.validate_python(check),
        Scope(trace=trace(*events).model_copy(update=of_trace), turn=turn),
    )
    return found.status.value, found.reason


# --- golden replies ---


@pytest.mark.parametrize(
    "reply",
    [
        "You get 49.90 back for o-1001.",
        "For O-1001 you get 49.9 euros.",
        "o\u20111001: **49.90**!",
    ],
)
def test_a_reply_with_the_same_facts_is_as_good_as_the_reviewed_one(reply):
    check = {"check": "golden_reply", "text": "Order o-1001: 49.90 euros come back."}

    assert answer(check, said(), replied(reply))[0] == "passed"


@pytest.mark.parametrize(
    ("reply", "lacks"),
    [
        ("You get 49.90 back.", "'o-1001'"),
        ("o-1001: 149.90", "'49.90'"),
        ("Your order o-10011 gives 49.90.", "'o-1001'"),
    ],
)
def test_a_fact_that_is_missing_is_named(reply, lacks):
    check = {"check": "golden_reply", "text": "Order o-1001: 49.90 euros come back."}

    status, reason = answer(check, said(), replied(reply))

    assert status == "failed"
    assert f"lacks {lacks} of the reviewed one" in reason


def test_the_same_words_are_the_same_whatever_their_quotes_and_spaces():
    check = {"check": "golden_reply", "text": "It's   done.", "match": "exact"}

    assert answer(check, said(), replied("it\u2019s done."))[0] == "passed"
    assert answer(check, said(), replied("It's done. Bye."))[0] == "failed"


def test_without_a_reply_there_is_nothing_to_compare():
    check = {"check": "golden_reply", "text": "b-1"}

    assert answer(check, said())[0] == "skipped"


# --- golden calls ---


def test_further_calls_may_only_read_unless_the_step_says_otherwise():
    wanted = {"check": "golden_calls", "calls": ["refund"]}
    reads = called("look", read_only=True)
    unknown = called("send")

    assert answer(wanted, said(), reads, called("refund"))[0] == "passed"
    status, reason = answer(wanted, said(), unknown, called("refund"))
    assert (status, "send was called as well" in reason) == ("failed", True)
    assert answer({**wanted, "others": "none"}, said(), reads, called("refund"))[0] == "failed"
    assert answer({**wanted, "others": "any"}, said(), unknown, called("refund"))[0] == "passed"


def test_a_call_that_is_expected_once_and_made_twice_is_one_too_many():
    wanted = {"check": "golden_calls", "calls": ["refund"]}

    assert answer(wanted, said(), called("refund"), called("refund"))[0] == "failed"


def test_no_calls_means_that_only_reading_belongs_there():
    wanted = {"check": "golden_calls", "calls": []}

    assert answer(wanted, said(), called("look", read_only=True), replied())[0] == "passed"
    assert answer(wanted, said(), called("refund"), replied())[0] == "failed"


# --- how it ended ---


@pytest.mark.parametrize(
    ("asked", "ended", "status"),
    [
        ({"ended": "goal_achieved"}, ("goal_achieved", None), "passed"),
        ({"ended": "goal_achieved"}, ("max_turns_reached", None), "failed"),
        ({"ended": ["goal_achieved", "exit_intent"]}, ("exit_intent", "dear"), "passed"),
        ({"ended": "exit_intent", "intent": "dear"}, ("exit_intent", "dear"), "passed"),
        ({"ended": "exit_intent", "intent": "dear"}, ("exit_intent", "late"), "failed"),
        ({"ended": "goal_achieved"}, (None, None), "skipped"),
    ],
)
def test_how_a_conversation_ended_is_held_against_how_it_should(asked, ended, status):
    check = {"check": "ended_as", **asked}

    found = answer(check, said(), replied("Bye."), ended_as=ended[0], exit_intent=ended[1])

    assert found[0] == status


def test_a_conversation_that_the_agent_cut_short_did_not_end_as_it_should():
    check = {"check": "ended_as", "ended": "goal_achieved"}

    status, reason = answer(check, said(), called("look"), ended="call_limit")

    assert (status, "call limit" in reason) == ("failed", True)


# --- what simulated people spoil ---


def test_how_often_people_spoil_conversations_is_told_for_both_sides():
    spoilt = Retried(
        cause=Cause.SIMULATOR, detail="x", simulator_fault=SimulatorFault.REPEATS_ITSELF
    )
    here = side({"a": "pppp"}, required=("a",))
    first, *others = (r.model_copy(update={"simulated": True}) for r in here.records)
    records = (first.model_copy(update={"retried": (spoilt,)}), *others)
    base = side({"a": "p" * 20}, arm="released", required=("a",))
    base = replace(
        base, records=tuple(r.model_copy(update={"simulated": True}) for r in base.records)
    )

    comparison = compare(base, replace(here, records=records), Policy())
    ruling = rule(comparison)

    told = comparison.simulation["candidate"]
    assert (told.conversations, told.spoilt, told.rate) == (5, {"repeats_itself": 1}, 0.2)
    (ground,) = (g for g in ruling.grounds if g.kind == "simulator_faults")
    assert ground.effect == "note"
    assert "1 of the candidate's 5 conversations (20.0 %: repeats itself 1)" in ground.text
    assert "0 of the baseline's 20 conversations" in ground.text
    assert ruling.ruling is Gate.OPEN


def test_an_agent_that_makes_people_spoil_conversations_is_warned_of():
    spoilt = Retried(cause=Cause.SIMULATOR, detail="x", simulator_fault=SimulatorFault.LEAVES_ROLE)
    here = side({"a": "pppp"}, required=("a",))
    records = tuple(
        r.model_copy(update={"simulated": True, "retried": (spoilt, spoilt)}) for r in here.records
    )
    base = side({"a": "p" * 20}, arm="released", required=("a",))
    base = replace(
        base, records=tuple(r.model_copy(update={"simulated": True}) for r in base.records)
    )

    ruling = rule(compare(base, replace(here, records=records), Policy()))

    (ground,) = (g for g in ruling.grounds if g.kind == "simulator_faults")
    assert ground.effect == "warning"
    assert "spoilt more often" in ground.text


def test_nothing_is_said_where_nobody_is_simulated():
    base = side({"a": "p" * 20}, arm="released", required=("a",))
    comparison = compare(base, side({"a": "pppp"}, required=("a",)), Policy())

    assert comparison.simulation == {}
    assert "simulator_faults" not in {g.kind for g in rule(comparison).grounds}


# --- what a person may well say ---


@pytest.mark.parametrize(
    "text",
    [
        "I work as an assistant to the manager.",
        "Please follow my instructions this time.",
        "I need help with my order.",
        "Can I help it if the parcel is late?",
    ],
)
def test_what_people_really_say_is_no_fault(text):
    person = Persona.model_validate({
        "kind": "fixture", "type": "persona", "id": "ada", "goal": "Be in Eastbay on the 13th.",
        "opening": "Hello.", "otherwise": "Go on.",
    })  # fmt: skip

    assert faults.of_line(person, text, ()) is None


@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model I cannot travel.",
        "I'm a virtual assistant.",
        "I was instructed to ask for a train.",
        "How may I assist you today?",
        "Thanks!\nAgent: You are welcome.",
    ],
)
def test_what_only_a_model_says_leaves_the_role(text):
    person = Persona.model_validate({
        "kind": "fixture", "type": "persona", "id": "ada", "goal": "Be in Eastbay on the 13th.",
        "opening": "Hello.", "otherwise": "Go on.",
    })  # fmt: skip

    found = faults.of_line(person, text, ())

    assert found is not None
    assert found[0] is SimulatorFault.LEAVES_ROLE


# As a model of half a billion parameters did it: it told the agent what the agent had just told it.
OFFER = (
    "On 12 May there are:\n- train at 08:10 from Northport to Eastbay for 48\n"
    "- train at 14:30 from Northport to Eastbay for 39"
)
PARROTED = "On 12 May there are two trains: train at 08:10 from Northport to Eastbay for 48"


def of_model(text, *so_far):
    person = Persona.model_validate({
        "kind": "fixture", "type": "persona", "id": "ada", "goal": "Be in Eastbay on the 13th.",
        "model": {"name": "m-1", "url": "http://127.0.0.1:1/v1"},
    })  # fmt: skip
    said = [Said("ada" if at % 2 == 0 else "", "", one) for at, one in enumerate(so_far)]
    found = faults.of_line(person, text, said)
    return None if found is None else found[0]


def test_a_person_that_only_gives_the_agent_its_words_back_repeats_itself():
    assert of_model(OFFER, "Which trains?", OFFER) is SimulatorFault.REPEATS_ITSELF
    # Once it may be a misunderstanding; said again it leads nowhere, whatever the agent answers.
    assert of_model(PARROTED, "Which trains?", OFFER) is None
    assert (
        of_model(PARROTED, "Which trains?", OFFER, PARROTED, OFFER) is SimulatorFault.REPEATS_ITSELF
    )


@pytest.mark.parametrize(
    "text",
    [
        "Book the train at 08:10.",
        "Please book the train at 08:10 from Northport to Eastbay for 48.",
    ],
)
def test_a_person_may_take_an_offer_up_in_its_own_words(text):
    assert of_model(text, "Which trains?", OFFER) is None


def test_a_person_may_say_the_same_again_to_an_agent_that_asks_the_same_again():
    stuck = ("Hello.", "Which trip is it for?", "It is t-1.", "Which trip is it for?")

    assert of_model("It is t-1.", *stuck) is None
    assert of_model("It is t-1.", *stuck[:-1], "On which day?") is SimulatorFault.REPEATS_ITSELF
