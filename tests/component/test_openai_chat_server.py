"""The scripted endpoint of the tests is one that the official OpenAI client takes for real."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests import frameworks
from tests.servers import openai_chat
from tests.servers.openai_chat import Breaks, Fails, Says, Step

CLIENT = Path(__file__).parents[1] / "fixtures" / "openai_client.py"


def test_the_official_client_hears_what_the_script_says():
    python = frameworks.python()
    adds = Says(
        text="Adding.",
        calls=[("add", {"a": 1, "text": "zwölf"}), ("add", '{"broken')],
        cached_tokens=30,
        reasoning_tokens=5,
    )
    said: Iterator[Step] = iter(
        [
            adds,
            adds,
            Fails(retry_after="3"),
            Fails(status=502, body=b"<html>bad gateway</html>"),
            Breaks(after=4),
            Breaks(after=20),
        ]
    )

    with openai_chat.serving(lambda _: next(said), key="k") as model:
        done = subprocess.run(
            [python, CLIENT],
            env={**os.environ, "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    calls = [
        ("call_1_0", "add", '{"a": 1, "text": "zw\\u00f6lf"}'),
        ("call_1_1", "add", '{"broken'),
    ]
    whole = seen["whole"]
    (choice,) = whole["choices"]
    assert (whole["model"], whole["system_fingerprint"]) == ("scripted-2026-03-01", "fp_scripted")
    assert whole["usage"] == usage
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "Adding."
    assert [
        (c["id"], c["function"]["name"], c["function"]["arguments"])
        for c in choice["message"]["tool_calls"]
    ] == calls
    assert seen["streamed"] == {
        "text": "Adding.",
        "calls": [
            {"id": id.replace("_1_", "_2_"), "name": name, "arguments": arguments}
            for id, name, arguments in calls
        ],
        "usage": usage,
        "finish": "tool_calls",
        "heads": [["chatcmpl-2", "scripted-2026-03-01", "fp_scripted"]],
    }
    assert seen["models"] == ["scripted-2026-03-01"]
    assert seen["busy"] == {"status": 429, "code": "rate_limit_exceeded", "retry_after": "3"}
    assert seen["html"] == {"status": 502, "code": None, "retry_after": None}
    assert {seen["broken_stream"], seen["broken_body"]} <= {
        "APIConnectionError", "RemoteProtocolError", "APIError",
    }  # fmt: skip
    assert seen["unanswered_call"]["code"] == "invalid_request_error"
    assert seen["key"] == {"status": 401, "code": "invalid_api_key", "retry_after": None}
    assert [body.get("stream", False) for body in model.requests[:3]] == [False, True, False]


def test_a_list_of_steps_is_said_in_each_conversation_and_refused_once():
    script = openai_chat.in_turn(Fails(), Says(text="one"), Says(text="two"))
    asked = {"messages": [{"role": "user", "content": "?"}]}
    later = {"messages": [*asked["messages"], {"role": "assistant", "content": "one"}]}

    assert isinstance(script(asked), Fails)
    assert script(asked) == script(asked) == Says(text="one")
    assert script(later) == Says(text="two")
    assert isinstance(script({"messages": [*later["messages"], later["messages"][1]]}), Fails)
