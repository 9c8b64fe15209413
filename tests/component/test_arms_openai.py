"""The `openai` arm against a scripted endpoint: the loop over the tools, and every way in which a model strays."""

import itertools
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop, shop_trials
from tests.servers import openai_chat
from tests.servers.openai_chat import Breaks, Fails, Says, Script, Step, in_turn

from seatrial.records import TrialRecord
from seatrial.report.steps import trajectory
from seatrial.trace import Called, Completed, Listed, Noted, Trace, Usage
from seatrial.verdicts import Cause, Verdict

RENTS = (
    Says(calls=[("get_bike", {"bike": "b-1"})]),
    Says(calls=[("rent", {"bike": "b-1", "renter": "{renter}"})]),
    Says(text="The bike is yours."),
)


def renting(*steps: Step) -> Script:
    """Says these one after the other, the person's name in place of `{renter}`."""
    script = in_turn(*(steps or RENTS))

    def named(body: dict[str, Any]) -> Step:
        step = script(body)
        if not isinstance(step, Says) or not step.calls:
            return step
        asked = next(m["content"] for m in body["messages"] if m["role"] == "user")
        renter = asked.split()[2].rstrip(".")
        calls = [
            (tool, json.loads(json.dumps(given).replace("{renter}", renter)))
            for tool, given in step.calls
        ]
        return replace(step, calls=calls)

    return named


def trial(
    root: Path, script: Script, *, case: dict[str, Any] | None = None,
    limits: dict[str, Any] | None = None, **adapter: Any,
) -> tuple[TrialRecord, Trace, openai_chat.Model]:  # fmt: skip
    with openai_chat.serving(script) as model:
        arm = bike_shop.arm(
            adapter={"type": "openai", "url": model.url, **adapter},
            model={"name": openai_chat.MODEL},
            limits=limits or {},
        )
        catalog = bike_shop.catalog(bike_shop.case(**(case or {})), arm)
        ((record, trace),) = shop_trials.carried_out(root, catalog)
    return record, trace, model


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_calls_tools_through_the_gateway_until_it_replies(tmp_path: Path, stream: bool):
    record, trace, model = trial(tmp_path, renting(), stream=stream, temperature=0.5)

    assert (record.verdict, record.detail) == (Verdict.PASSED, "")
    assert [(c.tool, c.answered_by) for c in trace.calls] == [
        ("get_bike", "world"),
        ("rent", "world"),
    ]
    assert [reply.text for reply in trace.replies] == ["The bike is yours."]
    assert [e.tools for e in trace.events if isinstance(e, Listed)] == [
        ("get_bike", "rent", "scrap")
    ]
    assert (record.served_model, record.served_fingerprint) == (
        openai_chat.MODEL,
        openai_chat.FINGERPRINT,
    )
    assert record.usage == Usage(input_tokens=300, output_tokens=60)
    first = model.requests[0]
    assert first["temperature"] == 0.5
    assert first["seed"] == trace.seed & 0x7FFFFFFF
    (rent,) = [t["function"] for t in first["tools"] if t["function"]["name"] == "rent"]
    assert rent["parameters"]["required"] == ["bike", "renter"]


def test_prompt_comes_from_its_file_with_the_trials_clock_and_is_a_component_of_the_arm(
    tmp_path: Path,
):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "clerk.md").write_text(
        "You rent bikes. Today is {{today}}; ask for {{customer}}.", encoding="utf-8"
    )

    _, _, model = trial(tmp_path, renting(), prompt="prompts/clerk.md")

    assert model.requests[0]["messages"][0] == {
        "role": "system",
        "content": "You rent bikes. Today is 2026-04-01; ask for {{customer}}.",
    }


def test_calls_are_paired_by_position_though_the_model_repeats_its_ids(tmp_path: Path):
    both = [("get_bike", {"bike": "b-1"}), ("get_bike", {"bike": "b-2"})]
    rents = Says(calls=RENTS[1].calls, ids=["call_0"])

    record, trace, model = trial(
        tmp_path, renting(Says(calls=both, ids=["call_0", "call_0"]), rents, RENTS[2])
    )

    assert record.verdict is Verdict.PASSED
    assert [call.arguments for call in trace.calls[:2]] == [{"bike": "b-1"}, {"bike": "b-2"}]
    asked, *answers = model.requests[1]["messages"][-3:]
    ids = [call["id"] for call in asked["tool_calls"]]
    assert ids == [answer["tool_call_id"] for answer in answers]
    assert len(set(ids)) == 2
    assert ["free" in answer["content"] for answer in answers] == [True, False]
    later = [c["id"] for m in model.requests[2]["messages"] for c in m.get("tool_calls") or ()]
    assert len(set(later)) == 3


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"bike": "b-1"', "they are no JSON"),
        ('["b-1"]', "a JSON object is needed"),
        ('{"bike": NaN}', "NaN is no number in JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"bike": 5}', "bike"),
        ('{"bike": "\\ud83d"}', "surrogates not allowed"),
    ],
)
def test_arguments_that_cannot_be_read_are_an_error_for_the_model_and_in_the_record(
    tmp_path: Path, arguments: str, says: str, stream: bool
):
    record, trace, model = trial(
        tmp_path, in_turn(Says(calls=[("rent", arguments)]), Says(text="Sorry.")), stream=stream
    )

    assert (record.verdict, record.cause) == (Verdict.FAILED, None)
    (call,) = trace.calls
    assert (call.answered_by, call.answer.is_error, call.changed) == ("gateway", True, False)
    assert says in " ".join(call.misfits or ())
    assert says in model.requests[1]["messages"][-1]["content"]
    (wish,) = trace.completions[0].calls
    assert (wish.tool, wish.arguments) == ("rent", arguments)


def test_tool_that_does_not_exist_is_an_error_for_the_model(tmp_path: Path):
    record, trace, model = trial(
        tmp_path, in_turn(Says(calls=[("fly", {})]), Says(text="I cannot fly."))
    )

    assert record.verdict is Verdict.FAILED
    assert trace.calls[0].answer.text == "Unknown tool: fly"
    assert model.requests[1]["messages"][-1]["content"] == "Unknown tool: fly"


def test_model_that_never_replies_ends_at_its_limit_of_steps(tmp_path: Path):
    record, trace, model = trial(
        tmp_path, lambda _: Says(calls=[("get_bike", {"bike": "b-1"})]), steps=3
    )

    assert (record.verdict, trace.ended) == (Verdict.FAILED, "step_limit")
    assert len(model.requests) == 3
    assert record.usage == Usage(input_tokens=300, output_tokens=60)
    assert trace.replies == ()


def test_a_conversation_goes_on_over_its_turns(tmp_path: Path):
    case = {
        "turns": [{"say": "I am {{run}}. Is b-1 free?"}, {"say": "Then I take it."}],
    }
    script = renting(RENTS[0], Says(text="It is."), *RENTS[1:])

    record, _, model = trial(tmp_path, script, case=case)

    assert record.verdict is Verdict.PASSED, record.findings
    assert [m["role"] for m in model.requests[-1]["messages"]] == [
        "user", "assistant", "tool", "assistant", "user", "assistant", "tool",
    ]  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_what_a_model_thinks_is_kept_beside_its_reply_and_given_back_within_the_turn(
    tmp_path: Path, key: str, stream: bool
):
    script = renting(*(
        Says(calls=s.calls, text=s.text, reasoning="Let me see.", reasoning_key=key) for s in RENTS
    ), Says(text="Bye."))  # fmt: skip
    case = {"turns": [{"say": "I am {{run}}. May I have b-1?"}, {"say": "Thanks."}]}

    _, trace, model = trial(tmp_path, script, stream=stream, case=case)

    assert [c.reasoning for c in trace.completions] == ["Let me see."] * 3 + [""]
    assert [reply.text for reply in trace.replies] == ["The bike is yours.", "Bye."]
    assert model.requests[1]["messages"][1][key] == "Let me see."
    assert all(key not in message for message in model.requests[3]["messages"])


def test_required_calls_leave_a_tool_to_reply_with(tmp_path: Path):
    script = renting(
        *RENTS[:2], Says(calls=[("reply", {"text": "Enjoy."}), ("get_bike", {"bike": "b-2"})])
    )

    record, trace, model = trial(tmp_path, script, tool_choice="required")

    assert record.verdict is Verdict.PASSED
    assert model.requests[0]["tool_choice"] == "required"
    assert [reply.text for reply in trace.replies] == ["Enjoy."]
    assert [call.tool for call in trace.calls] == ["get_bike", "rent", "get_bike"]


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ('{"name": "rent", "arguments": {"bike": "b-1"}}', True),
        ('```json\n{"name": "rent", "arguments": {}}\n```', True),
        ('{"name": "Ada"}', False),
        ("{rent}", False),
        ("The bike is yours.", False),
    ],
)
def test_a_call_that_was_written_as_text_is_a_reply_and_is_noted(
    tmp_path: Path, text: str, noted: bool
):
    record, trace, _ = trial(tmp_path, in_turn(Says(text=text)))

    assert (record.verdict, record.calls) == (Verdict.FAILED, 0)
    assert [reply.text for reply in trace.replies] == [text]
    notes = [event.text for event in trace.events if isinstance(event, Noted)]
    assert any("wrote a call of rent as text" in note for note in notes) == noted


def test_answers_by_a_schema_call_tools_and_reply(tmp_path: Path):
    def script(body: dict[str, Any]) -> Step:
        said = [m["content"] for m in body["messages"]]
        renter = said[1].split()[2].rstrip(".")
        answers = (
            "Of course!",
            json.dumps({"tool": "rent", "arguments": {"bike": "b-1", "renter": renter}}),
            json.dumps({"reply": "It is yours."}),
        )
        return Says(text=answers[sum(m["role"] == "assistant" for m in body["messages"])])

    record, trace, model = trial(tmp_path, script, answers="schema")

    assert (record.verdict, [r.text for r in trace.replies]) == (Verdict.PASSED, ["It is yours."])
    first, _, third = model.requests
    assert "tools" not in first
    schema = first["response_format"]["json_schema"]["schema"]
    assert [next(iter(one["properties"])) for one in schema["anyOf"]] == ["tool"] * 3 + ["reply"]
    assert '"tool": "rent"' in first["messages"][0]["content"]
    assert "no answer that can be read" in third["messages"][3]["content"]
    assert third["messages"][5]["content"] == "Result of rent: rented"


def test_azure_has_its_key_in_another_header_and_a_version_in_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AZURE_KEY", "s3cret-key")

    record, _, model = trial(
        tmp_path, renting(), key_header="api-key", key="AZURE_KEY", model="my-deployment",
        query={"api-version": "2024-10-21"}, max_tokens=50, max_tokens_as="max_completion_tokens",
        extra_body={"user": "tests"},
    )  # fmt: skip

    assert record.verdict is Verdict.PASSED
    assert model.headers[0]["api-key"] == "s3cret-key"
    assert "authorization" not in model.headers[0]
    assert model.paths[0] == "/v1/chat/completions?api-version=2024-10-21"
    sent = model.requests[0]
    assert (sent["model"], sent["max_completion_tokens"], sent["user"]) == (
        "my-deployment",
        50,
        "tests",
    )


def test_a_key_is_sent_and_never_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MODEL_KEY", "s3cret-key")

    record, _, model = trial(
        tmp_path, renting(*RENTS[:2], Says(text="My key is s3cret-key.")), key="MODEL_KEY"
    )

    assert record.verdict is Verdict.PASSED
    assert model.headers[0]["authorization"] == "Bearer s3cret-key"
    stored = b"".join(p.read_bytes() for p in (tmp_path / ".trials").iterdir() if p.is_file())
    assert b"s3cret-key" not in stored
    assert b"My key is [MODEL_KEY]." in stored


@pytest.mark.parametrize(
    "fault",
    [
        Fails(retry_after="0"),
        Fails(status=503, retry_after="0", body=b"<h1>Busy</h1>"),
        Breaks(after=4),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_request_that_came_to_nothing_by_itself_is_made_again_and_noted(
    tmp_path: Path, fault: Step, stream: bool
):
    record, trace, model = trial(tmp_path, renting(RENTS[0], fault, *RENTS[1:]), stream=stream)

    assert record.verdict is Verdict.PASSED
    assert [len(c.retries) for c in trace.completions] == [0, 1, 0]
    assert trace.completions[1].retries[0].startswith("asked again (1 of 2), after: ")
    assert len(model.requests) == 4
    assert [call.tool for call in trace.calls] == ["get_bike", "rent"]


def test_request_that_is_not_answered_in_time_is_made_again(tmp_path: Path):
    over = threading.Event()
    script = renting()
    asked = itertools.count()

    def slow_at_first(body: dict[str, Any]) -> Step:
        if next(asked) == 0:
            over.wait(20)
        return script(body)

    try:
        record, trace, _ = trial(tmp_path, slow_at_first, request_seconds=1.0)
    finally:
        over.set()

    assert (record.verdict, record.detail) == (Verdict.PASSED, "")
    assert "gave no answer within 1 s" in trace.completions[0].retries[0]


def test_request_is_made_again_twice_at_most_and_no_agent_is_blamed(tmp_path: Path):
    record, _, model = trial(tmp_path, lambda _: Fails(status=500, retry_after="0", message="Oh"))

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.AGENT_UNREACHABLE)
    assert record.detail.endswith("answered with status 500: Oh (asked 3 times)")
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fails(status=401, message="Incorrect key"), "status 401: Incorrect key; is the key right"),
        (Fails(status=400, message="bad\x1b[31m"), "status 400: bad\\x1b[31m"),
        (Fails(status=200, body=b"<h1>Hello</h1>"), "what is no JSON: <h1>Hello</h1>"),
        (Fails(status=200, body=b"[]"), "without a message: []"),
        (Fails(status=200, body=b'{"choices": []}'), 'without a message: {"choices": []}'),
        (Fails(retry_after="100000"), "status 429"),
        (Says(text="x" * 1_000_001), "wrote too much: 1,000,001 characters"),
    ],
)
def test_answer_that_is_none_makes_the_trial_invalid_at_once(
    tmp_path: Path, fault: Step, says: str
):
    record, _, model = trial(tmp_path, lambda _: fault)

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.AGENT_UNREACHABLE)
    assert says in record.detail
    assert len(model.requests) == 1


def test_time_runs_for_the_model_but_not_while_the_endpoint_wants_to_be_left_alone(tmp_path: Path):
    script = renting(RENTS[0], Fails(retry_after="1"), *RENTS[1:])

    record, trace, _ = trial(tmp_path, script, limits={"turn_seconds": 0.9})

    assert (record.verdict, record.detail) == (Verdict.PASSED, "")
    assert trace.completions[1].took_ms > 900


def test_each_answer_and_the_trial_cost_what_the_prices_say(tmp_path: Path):
    with openai_chat.serving(renting()) as model:
        arm = bike_shop.arm(
            adapter={"type": "openai", "url": model.url},
            model={"name": openai_chat.MODEL},
            prices={"currency": "EUR", "input": 1000.0, "output": 5000.0},
        )
        ((record, trace),) = shop_trials.carried_out(
            tmp_path, bike_shop.catalog(bike_shop.case(), arm)
        )

    assert [answer.cost for answer in trace.completions] == [pytest.approx(0.2)] * 3
    assert record.cost == pytest.approx(0.6)
    assert record.currency == "EUR"
    remarks = [remark for step in trajectory(trace).steps for remark in step.remarks]
    said = "the model read 100 tokens (0 from a cache) and wrote 20 (0 thinking), cost 0.20"
    assert remarks.count(said) == 3


def test_usage_of_calls_before_a_trial_broke_is_counted(tmp_path: Path):
    script = renting(RENTS[0], Fails(status=400, message="no"))

    record, trace, _ = trial(tmp_path, script)

    assert record.verdict is Verdict.INVALID
    assert record.usage == Usage(input_tokens=100, output_tokens=20)
    assert [type(e) for e in trace.events if isinstance(e, Completed | Called)] == [
        Completed,
        Called,
    ]
