"""A world of kind `http`: a real service on loopback, reset before each trial and read at both ends."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import practice

from seatrial.documents.world import HttpWorld
from seatrial.errors import ToolServerError
from seatrial.state import apply, difference
from seatrial.state.validate import world_problems
from seatrial.trace import Change
from seatrial.worlds import Stage, WorldCopy, staged

SERVICE = Path(__file__).parents[1] / "servers" / "order_service.py"
SHOP = """
kind: fixture
type: world
world: http
id: shop
now: 2026-05-04T11:30:00Z
url: http://127.0.0.1:1/t/{{run}}
reset: {path: /reset}
state:
  order: {path: /orders, at: items}
tools:
  list_orders: {description: All orders., read_only: true, path: /orders}
  get_order:
    description: An order.
    read_only: true
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    path: /orders/{{args.id}}
  place_order:
    description: Place an order.
    parameters: {type: object, properties: {total: {type: number}, note: {type: string}}, required: [total]}
    method: POST
    path: /orders
    json: {total: "{{args.total}}", note: "{{args.note}}"}
  delete_order:
    description: Delete an order.
    destructive: true
    parameters: {type: object, properties: {id: {type: string}}, required: [id]}
    method: DELETE
    path: /orders/{{args.id}}
"""


@contextmanager
def service(*words: str) -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, str(SERVICE), *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with service() as address:
        yield address


def shop(address: str, *, shared: bool = False, **changes: Any) -> HttpWorld:
    url = address if shared else f"{address}/t/{{{{run}}}}"
    fixture = practice.world(SHOP, **{"url": url} | changes)
    assert isinstance(fixture, HttpWorld)
    return fixture


def tool(path: str, **more: Any) -> dict[str, Any]:
    return {"do": {"description": "Do it.", "path": path, "read_only": True, **more}}


NOWHERE = Path("nowhere")


# --- tools ---


def test_tools_are_requests_and_answers_are_structured(address: str):
    played = practice.play(
        shop(address),
        NOWHERE,
        ("get_order", {"id": "A-1"}),
        ("get_order", {"id": "A-9"}),
        ("place_order", {"total": 7.5}),
        ("delete_order", {"id": "A-2"}),
    )

    assert played.answers[0].structured == {"id": "A-1", "state": "open", "total": 20}
    assert played.texts[1] == '!{"error": "no order A-9"}'
    assert played.answers[2].structured == {"id": "N-2", "state": "open", "total": 7.5}
    assert played.texts[3] == "done"
    assert played.versions == [0, 0, 1, 2]


def test_the_state_is_read_at_both_ends_and_compared(address: str):
    played = practice.play(
        shop(address), NOWHERE, ("place_order", {"total": 1}), ("delete_order", {"id": "A-2"})
    )

    assert played.changes == (
        Change(
            what="deleted",
            type="order",
            key="A-2",
            old={"id": "A-2", "state": "sent", "total": 5},
        ),
        Change(
            what="created", type="order", key="N-2", new={"id": "N-2", "state": "open", "total": 1}
        ),
    )


def test_objects_can_be_a_mapping_from_keys(address: str):
    fixture = shop(address, state={"order": {"path": "/orders", "at": "by_id"}})

    assert practice.play(fixture, NOWHERE).start.to_json()["order"].keys() == {"A-1", "A-2"}


def test_arguments_are_encoded_and_what_was_not_given_is_left_out(address: str):
    fixture = shop(
        address,
        tools=tool(
            "/echo/{{args.id}}/x",
            method="POST",
            query={
                "q": "{{args.words}}",
                "flag": True,
                "none": "{{args.none}}",
                "day": "{{today}}",
            },
            json={"a": "{{args.deep}}", "b": ["{{args.none}}", 1], "c": "for {{args.id}}"},
            parameters={
                "type": "object",
                "properties": {"id": {"type": "string"}, "words": {}, "deep": {}, "none": {}},
            },
        ),
    )
    call = ("do", {"id": "a/../b?c#d é", "words": ["x y", "&"], "deep": {"k": "{{run}}"}})
    seen = practice.play(fixture, NOWHERE, call).answers[0].structured

    assert seen["path"] == "/a%2F..%2Fb%3Fc%23d%20%C3%A9/x?q=x+y&q=%26&flag=true&day=2026-05-04"
    assert seen["body"] == {"a": {"k": "{{run}}"}, "b": [1], "c": "for a/../b?c#d é"}


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_no_argument_leads_to_another_path(address: str, id: str):
    played = practice.play(shop(address), NOWHERE, ("delete_order", {"id": id}))

    assert played.texts == [
        "!delete_order: an argument that names something is empty, or only dots."
    ]
    assert played.changes == ()


def test_text_is_given_as_text(address: str):
    assert practice.play(shop(address, tools=tool("/page")), NOWHERE, ("do", {})).texts == [
        "<p>Grüße</p>"
    ]


def test_headers_take_variables_that_the_fixture_names_and_no_cookie_is_kept(address: str):
    fixture = shop(
        address,
        tools=tool("/echo"),
        headers={"X-Key": "Bearer {SHOP_KEY} {HOME} {{run}}"},
        pass_env=["SHOP_KEY"],
    )

    async def main(environ: dict[str, str]) -> Any:
        async with (
            staged(NOWHERE, environ) as stage,
            stage.open(fixture, run_token="r-7", seed=1) as copy,
        ):
            await copy.call("do", {})
            return (await copy.call("do", {})).structured

    seen = anyio.run(main, {"SHOP_KEY": "k-1", "HOME": "/secret"})
    assert (seen["key"], seen["cookie"]) == ("Bearer k-1 {HOME} r-7", None)
    assert fixture.variables() == ("SHOP_KEY",)
    with pytest.raises(ToolServerError, match="variable SHOP_KEY is not set"):
        anyio.run(main, {})


# --- outages ---


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/status/500", 'GET .*/status/500 answers with status 500: {"error": "as asked"}'),
        ("/status/401", "answers with status 401"),
        ("/status/302", "answers with status 302"),
        ("/garbage", "answers with what is no JSON: {not json"),
        ("/half", "answers with what is no JSON"),
        ("/not-a-number", "answers with what is no JSON"),
        ("/picture", "answers with image/png, which is no text"),
        ("/slow", r"no answer to GET .*/slow within 0\.5 s"),
        ("/endless", "answers with more than 32,000,000 bytes"),
        ("/hang-up", r"no answer to GET .*/hang-up \(.*\); is the service running\?"),
    ],
)
def test_an_outage_is_the_worlds_fault(address: str, path: str, message: str):
    with pytest.raises(ToolServerError, match=message):
        practice.play(
            shop(address, tools=tool(path), seconds=0.5 if path == "/slow" else 30.0),
            NOWHERE,
            ("do", {}),
        )


def test_which_statuses_are_refusals_is_the_fixtures_to_say(address: str):
    fixture = shop(address, tools=tool("/status/429"), refusals=[429])

    assert practice.play(fixture, NOWHERE, ("do", {})).texts == ['!{"error": "as asked"}']


def test_a_service_that_is_not_there_is_told_before_the_agent_is_asked():
    with pytest.raises(ToolServerError, match=r"no answer to POST http://127.0.0.1:1/t/r-1/reset"):
        practice.play(practice.world(SHOP), NOWHERE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reset": {"path": "/status/500"}}, "its reset, answers with status 500"),
        (
            {"state": {"order": {"path": "/nothing"}}},
            "which tells its state, answers with status 404",
        ),
        ({"state": {"order": {"path": "/page"}}}, "answers with what is no JSON"),
        (
            {"state": {"order": {"path": "/orders", "at": "items.0.id"}}},
            "GET /orders, at items.0.id, gives neither a list of order objects nor a mapping",
        ),
        (
            {"state": {"order": {"path": "/orders", "at": "items", "key": "number"}}},
            "gives a order without `number`",
        ),
        (
            {"state": {"order": {"path": "/orders", "at": "items", "key": "state"}}},
            None,
        ),
        (
            {"state": {"order": {"path": "/orders/A-1"}}},
            "what it tells of its state cannot be used",
        ),
    ],
)
def test_a_service_that_cannot_be_reset_or_read_is_told(address: str, changes, message):
    if message is None:
        assert practice.play(shop(address, **changes), NOWHERE).start.to_json()["order"].keys() == {
            "open", "sent",
        }  # fmt: skip
        return
    with pytest.raises(ToolServerError, match=message):
        practice.play(shop(address, **changes), NOWHERE)


def test_two_objects_of_one_key_are_told(address: str):
    fixture = shop(address, state={"order": {"path": "/orders", "at": "items", "key": "state"}})

    with pytest.raises(ToolServerError, match="gives two order objects with state 'open'"):
        practice.play(fixture, NOWHERE, ("place_order", {"total": 1}))


# --- trials ---


def _trials(fixture: HttpWorld, count: int) -> tuple[dict[int, int], int]:
    """Orders that each trial made, and how many trials were at it at the same time, at most."""
    made: dict[int, int] = {}
    inside = most = 0

    async def trial(stage: Stage, number: int) -> None:
        nonlocal inside, most
        async with stage.open(fixture, run_token=f"r-{number}", seed=number) as copy:
            inside += 1
            most = max(most, inside)
            for _ in range(number):
                await copy.call("place_order", {"total": number})
            made[number] = len(await copy.difference())
            inside -= 1

    async def main() -> None:
        with anyio.fail_after(60):
            async with staged(NOWHERE) as stage, anyio.create_task_group() as trials:
                for number in range(count):
                    trials.start_soon(trial, stage, number)

    anyio.run(main)
    return made, most


def test_trials_with_a_part_to_themselves_run_side_by_side(address: str):
    assert not shop(address).is_shared
    made, most = _trials(shop(address), 6)

    assert made == {number: number for number in range(6)}
    assert most > 1


def test_trials_that_nothing_tells_apart_take_turns(address: str):
    fixture = shop(address, shared=True)
    assert fixture.is_shared

    assert _trials(fixture, 4) == ({number: number for number in range(4)}, 1)


def test_what_a_reset_leaves_of_the_trial_before_is_not_taken_for_the_start():
    async def main(fixture: HttpWorld) -> None:
        async with staged(NOWHERE) as stage:
            for number in range(2):
                async with stage.open(fixture, run_token=f"r-{number}", seed=1) as copy:
                    await copy.call("place_order", {"total": 1})

    with service("leaky") as address:
        with pytest.raises(ToolServerError, match="first trial started: order N-2") as caught:
            anyio.run(main, shop(address, shared=True))
        assert "same_start: false" in caught.value.hint
        anyio.run(main, shop(address, shared=True, same_start=False))


CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("place_order"), st.fixed_dictionaries({"total": st.integers(0, 3)})),
        st.tuples(
            st.just("delete_order"),
            st.fixed_dictionaries({"id": st.sampled_from(["A-1", "N-2", "x"])}),
        ),
    ),
    max_size=4,
)


@given(CALLS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_carrying_out_the_difference_on_the_start_gives_the_end(address, calls):
    played = practice.play(shop(address), NOWHERE, *calls)

    assert apply(played.changes, played.start) == played.end
    assert difference(played.end, played.end) == ()


# --- what is wrong with it ---


def test_placeholders_that_stand_for_nothing_are_told_with_their_place():
    raw = {
        "url": "http://127.0.0.1:1/{{tenant}}",
        "reset": {"path": "/reset/{{args.id}}"},
        "state": {"order": {"path": "/orders", "query": {"at": "{{clock}}"}}},
        "tools": tool(
            "/orders/{{args.id}}",
            json={"a": "{{args.totl}}"},
            parameters={"type": "object", "properties": {"id": {}, "total": {}}},
        ),
    }
    found = dict(world_problems(practice.world(SHOP, **raw)))

    assert found == {
        "tools.do.json": "\"totl\" is no argument; did you mean 'total'?",
        "tools.do.path": "argument 'id' stands in the path, so it must be `required`, or have a "
        "`default`",
        "reset.path": '"id" is no argument',
        "state.order.query": '"clock" stands for nothing; write `args.…`, `now`, `today` or `run`',
        "url": '"tenant" stands for nothing; write `args.…`, `now`, `today` or `run`',
    }


def test_a_world_of_this_kind_is_a_tool_server(address: str):
    async def use(copy: WorldCopy) -> Any:
        return copy.name, json.dumps([t.as_mcp() for t in copy.tools()])

    name, tools = practice.opened(shop(address), NOWHERE, use)

    assert name == "shop"
    assert address not in tools
    assert sorted(shop(address).declared_types()) == ["order"]
