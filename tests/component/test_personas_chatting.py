"""People whom a model plays, against a scripted endpoint: what it is told, and how it goes wrong."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop
from tests.servers import openai_chat
from tests.servers.openai_chat import Fails, Says, Script, Step, in_turn
from tests.shop_trials import carried_out

from seatrial.documents import Case, Persona
from seatrial.errors import UsageError
from seatrial.records import TrialRecord
from seatrial.trace import Noted, Said, Trace
from seatrial.verdicts import Cause, SimulatorFault, Verdict

AGENTS = Path(__file__).parents[1] / "agents"
RENTED = {"type": "bike", "key": "b-1", "properties": {"status": "rented", "renter": "Ada"}}


def persona(url: str, model: dict[str, Any], **changes: Any) -> Persona:
    return Persona.model_validate({
        "kind": "fixture",
        "type": "persona",
        "id": "ada",
        "name": "Ada Berg",
        "goal": "You need a bike for this afternoon, b-1 if it is still to be had.",
        "facts": {"first name": "Ada"},
        "manner": "Short sentences.",
        "exit_intents": {"refused": "the clerk says that it cannot be done"},
        "max_turns": 6,
        "model": {"name": openai_chat.MODEL, "url": url, **model},
        **changes,
    })  # fmt: skip


def case(*checks: dict[str, Any], **more: Any) -> Case:
    return Case.model_validate({
        "kind": "case", "id": "talk", "title": "Somebody talks", "group": "task", "agent": "clerk",
        "world": "bike-shop", "role": "clerk", "persona": "ada",
        "checks": checks or [
            {"check": "end_state", "changed": [RENTED]},
            {"check": "ended_as", "ended": "goal_achieved"},
        ],
        **more,
    })  # fmt: skip


def trial(
    root: Path, script: Script, *, agent: str = "asks_which", model: dict[str, Any] | None = None,
    key: str | None = None, checks: tuple[dict[str, Any], ...] = (),
    limits: dict[str, Any] | None = None, budget: str | None = None, **changes: Any,
) -> tuple[TrialRecord, Trace, openai_chat.Model]:  # fmt: skip
    (root / "talkers.py").write_bytes((AGENTS / "talkers.py").read_bytes())
    arm = bike_shop.arm("x", {"type": "python", "target": f"talkers:{agent}"})
    catalog = bike_shop.catalog(case(*checks, limits=limits or {}), arm)
    with openai_chat.serving(script, key=key) as served:
        person = persona(served.url, model or {}, **changes)
        catalog = replace(catalog, fixtures={**catalog.fixtures, "ada": person})
        environ = {"TALK_KEY": "k-0123456789"}
        ((record, trace),) = carried_out(root, catalog, environ=environ, budget=budget)
    return record, trace, served


TALK: tuple[Step, ...] = (
    Says(text="Hello, do you have a bike for me?"),
    Says(text="<think>b-1 it is.</think>Ada Berg: The b-1, please."),
    Says(text="I am Ada."),
    Says(text="Lovely, thanks! [goal_achieved]"),
)


def test_a_model_plays_a_person_until_its_goal_is_achieved(tmp_path: Path):
    model = {"key": "TALK_KEY", "temperature": 0.7, "seed": "trial"}

    record, trace, served = trial(tmp_path, in_turn(*TALK), model=model, key="k-0123456789")

    assert record.verdict is Verdict.PASSED, record.detail
    said = [event for event in trace.events if isinstance(event, Said)]
    assert [event.text for event in said] == [
        "Hello, do you have a bike for me?",
        "The b-1, please.",
        "I am Ada.",
    ]
    assert {event.served_model for event in said} == {openai_chat.MODEL}
    assert all(event.usage and event.usage.input_tokens == 100 for event in said)
    assert trace.ended_as == "goal_achieved"
    # The agent's own use is not the simulator's.
    assert record.usage is None
    assert record.simulator_usage is not None
    assert (
        record.simulator_usage.input_tokens == 400
    )  # its last words, which nobody hears, are paid for too
    assert any(isinstance(e, Noted) and "Lovely, thanks!" in e.text for e in trace.events)
    first, second = served.requests[0], served.requests[1]
    told = first["messages"][0]
    assert told["role"] == "system"
    for part in (
        "You need a bike",
        "first name: Ada",
        "Short sentences.",
        "[exit_intent: refused]",
    ):
        assert part in told["content"]
    assert (first["temperature"], first["seed"]) == (0.7, trace.seed & 0x7FFFFFFF)
    assert [(m["role"], m["content"]) for m in second["messages"][1:]] == [
        ("assistant", "Hello, do you have a bike for me?"),
        ("user", "Which bike would you like?"),
    ]


PRICES = {"currency": "EUR", "input": 1000.0, "output": 2000.0}
"""A request costs 0.14."""


def test_what_a_person_costs_is_told_apart_from_the_agent_and_over_all_attempts(tmp_path: Path):
    steps = iter((Says(text=""), *TALK))  # the first attempt is spoilt

    record, _, _ = trial(tmp_path, lambda _: next(steps), model={"prices": PRICES})

    assert (record.verdict, len(record.retried)) == (Verdict.PASSED, 1)
    assert [used.input_tokens for used in record.simulator_usages] == [400, 100]
    assert record.simulator_cost == pytest.approx(5 * 0.14)
    assert (record.simulator_currency, record.cost) == ("EUR", None)


def test_cost_of_a_person_is_not_told_where_a_request_was_not_counted(tmp_path: Path):
    uncounted = Says(text="The b-1, please.", without_usage=True)
    script = in_turn(TALK[0], uncounted, *TALK[2:])

    record, _, _ = trial(tmp_path, script, model={"prices": PRICES})

    assert record.simulator_usage
    assert (record.simulator_usage.input_tokens, record.simulator_cost) == (300, None)


@pytest.mark.parametrize(
    ("budget", "asked"),
    [
        ("1.15 EUR", 1),  # the second request could cost more than is left of it
        ("1100 tokens", 1),
        ("99 EUR", 4),
        ("99999 tokens", 4),
    ],
)
def test_a_person_asks_its_model_only_for_what_the_budget_still_has(
    tmp_path: Path, budget: str, asked: int
):
    model = {"prices": PRICES, "max_tokens": 10}

    record, _, served = trial(tmp_path, in_turn(*TALK), model=model, budget=budget)

    assert len(served.requests) == asked
    if asked == len(TALK):
        assert record.verdict is Verdict.PASSED
    else:
        assert (record.cause, record.retried) == (Cause.BUDGET, ())
        assert "does not suffice for another request" in record.detail


def test_a_person_that_nobody_counts_is_taken_to_cost_what_it_could(tmp_path: Path):
    script = in_turn(
        *(replace(step, without_usage=True) for step in TALK if isinstance(step, Says))
    )

    record, _, served = trial(tmp_path, script, model={"max_tokens": 10}, budget="1500 tokens")

    assert (record.cause, len(served.requests)) == (Cause.BUDGET, 1)


def test_a_person_that_gives_up_names_one_of_its_reasons(tmp_path: Path):
    script = in_turn(Says(text="A bike, please."), Says(text="[exit_intent: refused]"))
    ended = {"check": "ended_as", "ended": "exit_intent", "intent": "refused"}

    record, trace, _ = trial(tmp_path, script, agent="refuses", checks=(ended,))

    assert (record.verdict, trace.exit_intent) == (Verdict.PASSED, "refused")


@pytest.mark.parametrize(
    ("steps", "fault", "told"),
    [
        ([Says(text="")], SimulatorFault.SAYS_NOTHING, "the message is empty"),
        ([Says(text="[goal_achieved]")], SimulatorFault.STOPS_EARLY, "after 0 of at least 1"),
        (
            [Says(text="A bike."), Says(text="[exit_intent: bored]")],
            SimulatorFault.STOPS_EARLY,
            "a reason that it does not have ('bored')",
        ),
        (
            [Says(text="I need a bike for this afternoon, b-1 if it is still to be had.")],
            SimulatorFault.REVEALS_GOAL,
            "recites its goal",
        ),
        (
            [Says(text="A bike."), Says(text="How can I help you today?")],
            SimulatorFault.LEAVES_ROLE,
            "how can i help you",
        ),
        (
            [Says(text="A bike."), Says(text="Fine.\nAssistant: It is yours.")],
            SimulatorFault.LEAVES_ROLE,
            "Assistant:",
        ),
        (
            [Says(text="b-1."), Says(text="I am Ada."), Says(text="I am  ada.")],
            SimulatorFault.REPEATS_ITSELF,
            "in its message 2",
        ),
        (
            [Says(text="A bike, please, and then I would", finish="length")],
            SimulatorFault.CUT_OFF,
            "ended after 300 tokens",
        ),
        (
            [Says(text="A bike.", model="other-9")],
            SimulatorFault.OTHER_MODEL,
            "served other-9, which is not the pinned model",
        ),
        ([Fails(status=401, message="no such key")], SimulatorFault.UNREACHABLE, "status 401"),
    ],
)
def test_what_a_model_does_wrong_is_found_by_rules_and_never_the_agents_fault(
    tmp_path: Path, steps: list[Step], fault: SimulatorFault, told: str
):
    record, _, _ = trial(tmp_path, always(*steps))

    assert (record.cause, record.simulator_fault) == (Cause.SIMULATOR, fault), record.detail
    assert told in record.detail
    assert len(record.retried) == 2


def test_a_trial_that_a_model_spoilt_once_is_run_again_with_another_seed(tmp_path: Path):
    script = in_turn(*TALK)

    def at_first_out_of_role(body: dict[str, Any]) -> Step:
        seeds.append(body["seed"])
        return Says(text="As an AI I need no bike.") if len(set(seeds)) == 1 else script(body)

    seeds: list[int] = []
    record, trace, _ = trial(tmp_path, at_first_out_of_role, model={"seed": "trial"})

    assert record.verdict is Verdict.PASSED, record.detail
    (note,) = record.retried
    assert note.simulator_fault is SimulatorFault.LEAVES_ROLE
    assert "as an ai" in note.detail
    assert sorted(set(seeds)) == [trace.seed & 0x7FFFFFFF, (trace.seed + 1) & 0x7FFFFFFF]


def test_the_time_that_a_person_thinks_is_not_the_agents(tmp_path: Path):
    script = in_turn(*TALK)

    def thinks(body: dict[str, Any]) -> Step:
        threading.Event().wait(0.6)  # four messages take longer than the trial may
        return script(body)

    record, _, _ = trial(tmp_path, thinks, limits={"trial_seconds": 2.0})

    assert record.verdict is Verdict.PASSED, record.detail


def test_the_key_of_a_person_is_in_nothing_that_is_stored(tmp_path: Path):
    def tells_its_key(body: dict[str, Any]) -> Step:
        return Says(text="My word is k-0123456789.")

    _, trace, _ = trial(tmp_path, tells_its_key, model={"key": "TALK_KEY"}, max_turns=1)

    assert [e.text for e in trace.events if isinstance(e, Said)] == ["My word is [TALK_KEY]."]
    stored = [f for f in (tmp_path / ".trials").rglob("*") if f.is_file()]
    assert stored
    assert [f.name for f in stored if b"k-0123456789" in f.read_bytes()] == []


def test_a_key_that_is_not_set_is_told_before_anything_runs(tmp_path: Path):
    with pytest.raises(UsageError, match=r"NO_SUCH_KEY \(fixture ada\)"):
        trial(tmp_path, in_turn(*TALK), model={"key": "NO_SUCH_KEY"})


def always(*steps: Step) -> Script:
    """Says these one after the other, in each conversation anew; a refusal comes every time."""

    def script(body: dict[str, Any]) -> Step:
        said = sum(message["role"] == "assistant" for message in body["messages"])
        step: Step = steps[min(said, len(steps) - 1)]
        return step

    return script
