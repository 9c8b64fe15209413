"""State never leaks between trials: each plants a word of its own wherever it can, and none finds another's.

The word is the trial's token. It is planted in the world (as the renter of a bike), in the conversation (the
person says it), and in the agent's memory: what Seatrial keeps for it from turn to turn, the history it is
sent, and the folders it is given. Then every trace is searched whole for the words of all other trials.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from tests import bike_shop
from tests.servers import openai_chat
from tests.servers.openai_chat import Says, Step
from tests.shop_trials import carried_out

from seatrial.documents import Adapter, Arm, Case, Persona
from seatrial.trace import Trace

AGENTS = Path(__file__).parents[1] / "agents"
KINDS = (
    "python", "command", "command per turn", "http", "http in a form of its own", "openai", "mcp", "mcp at a url",
    "a2a",
)  # fmt: skip
"""Every kind of arm that is executed; what is recorded elsewhere has no state here."""
TURN = {
    "text": "{{text}}", "turn": "{{turn}}", "history": "{{history}}", "thread": "{{session}}",
    "mcp": "{{mcp}}", "settings": "{{settings}}",
}  # fmt: skip
FOUND = {"text": "text", "session": "thread"}
TRIALS = 6
PERSON = Persona.model_validate({
    "kind": "fixture", "type": "persona", "id": "somebody", "goal": "Have a bike.",
    "opening": "I am {{run}}.", "otherwise": "I am {{run}}.", "max_turns": 2,
})  # fmt: skip


@pytest.mark.parametrize(
    ("talks", "at_once"), [("script", 1), ("persona", None)], ids=["one-by-one", "side-by-side"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_no_trial_finds_the_word_of_another(
    tmp_path: Path, kind: str, at_once: int | None, talks: str
):
    traces = tried(tmp_path, kind, at_once, case(talks))

    words = {trace.run_token for trace in traces}
    assert len(words) == TRIALS
    for trace in traces:
        assert len(trace.replies) == 2, trace
        whole = trace.model_dump_json()
        # It was planted everywhere, and what was looked at is in the trace.
        assert f'"renter":"{trace.run_token}"' in whole
        assert "I found: " in trace.replies[0].text
        assert [word for word in words - {trace.run_token} if word in whole] == []
        # Nothing was there before it came.
        assert trace.run_token not in trace.replies[0].text


def test_every_kind_of_arm_that_is_executed_is_looked_at():
    kinds = {get_args(a.model_fields["type"].annotation)[0] for a in get_args(get_args(Adapter)[0])}

    assert kinds - {"recorded"} == {kind.partition(" ")[0] for kind in KINDS}


def test_a_word_that_does_leak_is_found(tmp_path: Path):
    """The canary sings: with one service that forgets to tell its conversations apart, it is found."""
    traces = tried(tmp_path, "http", 1, case("script"), leaking=True)

    words = {trace.run_token for trace in traces}
    assert any(
        word in trace.model_dump_json() for trace in traces for word in words - {trace.run_token}
    )


def case(talks: str) -> Case:
    checks = [{"check": "tool_called", "tool": "rent"}]
    if talks == "script":
        return bike_shop.case(turns=[{"say": "I am {{run}}."}] * 2, checks=checks)
    raw = bike_shop.case(checks=checks).model_dump(mode="json", exclude_unset=True, by_alias=True)
    del raw["task"]
    return Case.model_validate({**raw, "persona": PERSON.id})


def tried(
    root: Path, kind: str, at_once: int | None, told: Case, *, leaking: bool = False
) -> list[Trace]:
    for name in ("looks_for_others.py", "shop_agents.py"):
        (root / name).write_bytes((AGENTS / name).read_bytes())
    with armed(kind, at_once, leaking=leaking) as arm:
        catalog = bike_shop.catalog(told, arm)
        catalog = replace(catalog, fixtures={**catalog.fixtures, PERSON.id: PERSON})
        return [trace for _, trace in carried_out(root, catalog, trials=TRIALS)]


@contextmanager
def armed(kind: str, at_once: int | None, *, leaking: bool) -> Iterator[Arm]:
    limits = {} if at_once is None else {"at_once": at_once}
    settings = {"mark": ""}
    adapter: dict[str, Any]
    match kind:
        case "python":
            adapter = {"type": "python", "target": "shop_agents:looks_for_others"}
            yield bike_shop.arm("x", adapter, settings=settings, limits=limits)
        case "command" | "command per turn":
            adapter = {"type": "command", "command": ["{python}", "looks_for_others.py"]}
            if kind == "command per turn":
                adapter["per_turn"] = {"stdin": "turn", "response": {"text": "$.text"}}
            yield bike_shop.arm("x", adapter, settings=settings, limits=limits)
        case "mcp":
            command = ["{python}", "looks_for_others.py", "--mcp"]
            adapter = {"type": "mcp", "command": command, "tool": "ask", "arguments": TURN}
            adapter["response"] = {"text": "$.structuredContent.text"}
            yield bike_shop.arm("x", adapter, settings=settings, limits=limits)
        case "http" | "http in a form of its own" | "mcp at a url" | "a2a":
            with service("--leaking" if leaking else "--serve") as url:
                adapter = {"type": "http", "url": url}
                if kind == "http in a form of its own":
                    adapter["request"] = TURN
                    adapter["response"] = {"text": "$.text", "session": "$.thread"}
                elif kind == "a2a":
                    adapter = {"type": "a2a", "url": url, "metadata": TURN}
                elif kind == "mcp at a url":
                    adapter = {"type": "mcp", "url": f"{url}mcp", "tool": "ask", "arguments": TURN}
                    found = {key: f"$.structuredContent.{name}" for key, name in FOUND.items()}
                    adapter["response"] = found
                yield bike_shop.arm("x", adapter, settings=settings, limits=limits)
        case _:
            with openai_chat.serving(model) as served:
                adapter = {"type": "openai", "url": served.url}
                named = {"name": openai_chat.MODEL}
                yield bike_shop.arm("x", adapter, model=named, limits=limits)


def model(body: dict[str, Any]) -> Step:
    """Looks a bike up, tells all that it was sent, and rents the bike in its own name."""
    messages = body["messages"]
    own = next(m["content"] for m in messages if m["role"] == "user").split()[2].rstrip(".")
    turn = [at for at, message in enumerate(messages) if message["role"] == "user"][-1]
    done = sum(message["role"] == "assistant" for message in messages[turn:])
    if done == 0:
        return Says(calls=[("get_bike", {"bike": "b-1"})])
    if done == 1:
        return Says(calls=[("rent", {"bike": "b-1", "renter": own})])
    # What the person has just said and what was rented in it is its own; all else it must not know.
    sent = json.dumps([m for m in messages if m["role"] in ("system", "tool")][: 1 + turn])
    return Says(text=f"I found: {sent.replace(own, '(own)')}")


@contextmanager
def service(how: str) -> Iterator[str]:
    command = [sys.executable, str(AGENTS / "looks_for_others.py"), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
