"""The `python` arm: functions called in this process, plain and async, and every way in which they fail."""

import dataclasses
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from tests import bike_shop

from seatrial import arms
from seatrial.errors import ArmError
from seatrial.trace import Answer

ROOT = Path(__file__).parents[2]


def test_plain_function_calls_tools_and_keeps_its_state_from_turn_to_turn():
    calls: list[Any] = []

    replies = _talk("functions:plain", "Ada", "Bo", calls=calls)

    assert [r.text for r in replies] == [
        "rented in turn 1 after 0 messages",
        "rented in turn 2 after 2 messages",
    ]
    assert calls == [("rent", {"bike": "b-1", "renter": r}) for r in ("Ada", "Bo")]


def test_async_function_calls_tools_and_reports_usage_and_model():
    (reply,) = _talk("functions:asynchronous", "Ada")

    assert (reply.text, reply.served_model) == ("rented", "m-1")
    assert reply.usage
    assert reply.usage.output_tokens == 3


def test_object_that_can_be_called_is_an_agent_and_gets_seed_and_settings():
    (reply,) = _talk("functions:an_object", "Ada")

    assert reply.text == "seed 11, ['kind']"


def test_what_a_function_prints_is_a_note_and_not_on_the_terminal(
    capsys: pytest.CaptureFixture[str],
):
    async def talk() -> list[str]:
        arm, seat = _arm("functions:prints"), _seat()
        async with arms.connections() as shared, arms.open(arm, seat, shared) as conversation:
            await conversation.reply(1, "it")
            print("the runner speaks")
        return list(conversation.notes)

    notes = anyio.run(talk)

    assert notes == ["printed by the agent:\n\x1b[2Jthinking about it\n"]
    assert capsys.readouterr().out == "the runner speaks\n"


def test_settings_of_the_arm_are_out_of_an_agents_reach():
    settings = {"tone": ["kind"]}

    _talk("functions:writes_into_its_settings", "Ada", settings=settings)

    assert settings == {"tone": ["kind"]}


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (
            "raises",
            "the agent functions:raises raised LookupError: no such customer (functions.py:38)",
        ),
        (
            "raises_asynchronously",
            "the agent functions:raises_asynchronously raised TimeoutError: the model took too long "
            "(functions.py:42)",
        ),
        (
            "raises_in_a_group",
            "the agent functions:raises_in_a_group raised ValueError: one of them",
        ),
        ("leaves", "the agent functions:leaves raised SystemExit: 3 (functions.py:50)"),
        (
            "gives_nothing",
            "the agent functions:gives_nothing sent nothing where an object like "
            '{"text": "…"} belongs',
        ),
        (
            "misspelt",
            "the agent functions:misspelt: module 'functions' has no function 'misspelt'; it has "
            "plain, asynchronous, prints,",
        ),
    ],
)
def test_function_that_fails_is_unreachable_and_named(function: str, says: str):
    with pytest.raises(ArmError) as failed:
        _talk(f"functions:{function}", "Ada")

    assert failed.value.cause == "agent_unreachable"
    assert failed.value.message.startswith(says), failed.value.message


def test_module_that_is_not_there_is_named_with_the_place_it_was_looked_for():
    with pytest.raises(ArmError) as failed:
        _talk("no_such_module:f", "Ada")

    assert failed.value.message == (
        "the agent no_such_module:f: there is no module 'no_such_module' at the repository's root"
    )


def test_module_that_cannot_be_imported_is_tried_once_a_run():
    async def try_twice() -> list[str]:
        messages = []
        async with arms.connections() as shared:
            for _ in range(2):
                with pytest.raises(ArmError) as failed:
                    async with arms.open(_arm("broken_module:f"), _seat(), shared):
                        raise AssertionError
                messages.append(failed.value.message)
        return messages

    first, second = anyio.run(try_twice)

    assert first == second
    assert first == (
        "the agent broken_module:f cannot be imported: ModuleNotFoundError: "
        "No module named 'no_such_dependency' (broken_module.py:6)"
    )
    assert os.environ.pop("IMPORTS_OF_BROKEN_MODULE") == "x"


def test_hanging_function_is_left_behind_and_keeps_nobody_waiting():
    async def give_up() -> tuple[bool, Any]:
        async with arms.connections() as shared:
            with anyio.move_on_after(0.2) as scope:
                async with arms.open(_arm("functions:hangs"), _seat(), shared) as conversation:
                    await conversation.reply(1, "Hello.")
            functions = sys.modules["functions"]
            functions.LET_GO.set()
            late = await anyio.to_thread.run_sync(functions.LATE.get, True, 30)
        return scope.cancelled_caught, late

    assert anyio.run(give_up) == (True, "rented")  # whether it may is the channel's business


def test_plain_functions_run_side_by_side():
    async def all_at_once() -> float:
        async with arms.connections() as shared:
            started = anyio.current_time()
            async with anyio.create_task_group() as tasks:
                for _ in range(40):
                    tasks.start_soon(converse, shared)
            return anyio.current_time() - started

    async def converse(shared: arms.Connections) -> None:
        async with arms.open(_arm("functions:is_slow"), _seat(), shared) as conversation:
            await conversation.reply(1, "Hello.")

    assert anyio.run(all_at_once) < 40 * 0.05


AGENTS = ROOT / "tests" / "agents"


def _talk(
    target: str | None,
    *texts: str,
    calls: list[Any] | None = None,
    settings: Any = None,
    build: str | None = None,
) -> list[arms.Reply]:
    async def talk() -> list[arms.Reply]:
        seat = _seat(calls)
        if settings is not None:
            seat = dataclasses.replace(seat, settings=settings)
        with anyio.fail_after(30):
            async with (
                arms.connections() as shared,
                arms.open(_arm(target, build), seat, shared) as conversation,
            ):
                return [await conversation.reply(n, t) for n, t in enumerate(texts, 1)]

    return anyio.run(talk)


def _arm(target: str | None, build: str | None = None) -> Any:
    named = {"target": target} if build is None else {"build": build}
    return bike_shop.arm("x", {"type": "python", **named})


def _seat(calls: list[Any] | None = None) -> arms.Seat:
    async def call(tool: str, arguments: dict[str, Any], server: str | None = None) -> Answer:
        if calls is not None:
            calls.append((tool, arguments))
        return Answer.of_text("rented")

    return arms.Seat(
        run="r1",
        trial="t1",
        root=AGENTS,
        now="2026-04-01T10:00:00Z",
        seed=11,
        settings={"tone": ["kind"]},
        url="http://127.0.0.1:1/c/x",
        urls={"bike-shop": "http://127.0.0.1:1/c/x/bike-shop/mcp"},
        token="t0ken",
        config={"mcpServers": {}},
        call=call,
    )


def test_builder_of_the_product_makes_a_fresh_agent_of_the_settings_for_each_trial():
    settings = {"times": 2, "mark": "!"}

    first, second = (
        _talk(None, "Ada", "Bo", build="functions:build_shouting", settings=settings)
        for _ in range(2)
    )

    assert [r.text for r in first] == [r.text for r in second] == ["Ada!! (1)", "Bo!! (2)"]


def test_builder_may_be_async_and_make_an_async_agent():
    (reply,) = _talk(None, "Ada", build="functions:build_asynchronously", settings={"times": 2})

    assert reply.text == "Ada of 2"


@pytest.mark.parametrize(
    ("build", "settings", "says"),
    [
        ("build_shouting", {"times": 4}, "settings.times must be at most 3, not 4"),
        ("build_shouting", {}, "settings.times is required"),
        ("build_nothing", {}, "gave NoneType; an agent is called with a text and a seat"),
        ("build_badly", {}, "raised KeyError: 'times'"),
    ],
)
def test_agent_that_cannot_be_built_says_why(build: str, settings: dict[str, Any], says: str):
    with pytest.raises(ArmError) as caught:
        _talk(None, "Ada", build=f"functions:{build}", settings=settings)

    assert caught.value.cause == "agent_unreachable"
    assert says in caught.value.message
