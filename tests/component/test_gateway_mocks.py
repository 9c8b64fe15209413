"""Mocked answers: rules, sequences, state, and what goes wrong on purpose, each call written down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lending_desk import TOOLS, LendingDesk

from seatrial.documents import Answers
from seatrial.documents.behaviour import Broken
from seatrial.errors import MockError
from seatrial.gateway import Channel
from seatrial.tools import Tool
from seatrial.trace import Called, Json

LOOKUP = {"run": "r7", "now": "2026-04-01T10:00:00Z", "today": "2026-04-01"}


class Waits:
    """A clock that only moves while somebody waits, and what was waited for."""

    def __init__(self) -> None:
        self.ms = 0.0
        self.waited: list[float] = []

    def clock(self) -> float:
        return self.ms

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.waited.append(round(seconds * 1000, 6))
        self.ms += seconds * 1000


class Desk(LendingDesk):
    """The desk, with other tools."""

    def __init__(self, *tools: Tool) -> None:
        super().__init__()
        self._own = tools or TOOLS

    def tools(self) -> Sequence[Tool]:
        return self._own


def answers(tools: dict[str, Any], **more: Any) -> Answers:
    return Answers.model_validate(
        {"kind": "fixture", "type": "answers", "id": "made-up", "tools": tools, **more}
    )


def opened(tools: dict[str, Any], *, seed: int = 1, desk: Any = None, **more: Any) -> Channel:
    waits = Waits()
    return Channel(
        [desk or LendingDesk()],
        answers=answers(tools, **more),
        lookup=LOOKUP,
        seed=seed,
        clock=waits.clock,
        sleep=waits.sleep,
    )


def called(channel: Channel, *calls: dict[str, Json] | str) -> list[Called]:
    """The records of calls of `look_up` (arguments, or the thing alone), or of a tool without arguments."""

    async def call_all() -> None:
        with anyio.fail_after(20):
            for one in calls:
                if isinstance(one, dict):
                    await channel.call("look_up", one)
                elif one.endswith("()"):
                    await channel.call(one.removesuffix("()"), {})
                else:
                    await channel.call("look_up", {"thing": one})

    before = len(channel.events)
    anyio.run(call_all)
    return [event for event in channel.events[before:] if isinstance(event, Called)]


def texts(events: list[Called]) -> list[str]:
    return [f"!{e.answer.text}" if e.answer.is_error else e.answer.text for e in events]


# --- who answers ---


def test_a_plain_answer_needs_no_rules_and_says_so_in_the_record():
    (event,) = called(opened({"list_all": {"answer": "nothing"}}), "list_all()")

    assert (event.answered_by, event.rule, event.fault, event.waited_ms) == (
        "mock", "answer", None, 0,
    )  # fmt: skip
    assert event.answer.text == "nothing"


def test_the_first_rule_whose_conditions_all_hold_answers_else_the_plain_answer():
    channel = opened(
        {
            "look_up": {
                "rules": [
                    {"when": {"thing": {"starts_with": "s", "contains": "w"}}, "error": "one"},
                    {"when": {"thing": {"one_of": ["saw", "lamp"]}}, "error": "two"},
                    {"when": {"thing": {"gt": "x"}}, "error": "three"},
                    {"when": {"owner": {"present": True}}, "error": "never"},
                ],
                "error": "plain",
            }
        }
    )

    events = called(channel, "saw", "lamp", "yak", "drill")

    assert texts(events) == ["!one", "!two", "!three", "!plain"]
    assert [e.rule for e in events] == ["rules[0]", "rules[1]", "rules[2]", "error"]


def test_without_a_plain_answer_the_error_names_the_nearest_rule_and_the_condition_that_failed():
    channel = opened(
        {
            "look_up": {
                "rules": [
                    {"when": {"thing": "saw", "owner": "Ada"}, "error": "one"},
                    {"when": {"thing": {"starts_with": "la"}}, "error": "two"},
                ]
            }
        }
    )

    (event,) = called(channel, "saw")

    assert event.answer.text == (
        'No mocked answer of look_up fits these arguments; the nearest is rules[0]: expected owner equals "Ada", '
        "found nothing"
    )
    assert (event.answer.is_error, event.answered_by, event.rule) == (True, "mock", None)


def test_a_sequence_answers_call_by_call_and_ends_as_it_says():
    steps = [{"answer": "first"}, {"error": "second"}, {"answer": "third"}]

    def told(**more: Any) -> list[str]:
        channel = opened({"list_all": {"sequence": steps, **more}})
        return texts(called(channel, *["list_all()"] * 5))

    assert told() == ["first", "!second", "third", "third", "third"]
    assert told(at_end="start_over") == ["first", "!second", "third", "first", "!second"]
    assert (
        told(at_end="error")[3:]
        == ["!No more mocked answers of list_all: all 3 of its sequence were given."] * 2
    )


def test_a_step_of_a_sequence_is_named_in_the_record():
    rules = [{"when": {"thing": "saw"}, "sequence": [{"error": "a"}, {"error": "b"}]}]
    channel = opened({"look_up": {"rules": rules, "sequence": [{"error": "c"}]}})

    assert [e.rule for e in called(channel, "saw", "saw", "lamp")] == [
        "rules[0].sequence[0]", "rules[0].sequence[1]", "sequence[0]",
    ]  # fmt: skip


def test_state_is_carried_from_call_to_call_and_over_tools_and_each_trial_has_its_own():
    tools = {
        "list_all": {"answer": "{{state.seen}} of {{state.left}}", "add": {"seen": 1}},
        "look_up": {
            "rules": [
                {"state": {"last": "{{args.thing}}"}, "error": "again {{state.last}}"},
                {"error": "new", "put": {"last": "{{args.thing}}", "left": {"at": "{{today}}"}}},
            ]
        },
    }
    state = {"seen": 0, "left": "none", "last": None}

    one, other = opened(tools, state=state), opened(tools, state=state)

    assert texts(called(one, "list_all()", "saw", "saw", "lamp", "list_all()")) == [
        "1 of none", "!new", "!again saw", "!new", '2 of {"at": "2026-04-01"}',
    ]  # fmt: skip
    assert texts(called(other, "list_all()")) == ["1 of none"]


def test_placeholders_keep_their_type_and_a_uuid_is_one_per_call_and_repeatable():
    tools = {
        "list_all": {
            "answer": {
                "id": "{{uuid}}",
                "link": "/x/{{uuid}}",
                "now": "{{now}}",
                "due": "{{today + 7 days}}",
                "count": "{{state.count}}",
            }
        }
    }

    first, second = called(opened(tools, state={"count": 3}), "list_all()", "list_all()")
    again = called(opened(tools, state={"count": 3}), "list_all()")[0]
    elsewhere = called(opened(tools, seed=2, state={"count": 3}), "list_all()")[0]

    given = first.answer.structured
    assert given == {
        "id": given["id"], "link": f"/x/{given['id']}", "now": "2026-04-01T10:00:00Z",
        "due": "2026-04-08", "count": 3,
    }  # fmt: skip
    assert again.answer == first.answer
    ids = {e.answer.structured["id"] for e in (first, second, elsewhere)}
    assert len(ids) == 3


# --- how it behaves ---


def test_waits_are_drawn_from_the_seed_and_recorded_exactly():
    tools = {"list_all": {"answer": "x", "delay_ms": 100, "jitter_ms": 50}}

    def waits(seed: int) -> list[float]:
        return [e.waited_ms for e in called(opened(tools, seed=seed), *["list_all()"] * 5)]

    assert waits(1) == waits(1) != waits(2)
    assert all(100 <= ms <= 150 for ms in waits(1))
    assert len(set(waits(1))) == 5


def test_a_wait_is_what_the_call_took():
    (event,) = called(opened({"list_all": {"answer": "x", "delay_ms": 90_000}}), "list_all()")

    assert (event.waited_ms, event.took_ms, event.fault) == (90_000, 90_000, None)


def test_a_failure_tells_code_and_time_to_wait_in_its_text():
    fail = {"message": "Too many requests.", "code": 429, "retry_after": 2}

    (event,) = called(opened({"list_all": {"answer": "x", "fail": fail}}), "list_all()")

    assert event.answer.text == "Too many requests. (code 429; retry after 2 s)"
    assert (event.answer.is_error, event.answer.code) == (True, 429)
    assert (event.answered_by, event.rule, event.fault) == ("mock", "answer", "fail")


def test_a_failure_alone_needs_no_answer():
    (event,) = called(opened({"list_all": {"fail": "Closed."}}), "list_all()")

    assert (event.answer.text, event.rule, event.fault) == ("Closed.", "fail", "fail")


def test_a_tool_fails_twice_then_answers_and_a_sequence_waits_for_that():
    fail = {"calls": [1, 2], "message": "busy"}
    steps = [{"answer": "first"}, {"answer": "second"}]

    channel = opened({"list_all": {"sequence": steps, "fail": fail}})

    assert texts(called(channel, *["list_all()"] * 4)) == ["!busy", "!busy", "first", "second"]


def test_a_failure_at_the_tool_counts_its_calls_and_one_at_a_rule_those_of_the_rule():
    rules = [
        {"when": {"thing": "saw"}, "error": "saw", "fail": {"calls": [2], "message": "rule's"}},
        {"when": {"thing": "lamp"}, "error": "lamp"},
        {"when": {"thing": "pen"}, "error": "pen", "fail": None},
    ]
    fail = {"calls": [3, 4, 5], "message": "tool's"}
    channel = opened({"look_up": {"rules": rules, "fail": fail}})

    assert texts(called(channel, "saw", "lamp", "saw", "lamp", "pen")) == [
        "!saw", "!lamp", "!rule's", "!tool's", "!pen",
    ]  # fmt: skip


def test_a_share_of_the_calls_fails_the_same_ones_whenever_the_trial_is_repeated():
    tools = {"list_all": {"answer": "x", "fail": {"share": 0.3, "message": "busy"}}}

    def failing(seed: int) -> list[int]:
        events = called(opened(tools, seed=seed), *["list_all()"] * 200)
        return [e.number for e in events if e.fault]

    assert failing(1) == failing(1) != failing(2)
    # 60 of 200, within five standard deviations (6.5).
    assert abs(len(failing(1)) - 60) < 33


def test_calls_that_fail_leave_no_state_behind():
    tools = {"list_all": {"answer": "{{state.n}}", "add": {"n": 1}, "fail": {"calls": [1]}}}

    assert texts(called(opened(tools, state={"n": 0}), *["list_all()"] * 2))[1] == "1"


@pytest.mark.parametrize("how", ["cut_off", "html", "empty", "wrong_type"])
def test_a_broken_answer_never_makes_the_trial_invalid(how: str):
    tools = {"look_up": {"answer": {"thing": "{{args.thing}}", "holder": "Ada"}, "broken": how}}
    channel = opened(tools)

    (event,) = called(channel, "saw")

    assert event.fault == f"broken: {how}"
    assert (event.answer.is_error, event.answer.structured) == (True, None)
    assert event.rule == "answer"
    assert channel.faults == ()


def test_an_oversized_answer_is_given_whole_and_recorded_in_part_however_often():
    tools = {"look_up": {"answer": {"thing": "x", "holder": "y"}, "broken": "oversized"}}
    channel = opened(tools)
    sizes = []

    async def call() -> None:
        for _ in range(40):
            answer = await channel.call("look_up", {"thing": "saw"})
            sizes.append(len(answer.text))

    anyio.run(call)

    assert min(sizes) >= 1_000_000
    assert not channel.flooded
    event = channel.events[-1]
    assert isinstance(event, Called)
    assert len(event.answer.text) < 3000
    assert "bytes in all" in event.answer.text


def test_a_stale_answer_is_as_it_was_at_the_start_with_a_clock_that_is_behind():
    tools = {
        "list_all": {
            "answer": "{{state.n}} at {{now}} ({{today}})",
            "add": {"n": 1},
            "broken": {"how": "stale", "hours": 48, "calls": [3]},
        },
        "print": {
            "sequence": [{"answer": "old"}, {"answer": "new"}],
            "broken": {"how": "stale", "calls": [2]},
        },
    }
    channel = opened(tools, state={"n": 0})

    assert texts(called(channel, *["list_all()"] * 4)) == [
        "1 at 2026-04-01T10:00:00Z (2026-04-01)",
        "2 at 2026-04-01T10:00:00Z (2026-04-01)",
        "0 at 2026-03-30T10:00:00Z (2026-03-30)",
        "3 at 2026-04-01T10:00:00Z (2026-04-01)",
    ]


def test_everything_can_be_combined():
    tools = {
        "list_all": {
            "answer": "x",
            "delay_ms": 10,
            "fail": {"calls": [1], "message": "busy"},
            "broken": {"how": "html", "calls": [1, 2]},
            "wire": {"how": "dropped", "calls": [3]},
        }
    }

    events = called(opened(tools), *["list_all()"] * 4)

    assert [e.fault for e in events] == ["fail", "broken: html", "wire: dropped", None]
    assert [e.waited_ms for e in events] == [10] * 4
    # A function that calls in the same process has no wire: it is told.
    assert events[2].answer.text == "Not answered: the connection was lost."


# --- passing through ---


def test_a_call_that_is_passed_through_is_the_servers_to_answer_late_or_after_failures():
    tools = {
        "look_up": {
            "rules": [{"when": {"thing": "lamp"}, "error": "gone"}],
            "pass_through": True,
            "delay_ms": 7,
            "fail": {"calls": [1], "message": "busy"},
        }
    }

    events = called(opened(tools), "saw", "saw", "lamp")

    assert texts(events) == ["!busy", '{"thing": "saw", "holder": "desk"}', "!gone"]
    assert [e.answered_by for e in events] == ["mock", "world", "mock"]
    assert [e.rule for e in events] == ["pass_through", "pass_through", "rules[0]"]
    assert [e.waited_ms for e in events] == [7, 7, 7]


def test_a_tool_that_writes_may_fail_on_purpose_and_then_nothing_has_happened():
    desk = LendingDesk()
    tools = {"lend": {"pass_through": True, "fail": {"calls": [1], "message": "busy"}}}
    channel = opened(tools, desk=desk)

    async def lend() -> None:
        assert (await channel.call("lend", {"thing": "saw", "to": "Ada"})).is_error
        assert desk.holders["saw"] == "desk"
        assert not (await channel.call("lend", {"thing": "saw", "to": "Ada"})).is_error

    anyio.run(lend)

    assert desk.holders["saw"] == "Ada"
    assert [e.changed for e in channel.events if isinstance(e, Called)] == [False, True]


def test_the_servers_own_answer_can_be_broken_and_its_errors_stay_as_they_are():
    tools = {
        "look_up": {"pass_through": True, "broken": {"how": "wrong_type"}},
        "list_all": {"pass_through": True, "broken": "cut_off"},
    }

    events = called(opened(tools), "list_all()", "saw", "lamp")

    assert texts(events) == ["drill", '![{"thing": "saw", "holder": "desk"}]', "!no lamp here"]
    assert [e.fault for e in events] == ["broken: cut_off", "broken: wrong_type", None]


def test_a_stale_answer_of_the_server_is_its_first_to_the_same_arguments():
    desk = LendingDesk()
    broken = {"how": "stale", "calls": [3]}
    channel = opened({"look_up": {"pass_through": True, "broken": broken}}, desk=desk)

    before = called(channel, "saw")
    desk.holders["saw"] = "Ada"
    after = called(channel, "saw", "saw")

    assert [json.loads(e.answer.text)["holder"] for e in before + after] == ["desk", "Ada", "desk"]


# --- what may be mocked ---


@pytest.mark.parametrize(
    ("read_only", "entry", "refused"),
    [
        (True, {"answer": "x"}, None),
        (False, {"answer": "x"}, "changes something and cannot be mocked"),
        (None, {"answer": "x"}, "does not say whether it only reads"),
        (None, {"answer": "x", "allow_undeclared": True, "reason": "It reads."}, None),
        (False, {"answer": "x", "allow_undeclared": True, "reason": "No."}, "changes something"),
        (False, {"rules": [{"error": "x"}]}, "changes something"),
        (False, {"pass_through": True, "delay_ms": 5}, None),
        (False, {"fail": "busy"}, None),
        (None, {"wire": "dropped"}, None),
    ],
)
def test_only_what_declares_itself_read_only_is_mocked_unless_a_reason_is_given(
    read_only: bool | None, entry: dict[str, Any], refused: str | None
):
    desk = Desk(replace(TOOLS[1], read_only=read_only))

    if refused is None:
        opened({"list_all": entry}, desk=desk)
    else:
        with pytest.raises(MockError, match=refused):
            opened({"list_all": entry}, desk=desk)


def test_a_tool_that_nobody_offers_is_refused_at_the_opening():
    with pytest.raises(MockError, match=r"teleport \(there is no such tool\)"):
        opened({"teleport": {"answer": "x"}})


def test_the_same_fixture_is_held_against_the_tools_of_each_server_it_meets():
    fixture = answers({"list_all": {"answer": {"x": 1}}})
    strict = replace(TOOLS[1], output_schema={"type": "array"})

    Channel([Desk()], answers=fixture)
    with pytest.raises(MockError, match="must be a list"):
        Channel([Desk(strict)], answers=fixture)
    Channel([Desk()], answers=fixture)


def test_answers_written_for_a_tool_that_has_become_another_are_stale_with_the_difference():
    written = {"parameters": TOOLS[0].input_schema, "output": TOOLS[0].output_schema}
    entry = {"answer": {"thing": "x", "holder": "y"}, "written_for": written}
    thing = {"type": "string", "enum": ["saw"], "description": "One of ours."}
    schema = {
        "type": "object",
        "properties": {"thing": thing, "shelf": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["thing", "shelf"],
        "additionalProperties": False,
    }

    opened({"look_up": entry})
    described = replace(TOOLS[0], description="Another.", title="x")
    opened({"look_up": entry}, desk=Desk(described))
    with pytest.raises(MockError) as refused:
        opened({"look_up": entry}, desk=Desk(replace(TOOLS[0], input_schema=schema)))

    assert 'look_up (stale: thing is one of ["saw"] now; shelf is new, and required)' in str(
        refused.value
    )


def test_a_wait_that_is_not_waited_out_is_a_fault_with_the_time_that_passed():
    channel = Channel(
        [LendingDesk()], answers=answers({"list_all": {"answer": "x", "delay_ms": 9_000_0}})
    )

    async def call() -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(channel.call, "list_all", {})
                await anyio.wait_all_tasks_blocked()
                channel.close()

    anyio.run(call)

    (event,) = channel.events
    assert isinstance(event, Called)
    assert (event.fault, event.rule, event.answered_by) == ("delay", "answer", "gateway")
    assert 0 <= event.waited_ms < 90_000


def test_kinds_of_broken_answers_have_only_their_own_settings():
    with pytest.raises(ValueError, match="`hours` goes with `how: stale`"):
        Broken.model_validate({"how": "html", "hours": 3})


# --- whatever is combined ---

OCCASION = st.fixed_dictionaries(
    {},
    optional={"calls": st.lists(st.integers(1, 4), max_size=2), "share": st.sampled_from([0.5, 1])},
)


def purposes(**keys: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda one, when: {**one, **when}, st.fixed_dictionaries(keys), OCCASION)


BROKEN = purposes(how=st.sampled_from(["cut_off", "html", "empty", "wrong_type", "stale"]))
WIRE = purposes(
    how=st.sampled_from(["status", "html", "empty", "dropped", "cut_off", "trickle", "rpc_error"])
)
FAIL = purposes(message=st.sampled_from(["busy", "{{args.thing}} {{uuid}}"]))
BEHAVIOUR = {
    "delay_ms": st.integers(0, 5),
    "jitter_ms": st.integers(0, 5),
    "fail": FAIL,
    "broken": BROKEN,
    "wire": WIRE,
}
GIVEN = st.one_of(
    st.just({"answer": {"thing": "{{args.thing}}", "holder": "{{uuid}}"}}),
    st.just({"error": "no {{args.thing}}"}),
    st.just({"pass_through": True}),
)
ANSWERED = st.builds(
    lambda given, how: {**given, **how}, GIVEN, st.fixed_dictionaries({}, optional=BEHAVIOUR)
)
SEQUENCE = st.builds(
    lambda steps, end, how: {"sequence": steps, "at_end": end, **how},
    st.lists(ANSWERED, min_size=1, max_size=3),
    st.sampled_from(["repeat_last", "start_over", "error"]),
    st.fixed_dictionaries({}, optional=BEHAVIOUR),
)
WHEN = st.sampled_from(
    ["saw", {"starts_with": "s"}, {"one_of": ["drill", "lamp"]}, {"absent": True}]
)
RULE = st.builds(lambda when, reply: {"when": {"thing": when}, **reply}, WHEN, ANSWERED | SEQUENCE)
TOOL = st.builds(
    lambda rules, plain: {"rules": rules, **plain}, st.lists(RULE, max_size=3), ANSWERED | SEQUENCE
)


@given(
    tool=TOOL,
    seed=st.integers(0, 3),
    things=st.lists(st.sampled_from(["saw", "drill", "lamp"]), max_size=6),
)
def test_whatever_goes_wrong_on_purpose_is_repeatable_recorded_and_no_fault_of_the_trial(
    tool: dict[str, Any], seed: int, things: list[str]
):
    one, again = (opened({"look_up": tool}, seed=seed) for _ in range(2))

    events = called(one, *things)

    assert one.faults == ()
    assert [e.number for e in events] == list(range(1, len(things) + 1))
    assert called(again, *things) == events
    for event in events:
        assert event.answered_by in {"mock", "world"}
        assert event.took_ms == pytest.approx(event.waited_ms)
        if event.answered_by == "world":
            assert event.rule is not None
        if event.fault in {"fail", "wire: dropped", "wire: status"}:
            assert event.answer.is_error
    # The first rule whose condition holds is the one that answers.
    wanted = [rule["when"]["thing"] for rule in tool["rules"]]
    for event, thing in zip(events, things, strict=True):
        fits = [n for n, when in enumerate(wanted) if _fits(when, thing)]
        rule = event.rule or ""
        assert rule.startswith(f"rules[{fits[0]}]") if fits else not rule.startswith("rules")


def _fits(when: Any, thing: str) -> bool:
    match when:
        case str():
            return when == thing
        case {"starts_with": start}:
            return thing.startswith(start)
        case {"one_of": among}:
            return thing in among
        case _:
            return False
