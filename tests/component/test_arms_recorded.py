"""Recordings become the traces that live trials would have left behind."""

import gzip
import json
from pathlib import Path

import pytest

from seatrial.arms import recorded
from seatrial.documents import Arm
from seatrial.errors import ArmError, InvalidDocuments
from seatrial.trace import Noted, Replied, Said


def call(name, arguments, id="same"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(content, id="same", **more):
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


CONVERSATION = [
    {"role": "system", "content": "You lend bicycles."},
    {"role": "user", "content": "Is bike b-1 free?"},
    {
        "role": "assistant",
        "content": "One moment.",
        "tool_calls": [
            call("get_bike", '{"id": "b-1"}'),
            call("get_bike", '{"id": "b-2"}'),
        ],
    },
    answer("b-1 is free"),
    answer("there is no b-2", x_error=True),
    {"role": "assistant", "content": "b-1 is free."},
    {"role": "user", "content": "Lend it to me."},
    {"role": "assistant", "content": None, "tool_calls": [call("lend", '{"id": "b-1"}')]},
    answer("lent"),
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
]
LENT = {"what": "changed", "type": "bike", "key": "b-1", "property": "free", "old": True}


def recording(**changed):
    line = {
        "case": "lend-a-bike",
        "trial": 1,
        "messages": CONVERSATION,
        "changes": [LENT | {"new": False}],
        "usage": {"input_tokens": 900, "output_tokens": 40, "cost": 0.5},
        "model": "pedal-2026-01-01",
        "tools": {
            "get_bike": {"read_only": True},
            "lend": {"destructive": False, "server": "shop"},
        },
    }
    return {key: value for key, value in (line | changed).items() if value != "left out"}


def arm(*files):
    return Arm.model_validate(
        {
            "kind": "arm",
            "id": "elsewhere",
            "agent": "lender",
            "version": "1.0.0",
            "adapter": {"type": "recorded", "files": files or ("runs.jsonl",)},
        }
    )


def written(root: Path, *lines, name="runs.jsonl"):
    text = "".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines)
    (root / name).write_text(text, encoding="utf-8")


def problems(root: Path, *files):
    with pytest.raises(InvalidDocuments) as raised:
        recorded.read(arm(*files), root)
    return [problem.render() for problem in raised.value.problems]


def test_a_recording_says_how_a_simulated_person_ended_it(tmp_path):
    written(tmp_path, recording(ended_as="exit_intent", exit_intent="too-dear"))

    trace = recorded.read(arm(), tmp_path).trace("lend-a-bike", 1, server="bicycles")

    assert (trace.ended_as, trace.exit_intent) == ("exit_intent", "too-dear")


def test_a_recording_becomes_a_complete_trace(tmp_path):
    written(tmp_path, recording())

    trace = recorded.read(arm(), tmp_path).trace("lend-a-bike", 1, server="bicycles")

    assert (trace.case, trace.arm, trace.number, trace.ended) == (
        "lend-a-bike",
        "elsewhere",
        1,
        "completed",
    )
    assert [
        (e.event, e.turn, e.text) for e in trace.events if isinstance(e, Said | Replied | Noted)
    ] == [
        ("said", 1, "Is bike b-1 free?"),
        ("noted", 1, "said beside its calls: One moment."),
        ("replied", 1, "b-1 is free."),
        ("said", 2, "Lend it to me."),
        ("replied", 2, "Done."),
    ]
    assert [
        (c.number, c.turn, c.server, c.tool, c.read_only, c.destructive) for c in trace.calls
    ] == [
        (1, 1, "bicycles", "get_bike", True, None),
        (2, 1, "bicycles", "get_bike", True, None),
        (3, 2, "shop", "lend", None, False),
    ]
    assert trace.changes is not None
    assert [(c.key, c.property, c.old, c.new) for c in trace.changes] == [
        ("b-1", "free", True, False)
    ]
    assert [r.served_model for r in trace.replies] == ["pedal-2026-01-01"] * 2


def test_answers_are_paired_by_position_even_when_every_id_is_the_same(tmp_path):
    written(tmp_path, recording())

    calls = recorded.read(arm(), tmp_path).trace("lend-a-bike", 1).calls

    assert [(c.arguments["id"], c.answer.text, c.answer.is_error) for c in calls] == [
        ("b-1", "b-1 is free", False),
        ("b-2", "there is no b-2", True),
        ("b-1", "lent", False),
    ]


def test_the_usage_of_the_whole_trial_stands_at_the_last_reply(tmp_path):
    written(tmp_path, recording())

    replies = recorded.read(arm(), tmp_path).trace("lend-a-bike", 1).replies

    assert [r.usage and r.usage.cost for r in replies] == [None, 0.5]


def test_a_call_that_nothing_answered_is_a_call_in_vain(tmp_path):
    written(tmp_path, recording(messages=CONVERSATION[:4]))

    calls = recorded.read(arm(), tmp_path).trace("lend-a-bike", 1).calls

    assert [(c.number, c.answer.text, c.answer.is_error) for c in calls] == [
        (1, "b-1 is free", False),
        (2, recorded.UNANSWERED, True),
    ]


def test_what_the_agent_says_before_anybody_asked_is_turn_zero(tmp_path):
    greeting = {"role": "assistant", "content": "Hello!"}
    written(tmp_path, recording(messages=[greeting, *CONVERSATION]))

    trace = recorded.read(arm(), tmp_path).trace("lend-a-bike", 1)

    assert [(r.turn, r.text) for r in trace.replies] == [
        (0, "Hello!"),
        (1, "b-1 is free."),
        (2, "Done."),
    ]


def test_a_refused_call_is_a_violation(tmp_path):
    refusal = answer("You may not.", x_error=True, x_refused="guests may not lend")
    written(tmp_path, recording(messages=[*CONVERSATION[:-2], refusal]))

    trace = recorded.read(arm(), tmp_path).trace("lend-a-bike", 1)

    assert [(c.number, c.refused, c.answered_by) for c in trace.violations] == [
        (3, "guests may not lend", "gateway")
    ]


def test_a_call_beyond_the_rights_of_the_role_is_a_violation_though_it_was_answered(tmp_path):
    of_the_world, elsewhere = recording(tools={}), recording(trial=2)
    written(tmp_path, of_the_world, elsewhere)

    def refusal(tool, arguments):
        return "guests may only look" if tool == "lend" and arguments == {"id": "b-1"} else None

    there = recorded.read(arm(), tmp_path)
    first, second = (there.trace("lend-a-bike", n, refusal=refusal) for n in (1, 2))

    assert [(c.number, c.refused, c.answered_by, c.answer.text) for c in first.violations] == [
        (3, "guests may only look", "server", "lent")
    ]
    assert [c.server for c in second.calls if c.tool == "lend"] == ["shop"]
    assert second.violations == ()


def test_calls_are_held_against_the_schemas_of_the_world_and_of_no_other_server(tmp_path):
    written(tmp_path, recording(tools={}), recording(trial=2))

    def misfits(tool, arguments):
        return ("id is unknown",) if tool == "lend" else None

    there = recorded.read(arm(), tmp_path)
    first, second = (there.trace("lend-a-bike", n, misfits=misfits) for n in (1, 2))

    assert {(c.tool, c.misfits) for c in first.calls if c.tool == "lend"} == {
        ("lend", ("id is unknown",))
    }
    assert {c.misfits for c in first.calls if c.tool != "lend"} == {None}
    assert [c.misfits for c in second.calls if c.tool == "lend"] == [None]


def test_changes_that_nobody_captured_stay_unknown(tmp_path):
    written(tmp_path, recording(changes=None), recording(changes="left out", trial=2))

    there = recorded.read(arm(), tmp_path)

    assert [there.trace("lend-a-bike", n).changes for n in (1, 2)] == [None, None]


def test_several_files_packed_or_not_are_one_arm(tmp_path):
    written(tmp_path, recording(), "", recording(trial=3), name="a.jsonl")
    with gzip.open(tmp_path / "b.jsonl.gz", "wt", encoding="utf-8") as packed:
        packed.write(json.dumps(recording(trial=2)))

    there = recorded.read(arm("a.jsonl", "b.jsonl.gz"), tmp_path)

    assert there.numbers("lend-a-bike") == (1, 2, 3)
    assert there.trace("lend-a-bike", 2).calls[0] == there.trace("lend-a-bike", 1).calls[0]


def test_a_trial_that_was_not_recorded_is_named_with_those_that_were(tmp_path):
    written(tmp_path, recording(), recording(trial=2))

    with pytest.raises(ArmError) as raised:
        recorded.read(arm(), tmp_path).trace("lend-a-bike", 3)

    assert raised.value.cause == "agent_unreachable"
    assert raised.value.message == "no recorded trial 3 of case lend-a-bike (recorded: 1, 2)"


def test_every_bad_line_of_every_file_is_named_with_its_number(tmp_path):
    orphan = answer("nobody asked")
    odd = [*CONVERSATION[:2], {"role": "assistant", "tool_calls": [call("lend", "[1]")]}]
    written(
        tmp_path,
        recording(),
        "{broken",
        recording(trial=0, change=[]),
        recording(),
        recording(trial=2, messages=[orphan]),
        recording(trial=2, messages=odd),
        recording(trial=2, messages=[{"role": "user", "tool_calls": [call("lend", "{}")]}]),
        recording(trial=2, changes=[{"what": "vanished", "type": "bike", "key": "b-1"}]),
        name="a.jsonl",
    )

    (tmp_path / "away.jsonl").symlink_to("/etc/hostname")
    (tmp_path / "circle.jsonl").symlink_to("circle.jsonl")

    found = problems(tmp_path, "a.jsonl", "none.jsonl", "away.jsonl", "circle.jsonl")

    assert found == [
        "a.jsonl:2:1: Invalid JSON: key must be a string at line 1 column 2",
        "a.jsonl:3:1: trial: Input should be greater than or equal to 1; "
        "change: Extra inputs are not permitted",
        "a.jsonl:4:1: trial 1 of case lend-a-bike stands at a.jsonl:1 already",
        "a.jsonl:5:1: messages[0]: a tool's answer without a call before it that lacks one",
        "a.jsonl:6:1: messages[2].tool_calls[0].function.arguments: is not the text of a JSON object",
        "a.jsonl:7:1: messages[0]: a message of role user calls tools",
        "a.jsonl:8:1: changes[0].what: Input should be "
        "'created', 'changed', 'deleted', 'linked' or 'unlinked'",
        "away.jsonl:1:1: lies outside the repository. Copy the recordings into it.",
        "circle.jsonl:1:1: is a link in a circle. Put the recordings themselves here.",
        "none.jsonl:1:1: there is no such file. Paths start at the repository's root.",
    ]


def test_many_bad_lines_are_not_all_listed(tmp_path):
    written(tmp_path, *["?"] * 80)

    found = problems(tmp_path)

    assert len(found) == recorded.MAX_PROBLEMS + 1
    assert found[-1] == "runs.jsonl:51:1: 30 more problems in this file are not shown"


@pytest.mark.parametrize(
    "line",
    [
        '{"case": "c", "trial": 1, "messages": ' + "[" * 5000,
        '{"case": "c", "trial": 1, "messages": [{"role": "user", "content": "\\ud800"}]}',
        '{"case": "c", "trial": 1, "messages": [{"role": "user", "content": NaN}]}',
        json.dumps(recording(messages=[*CONVERSATION[:2], {"role": "assistant", "tool_calls": [
            call("lend", '{"x":' * 5000)]}])),
        "[]",
        "\x00",
    ],
    ids=["nesting", "half a surrogate pair", "no number", "nested arguments", "a list", "zero byte"],
)  # fmt: skip
def test_a_hostile_line_is_a_problem_and_not_a_crash(tmp_path, line):
    written(tmp_path, line)

    assert len(problems(tmp_path)) == 1


def test_a_file_that_only_claims_to_be_packed_is_named(tmp_path):
    written(tmp_path, recording(), name="a.jsonl.gz")
    with gzip.open(tmp_path / "b.jsonl.gz", "wt", encoding="utf-8") as packed:
        packed.write("\n".join(json.dumps(recording(trial=n)) for n in range(1, 200)))
    whole = (tmp_path / "b.jsonl.gz").read_bytes()
    (tmp_path / "b.jsonl.gz").write_bytes(whole[: len(whole) // 2])

    found = problems(tmp_path, "a.jsonl.gz", "b.jsonl.gz")

    assert [f.split(":")[0] for f in found] == ["a.jsonl.gz", "b.jsonl.gz"]
    assert all("cannot be read" in f for f in found)


def test_a_line_beyond_all_measure_ends_the_reading_of_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "MAX_LINE", 2000)
    written(tmp_path, recording(messages=CONVERSATION[:2]), "[" * 3000, recording(trial=2))

    assert problems(tmp_path) == ["runs.jsonl:2:1: is longer than 2000 bytes; not read on"]


def test_the_world_is_named_by_whoever_asks_and_calls_carry_it(tmp_path):
    written(tmp_path, recording(tools="left out"))

    calls = recorded.read(arm(), tmp_path).trace("lend-a-bike", 1).calls

    assert {c.server for c in calls} == {"recorded"}
