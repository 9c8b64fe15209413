"""Conversations of several turns: scripts, golden ones, simulated people, and how each of them ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests import bike_shop
from tests.shop_trials import carried_out

from seatrial import runner
from seatrial.checks.again import grade_again
from seatrial.documents import Case, Persona
from seatrial.records import TrialRecord
from seatrial.trace import Noted, Said, Trace
from seatrial.verdicts import Cause, Finding, SimulatorFault, Status, Verdict

AGENTS = Path(__file__).parents[1] / "agents"
RENTED = {"type": "bike", "key": "b-1", "properties": {"status": "rented", "renter": "Ada"}}
ADA: dict[str, Any] = {
    "opening": "Hello, I would like to rent a bike.",
    "rules": [
        {"when": {"contains": "which bike", "asks": True}, "say": "b-1, please."},
        {"when": {"contains": "name"}, "say": "I am Ada."},
        {"when": {"contains": "is rented out to you"}, "ends": "goal_achieved"},
        {"when": {"any_of": ["cannot", "sorry"]}, "ends": "exit_intent", "intent": "refused"},
    ],
    "exit_intents": {"refused": "the clerk refuses"},
}
"""Tells which bike and her name when she is asked."""


def persona(id: str = "ada", **changes: Any) -> Persona:
    raw = {
        "kind": "fixture",
        "type": "persona",
        "id": id,
        "goal": "Have bike b-1 in her name.",
        **ADA,
    }
    return Persona.model_validate({**raw, **changes})


def spoken(**changes: Any) -> Case:
    """A case in which Ada talks."""
    checks = [
        {"check": "end_state", "changed": [RENTED]},
        {"check": "ended_as", "ended": "goal_achieved"},
    ]
    raw = bike_shop.case(checks=checks).model_dump(mode="json", exclude_unset=True, by_alias=True)
    del raw["task"]
    return Case.model_validate({**raw, "persona": "ada", **changes})


def scripted(**changes: Any) -> Case:
    raw = bike_shop.case().model_dump(mode="json", exclude_unset=True, by_alias=True)
    del raw["task"]
    return Case.model_validate({**raw, **changes})


def tried(
    tmp_path: Path, case: Case | list[Case], agent: str, *people: Persona, trials: int = 1
) -> list[tuple[TrialRecord, Trace]]:
    arm = bike_shop.arm("x", {"type": "python", "target": f"talkers:{agent}"})
    catalog = bike_shop.catalog(*(case if isinstance(case, list) else [case]), arm)
    fixtures = {**catalog.fixtures, **{person.id: person for person in people}}
    (tmp_path / "talkers.py").write_bytes((AGENTS / "talkers.py").read_bytes())
    return carried_out(tmp_path, replace(catalog, fixtures=fixtures), trials=trials)


def said(trace: Trace) -> list[str]:
    return [event.text for event in trace.events if isinstance(event, Said)]


def failing(record: TrialRecord) -> list[Finding]:
    return [f for f in record.findings if f.status is Status.FAILED]


# --- scripts ---


def test_a_failing_turn_names_its_turn_its_call_and_its_check(tmp_path: Path):
    case = scripted(
        turns=[
            {
                "say": "Is b-1 free?",
                "checks": [
                    {"check": "tool_not_called", "tool": "rent"},
                    {"check": "reply_contains", "text": "free"},
                ],
            },
            {"say": "I am Ada. I take b-1."},
        ],
    )

    ((record, _),) = tried(tmp_path, case, "rents_at_once")

    assert record.verdict is Verdict.FAILED
    first, second, *_ = failing(record)
    assert (first.path, first.check, first.turn, first.call) == (
        "turns[0].checks[0]",
        "tool_not_called",
        1,
        1,
    )
    assert (second.path, second.turn) == ("turns[0].checks[1]", 1)


def test_a_script_goes_on_after_a_failed_turn(tmp_path: Path):
    turn = {"checks": [{"check": "reply_contains", "text": "never said"}]}
    case = scripted(turns=[{"say": "One.", **turn}, {"say": "Two."}, {"say": "Three."}])

    ((_, trace),) = tried(tmp_path, case, "echoes")

    assert said(trace) == ["One.", "Two.", "Three."]


def test_a_script_that_is_to_stop_ends_with_the_turn_that_failed(tmp_path: Path):
    def turn(say: str, wanted: str) -> dict[str, Any]:
        return {"say": say, "checks": [{"check": "reply_contains", "text": wanted}]}

    turns = [turn("One.", "One"), turn("Two.", "never said"), turn("Three.", "Three")]

    ((record, trace),) = tried(tmp_path, scripted(turns=turns, on_failed_turn="stop"), "echoes")

    assert said(trace) == ["One.", "Two."]
    assert any(isinstance(e, Noted) and "turn 2 failed" in e.text for e in trace.events)
    by_path = {f.path: f.status for f in record.findings}
    assert [by_path[f"turns[{n}].checks[0]"] for n in range(3)] == [
        Status.PASSED,
        Status.FAILED,
        Status.SKIPPED,
    ]
    assert (record.verdict, trace.ended) == (Verdict.FAILED, "completed")


def test_a_turn_has_a_time_limit_of_its_own(tmp_path: Path):
    case = scripted(turns=[{"say": "Hi."}, {"say": "Go on.", "seconds": 0.1}])

    ((record, _),) = tried(tmp_path, case, "is_slow_in_turn_two")

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.TIME)
    assert record.detail == "no reply within 0.1 s (turn 2)"


def test_each_message_says_which_of_several_people_speaks(tmp_path: Path):
    case = scripted(
        speakers={"customer": "Ada Berg", "colleague": "Jo, workshop"},
        turns=[
            {"by": "customer", "say": "Is b-1 free?"},
            {"by": "colleague", "say": "It has a flat tyre."},
        ],
    )

    ((_, trace),) = tried(tmp_path, case, "echoes")

    assert said(trace) == ["Ada Berg: Is b-1 free?", "Jo, workshop: It has a flat tyre."]
    assert [e.by for e in trace.events if isinstance(e, Said)] == ["customer", "colleague"]
    assert trace.replies[1].text == "You said: Jo, workshop: It has a flat tyre."


# --- golden conversations ---

GOLDEN = [
    {
        "say": "Can I have b-1?",
        "calls": [{"tool": "get_bike", "arguments": {"bike": "b-1"}}],
        "reply": "b-1 is free. Do you want it?",
    },
    {
        "say": "Yes, b-1 please. I am Ada.",
        "calls": [{"tool": "rent", "arguments": {"bike": "b-1", "renter": "Ada"}}],
        "reply": "You have b-1 now.",
    },
]


def test_a_conversation_that_goes_as_the_golden_one_passes(tmp_path: Path):
    case = scripted(golden=GOLDEN, checks=[{"check": "end_state", "changed": [RENTED]}])

    ((record, _),) = tried(tmp_path, case, "looks_then_rents")

    assert record.verdict is Verdict.PASSED, record.detail
    assert [f.path for f in record.findings] == [
        "golden[0].calls",
        "golden[0].reply",
        "golden[1].calls",
        "golden[1].reply",
        "checks[0]",
    ]


def test_a_deviation_from_a_golden_conversation_is_told_at_its_step_and_the_script_goes_on(
    tmp_path: Path,
):
    ((record, trace),) = tried(tmp_path, scripted(golden=GOLDEN, checks=[]), "rents_at_once")

    assert said(trace) == [step["say"] for step in GOLDEN]
    assert [(f.path, f.turn) for f in failing(record)] == [
        ("golden[0].calls", 1),
        ("golden[1].calls", 2),
    ]
    assert 'get_bike with bike equals "b-1" was never called' in failing(record)[0].reason


# --- simulated people ---


def test_a_person_answers_what_it_is_asked_and_ends_when_its_goal_is_achieved(tmp_path: Path):
    ((record, trace),) = tried(tmp_path, spoken(), "asks_which", persona())

    assert said(trace) == [ADA["opening"], "b-1, please.", "I am Ada."]
    assert (trace.ended_as, trace.exit_intent) == ("goal_achieved", None)
    assert record.verdict is Verdict.PASSED, record.detail
    assert (record.simulated, record.simulator_fault, record.retried) == (True, None, ())
    (ended,) = (f for f in record.findings if f.check == "ended_as")
    assert ended.reason == "the conversation ended as goal_achieved after turn 3"


def test_a_person_that_gives_up_says_why(tmp_path: Path):
    ended = {"check": "ended_as", "ended": "exit_intent", "intent": "refused"}

    ((record, trace),) = tried(tmp_path, spoken(checks=[ended]), "refuses", persona())

    assert (trace.ended_as, trace.exit_intent) == ("exit_intent", "refused")
    assert record.verdict is Verdict.PASSED


def test_a_conversation_that_leads_nowhere_ends_at_the_most_turns_and_fails(tmp_path: Path):
    person = persona(rules=[], otherwise="Please go on.", max_turns=3)

    ((record, trace),) = tried(tmp_path, spoken(), "echoes", person)

    assert trace.ended_as == "max_turns_reached"
    assert len(trace.replies) == 3
    assert record.verdict is Verdict.FAILED
    assert any(f.check == "ended_as" and f.turn == 3 for f in failing(record))


def test_several_people_speak_in_turn_and_the_agent_reads_their_names(tmp_path: Path):
    ada = persona(name="Ada Berg")
    jo = persona(
        "jo",
        name="Jo",
        goal="Say that b-2 is out.",
        opening="b-2 is out, by the way.",
        rules=[{"ends": "goal_achieved"}],
        exit_intents={},
    )

    ((record, trace),) = tried(tmp_path, spoken(persona=["ada", "jo"]), "asks_which", ada, jo)

    assert said(trace)[:3] == [
        f"Ada Berg: {ADA['opening']}",
        "Jo: b-2 is out, by the way.",
        "Ada Berg: I am Ada.",
    ]
    assert [e.by for e in trace.events if isinstance(e, Said)][:3] == ["ada", "jo", "ada"]
    # The clerk took what Jo said for the wish.
    assert (record.verdict, trace.ended_as) == (Verdict.FAILED, "exit_intent")


def test_a_person_is_filled_with_the_trials_own_token(tmp_path: Path):
    rules = [
        {"when": {"contains": "bike", "asks": True}, "say": "b-1, please. I am {{run}}."},
        {"ends": "goal_achieved"},
    ]
    mine = {**RENTED, "properties": {"renter": "{{run}}", "status": "rented"}}
    case = spoken(checks=[{"check": "end_state", "changed": [mine]}])

    ended = tried(tmp_path, case, "asks_which", persona(rules=rules, exit_intents={}), trials=3)

    assert [record.verdict for record, _ in ended] == [Verdict.PASSED] * 3
    assert len({trace.changes for _, trace in ended}) == 3


def test_how_a_conversation_ended_is_graded_again_from_what_is_stored(tmp_path: Path):
    arm = bike_shop.arm("x", {"type": "python", "target": "talkers:asks_which"})
    catalog = bike_shop.catalog(spoken(), arm)
    catalog = replace(catalog, fixtures={**catalog.fixtures, "ada": persona()})

    ((record, trace),) = tried(tmp_path, spoken(), "asks_which", persona())

    again = grade_again(catalog, trace)
    assert [(f.path, f.status, f.reason) for f in again] == [
        (f.path, f.status, f.reason) for f in record.findings
    ]


@pytest.mark.parametrize("case", ["task", "turns"])
def test_how_a_conversation_ended_is_not_asked_where_nobody_is_simulated(tmp_path: Path, case: str):
    checks = [{"check": "ended_as", "ended": "goal_achieved"}]
    instruction: dict[str, Any] = {"task": "Hi."} if case == "task" else {"turns": [{"say": "Hi."}]}

    ((record, _),) = tried(tmp_path, scripted(checks=checks, **instruction), "echoes")

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.NO_EVIDENCE)
    assert record.findings[0].status is Status.SKIPPED
    assert "no simulated person took part" in record.findings[0].reason


# --- what is wrong with a simulated person ---


@pytest.mark.parametrize(
    ("changes", "fault", "told"),
    [
        (
            {"rules": [{"ends": "goal_achieved"}], "min_turns": 2, "exit_intents": {}},
            SimulatorFault.STOPS_EARLY,
            "it ends after 1 of at least 2 messages",
        ),
        (
            {
                "rules": [{"ends": "goal_achieved"}],
                "achieved_when": {"contains": "rented"},
                "exit_intents": {},
            },
            SimulatorFault.STOPS_EARLY,
            "its goal is achieved, and no reply shows that",
        ),
        (
            {"rules": [{"when": {"contains": "goodbye"}, "say": "Bye."}], "exit_intents": {}},
            SimulatorFault.SAYS_NOTHING,
            "no rule for this reply",
        ),
        (
            {"opening": "Have bike b-1 in her name, please."},
            SimulatorFault.REVEALS_GOAL,
            "it recites its goal",
        ),
        (
            {"opening": "As an AI language model I would like a bike."},
            SimulatorFault.LEAVES_ROLE,
            "it says 'as an ai'",
        ),
    ],
)
def test_a_fault_of_the_simulated_person_is_no_fault_of_the_agent(
    tmp_path: Path, changes: dict[str, Any], fault: SimulatorFault, told: str
):
    ((record, trace),) = tried(tmp_path, spoken(), "echoes", persona(**changes))

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.SIMULATOR)
    assert record.simulator_fault is fault
    assert told in record.detail
    assert trace.ended == "broken"
    # Held three times in all, each in a world of its own.
    assert [(r.cause, r.simulator_fault) for r in record.retried] == [(Cause.SIMULATOR, fault)] * 2


def test_a_trial_that_a_person_spoilt_is_run_again_with_a_note(tmp_path: Path):
    """Which reply the clerk gives hangs on the token of the attempt: another one each time."""
    # A token begins with one of a..z and 2..7; nobody has written what to say to the second half.
    easy = [f"I am {letter}" for letter in "abcdefghijklmnop"]
    rules = [{"when": {"any_of": easy}, "ends": "goal_achieved"}]
    person = persona(opening="I am {{run}}.", rules=rules, max_turns=3, exit_intents={})
    case = spoken(checks=[{"check": "ended_as", "ended": "goal_achieved"}])

    cases = [case.model_copy(update={"id": f"spoken-{number}"}) for number in range(40)]
    ended = tried(tmp_path, cases, "echoes", person)

    again = [record for record, _ in ended if record.retried]
    assert again
    assert all(r.simulator_fault is SimulatorFault.SAYS_NOTHING for a in again for r in a.retried)
    recovered = [record for record in again if record.verdict is Verdict.PASSED]
    assert recovered
    assert len({trace.run_token for _, trace in ended}) == 40
    for record, trace in ended:
        spoilt_for_good = record.simulator_fault is not None
        assert spoilt_for_good == (trace.run_token[0] in "qrstuvwxyz234567")


def test_what_was_forbidden_stays_in_the_record_whatever_the_person_did(tmp_path: Path):
    """A trial with a violation is not run again: nothing that a rerun shows would clear it."""
    person = persona(rules=[{"when": {"contains": "goodbye"}, "say": "Bye."}], exit_intents={})
    arm = bike_shop.arm("x", {"type": "python", "target": "shop_agents:scraps"})
    catalog = bike_shop.catalog(spoken(), arm)
    catalog = replace(catalog, fixtures={**catalog.fixtures, "ada": person})

    (tmp_path / "shop_agents.py").write_bytes((AGENTS / "shop_agents.py").read_bytes())

    ((record, _),) = carried_out(tmp_path, catalog)

    assert (record.cause, record.violations, record.retried) == (Cause.SIMULATOR, 1, ())


# --- words and deeds over several turns ---


def test_a_claim_in_a_turn_before_the_change_is_a_claim_without_a_change(tmp_path: Path):
    case = scripted(
        turns=[{"say": "b-1, please."}, {"say": "Is it mine?"}],
        checks=[{"check": "claimed_without_change"}, {"check": "end_state", "changed": [RENTED]}],
    )

    ((record, _),) = tried(tmp_path, case, "claims_first")

    (failed,) = failing(record)
    assert (failed.check, failed.turn) == ("claimed_without_change", 1)
    assert "the first change came in turn 2" in failed.reason


def test_a_question_back_is_asked_for_in_the_turn_that_needs_it(tmp_path: Path):
    case = scripted(
        turns=[
            {"say": "A bike, please.", "checks": [{"check": "asks_back"}]},
            {"say": "b-1. I am Ada.", "checks": [{"check": "asks_back", "severity": "info"}]},
        ],
        checks=[{"check": "end_state", "changed": [RENTED]}],
    )

    ((record, _),) = tried(tmp_path, case, "asks_which")

    assert record.verdict is Verdict.PASSED, record.detail
    assert [f.status for f in record.findings if f.check == "asks_back"] == [
        Status.PASSED,
        Status.FAILED,
    ]


# --- what proves a case in which somebody talks ---


def prove(case: Case, *people: Persona) -> runner.Proof:
    catalog = bike_shop.catalog(case)
    fixtures = {**catalog.fixtures, **{person.id: person for person in people}}
    equipment = runner.equip([], AGENTS, cases=[case])
    (proof,) = anyio.run(
        lambda: runner.prove(
            replace(catalog, fixtures=fixtures), [case], equipment, run="proving-9"
        )
    )
    return proof


SOLUTION = {
    "turns": [
        {"reply": "Which bike would you like?"},
        {"reply": "And your name?"},
        {
            "calls": [{"tool": "rent", "arguments": {"bike": "b-1", "renter": "Ada"}}],
            "reply": "Bike b-1 is rented out to you.",
        },
    ]
}


def test_the_reference_talks_with_a_person_by_its_solution():
    proof = prove(spoken(solution=SOLUTION), persona())

    assert proof.reference is not None
    assert proof.reference.verdict is Verdict.PASSED, proof.reference.detail
    assert proof.weak is not True


def test_a_person_with_a_model_is_not_asked_while_a_case_is_proved():
    model = {"name": "small-1", "url": "http://127.0.0.1:9/v1"}
    person = persona(rules=[], model=model)

    proof = prove(spoken(solution=SOLUTION), person)

    assert proof.reference is not None
    assert proof.reference.verdict is Verdict.PASSED, proof.reference.detail
    assert proof.weak is False


def test_a_case_is_weak_in_which_a_person_has_what_it_wants_from_somebody_who_does_nothing():
    person = persona(rules=[{"ends": "goal_achieved"}], exit_intents={})
    case = spoken(checks=[{"check": "ended_as", "ended": "goal_achieved"}])

    assert prove(case, person).weak is True
