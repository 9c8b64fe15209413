"""What becomes of a call, and what is written down about it."""

import anyio
import pytest
from tests.lending_desk import LendingDesk

from seatrial.documents import Answers
from seatrial.errors import MockError, UsageError
from seatrial.gateway import Channel, ChannelClosed, Fault, Gateway
from seatrial.trace import Called, Json, Listed


class Clerk:
    """May look and lend what is no saw; sees no way to scrap."""

    def refusal(self, action: str, arguments: dict[str, Json]) -> str | None:
        if action in {"scrap", "die"}:
            return f"clerks may not {action}"
        if action == "lend" and arguments.get("thing") == "saw":
            return "clerks may lend where thing not_equals saw"
        return None

    def visible(self, action: str) -> bool:
        return action != "scrap"


def mocked(**tools: list[dict[str, Json]]) -> Answers:
    rules = {name: {"rules": rules} for name, rules in tools.items()}
    return Answers.model_validate(
        {"kind": "fixture", "type": "answers", "id": "made-up", "tools": rules}
    )


def one_call(channel: Channel, tool: str, **arguments: Json) -> Called:
    async def call() -> None:
        with anyio.fail_after(20):
            await channel.call(tool, arguments)

    anyio.run(call)
    event = channel.events[-1]
    assert isinstance(event, Called)
    return event


def test_a_call_the_world_answers_is_recorded_with_what_the_tool_declares():
    times = iter([100.0, 130.0])
    channel = Channel([LendingDesk()], clock=lambda: next(times))
    channel.turn = 2

    event = one_call(channel, "look_up", thing="saw")

    assert event.model_dump() == {
        "event": "called",
        "turn": 2,
        "number": 1,
        "server": "desk",
        "tool": "look_up",
        "arguments": {"thing": "saw"},
        "answer": {
            "content": ({"type": "text", "text": '{"thing": "saw", "holder": "desk"}'},),
            "structured": {"thing": "saw", "holder": "desk"},
            "is_error": False,
            "code": None,
        },
        "answered_by": "world",
        "rule": None,
        "fault": None,
        "refused": None,
        "read_only": True,
        "destructive": False,
        "leaves_world": None,
        "changed": False,
        "misfits": (),
        "at_ms": 100.0,
        "took_ms": 30.0,
        "waited_ms": 0.0,
    }


def test_what_does_not_fit_the_schema_is_recorded_also_of_calls_that_are_refused_anyway():
    channel = Channel([LendingDesk()], rights=Clerk())

    wrong = one_call(channel, "lend", thing="drill")
    refused = one_call(channel, "scrap", thong="saw")
    invented = one_call(channel, "borrow")

    assert wrong.misfits == ("to is required",)
    assert refused.misfits == (
        "thing is required",
        "thong is unknown (known: thing); did you mean 'thing'?",
    )
    assert invented.misfits == ("there is no such tool",)


def test_of_arguments_that_do_not_fit_in_a_thousand_ways_a_few_are_recorded_in_short():
    odd = {"x" * 5000 + str(number): number for number in range(1000)}

    event = one_call(Channel([LendingDesk()]), "list_all", **odd)

    assert event.misfits is not None
    assert [len(misfit) for misfit in event.misfits] == [300] * 5


def test_a_call_that_changes_the_world_says_so_and_one_that_fails_does_not():
    desk = LendingDesk()
    channel = Channel([desk])

    lent = one_call(channel, "lend", thing="saw", to="Ada")
    again = one_call(channel, "lend", thing="saw", to="Eve")

    assert (lent.changed, lent.answer.is_error) == (True, False)
    assert (again.changed, again.answer.is_error) == (False, True)
    assert desk.holders["saw"] == "Ada"


def test_a_refused_call_is_a_violation_even_though_nothing_changed():
    desk = LendingDesk()

    event = one_call(Channel([desk], rights=Clerk()), "scrap", thing="saw")

    assert event.refused == "clerks may not scrap"
    assert event.answered_by == "gateway"
    assert event.answer.is_error
    assert event.answer.text == "Not allowed: clerks may not scrap"
    assert not event.changed
    assert "saw" in desk.holders


def test_rights_may_depend_on_the_arguments():
    channel = Channel([LendingDesk()], rights=Clerk())

    assert one_call(channel, "lend", thing="saw", to="Ada").refused is not None
    assert one_call(channel, "lend", thing="drill", to="Ada").refused is None


def test_a_tool_out_of_sight_is_not_listed():
    channel = Channel([LendingDesk()], rights=Clerk())

    seen = [tool.name for tool in channel.list_tools()]

    assert "scrap" not in seen
    assert "lend" in seen
    assert channel.events[-1] == Listed(
        turn=0, server="desk", tools=tuple(seen), at_ms=channel.events[-1].at_ms
    )


def test_an_unknown_tool_is_an_error_the_agent_can_read_and_no_violation():
    event = one_call(Channel([LendingDesk()], rights=Clerk()), "steal", thing="saw")

    assert event.answer.text == "Unknown tool: steal"
    assert event.answer.is_error
    assert event.answered_by == "gateway"
    assert event.refused is None
    assert event.read_only is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "thing is required"),
        ({"thing": 7}, "thing must be text, not number 7"),
        ({"thing": "saw", "fast": True}, "fast is unknown"),
    ],
)
def test_arguments_that_do_not_fit_are_named_and_never_reach_the_world(
    arguments: dict[str, Json], told: str
):
    event = one_call(Channel([LendingDesk()]), "look_up", **arguments)

    assert told in event.answer.text
    assert event.answer.is_error
    assert event.answered_by == "gateway"
    assert event.arguments == arguments


def test_a_call_beyond_the_limit_is_not_carried_out_and_the_runner_hears_of_it():
    desk = LendingDesk()
    channel = Channel([desk], calls_limit=1)

    async def two_calls() -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(channel.until_limit)
                await channel.call("lend", {"thing": "saw", "to": "Ada"})
                assert not channel.limit_hit
                await channel.call("lend", {"thing": "drill", "to": "Ada"})

    anyio.run(two_calls)

    assert channel.limit_hit
    assert desk.holders == {"saw": "Ada", "drill": "desk"}
    last = channel.events[-1]
    assert isinstance(last, Called)
    assert last.answer.is_error
    assert last.refused is None
    assert last.number == 2


def test_a_refusal_beyond_the_limit_is_still_a_violation():
    channel = Channel([LendingDesk()], rights=Clerk(), calls_limit=1)
    one_call(channel, "list_all")

    assert one_call(channel, "scrap", thing="saw").refused == "clerks may not scrap"
    assert channel.limit_hit


def test_a_mocked_tool_answers_from_its_fixture_with_structured_content():
    answers = mocked(
        look_up=[
            {"when": {"thing": "saw"}, "error": "{{args.thing}} is on loan until {{today}}"},
            {"answer": {"thing": "{{args.thing}}", "holder": "{{run}}"}, "delay_ms": 5},
        ]
    )
    channel = Channel([LendingDesk()], answers=answers, lookup={"run": "r7", "today": "2026-04-01"})

    refused = one_call(channel, "look_up", thing="saw")
    given = one_call(channel, "look_up", thing="lamp")

    assert (refused.answered_by, refused.rule) == ("mock", "rules[0]")
    assert refused.answer.is_error
    assert refused.answer.text == "saw is on loan until 2026-04-01"
    assert (given.answered_by, given.rule) == ("mock", "rules[1]")
    assert given.answer.structured == {"thing": "lamp", "holder": "r7"}
    assert refused.waited_ms == 0
    assert given.waited_ms >= 5


def test_rights_and_arguments_come_before_a_mocked_answer():
    channel = Channel(
        [LendingDesk()],
        rights=Clerk(),
        answers=mocked(look_up=[{"answer": {"thing": "x", "holder": "y"}}]),
    )

    assert one_call(channel, "look_up").answered_by == "gateway"


def test_a_mocked_answer_that_no_client_would_take_makes_the_trial_invalid():
    with pytest.raises(MockError, match=r"rules\[0\].answer does not fit .* holder is required"):
        Channel([LendingDesk()], answers=mocked(look_up=[{"answer": {"thing": "saw"}}]))

    # What placeholders stand for is known only when it is called.
    answers = mocked(look_up=[{"answer": {"thing": "saw", "holder": "{{args.owner}}"}}])
    channel = Channel([LendingDesk()], answers=answers)
    event = one_call(channel, "look_up", thing="saw")

    assert event.answer.is_error
    assert [f.cause for f in channel.faults] == ["tool_server"]
    assert "holder must be text, not null" in channel.faults[0].message


@pytest.mark.parametrize("answer", [{"thing": "\ud800", "holder": "x"}, "\udfff"])
def test_a_mocked_answer_that_is_no_json_makes_the_trial_invalid(answer: Json):
    channel = Channel([LendingDesk()], answers=mocked(list_all=[{"answer": answer}]))

    event = one_call(channel, "list_all")

    assert event.answer.text == "The tool server desk failed."
    assert [f.cause for f in channel.faults] == ["tool_server"]
    assert "no JSON" in channel.faults[0].message


def test_a_mocked_object_comes_in_both_forms_even_where_the_tool_declares_nothing():
    answers = mocked(list_all=[{"answer": {"saw": "Ada"}}], print=[{"answer": ["a", 1]}])
    channel = Channel([LendingDesk()], answers=answers)

    given = one_call(channel, "list_all").answer
    listed = one_call(channel, "print", letters=1).answer

    assert (given.text, given.structured) == ('{"saw": "Ada"}', {"saw": "Ada"})
    assert (listed.text, listed.structured) == ('["a", 1]', None)


def test_what_a_rule_asks_for_may_hold_placeholders_and_what_was_not_given_fits_nothing():
    answers = mocked(
        look_up=[
            {"when": {"thing": "{{args.owner}}"}, "error": "never: owner is not given"},
            {
                "when": {"thing": {"starts_with": "{{run}}-"}},
                "error": "made for {{run}}{{args.owner}}",
            },
            {"when": {"thing": {"one_of": ["a", "{{run}}"]}}, "error": "the run's own"},
        ]
    )
    channel = Channel([LendingDesk()], answers=answers, lookup={"run": "r7"})

    assert one_call(channel, "look_up", thing="r7-saw").answer.text == "made for r7"
    assert one_call(channel, "look_up", thing="r7").answer.text == "the run's own"
    assert one_call(channel, "look_up", thing="{{run}}-x").rule is None


@pytest.mark.parametrize("tool", ["lend", "scrap", "teleport"])
def test_only_tools_that_declare_themselves_read_only_can_be_mocked(tool: str):
    with pytest.raises(MockError, match=tool):
        Channel([LendingDesk()], answers=mocked(**{tool: [{"answer": "ok"}]}))


def test_a_server_that_dies_is_a_fault_and_its_details_stay_with_us():
    channel = Channel([LendingDesk()])

    event = one_call(channel, "die")

    assert event.answer.text == "The tool server desk failed."
    assert event.answer.is_error
    assert channel.faults == (
        Fault("tool_server", "connection closed by the lending server at 10.1.2.3"),
    )


@pytest.mark.parametrize(
    ("tool", "error"), [("stumble", ZeroDivisionError), ("babble", ValueError)]
)
def test_a_bug_behind_a_tool_is_kept_for_the_runner_to_raise(tool: str, error: type[Exception]):
    channel = Channel([LendingDesk()])

    event = one_call(channel, tool)

    assert event.answer.text == "The tool server desk failed."
    assert [f.cause for f in channel.faults] == ["internal"]
    assert isinstance(channel.faults[0].error, error)


def test_what_is_recorded_does_not_change_when_the_agent_changes_what_it_gave_and_got():
    channel = Channel([LendingDesk()])
    arguments: dict[str, Json] = {"thing": "saw"}

    async def call_and_scribble() -> None:
        answer = await channel.call("look_up", arguments)
        arguments["thing"] = "scribble"
        answer.structured["holder"] = "scribble"

    anyio.run(call_and_scribble)

    event = channel.events[-1]
    assert isinstance(event, Called)
    assert event.arguments == {"thing": "saw"}
    assert event.answer.structured == {"thing": "saw", "holder": "desk"}


def test_arguments_that_are_no_json_are_the_callers_mistake():
    channel = Channel([LendingDesk()])

    with pytest.raises(ValueError, match="JSON"):
        one_call(channel, "look_up", thing={"a", "b"})

    with pytest.raises(ValueError, match="surrogate"):
        one_call(channel, "look\ud800up")
    assert channel.events == ()


def test_calls_are_numbered_and_listed_as_they_came_in_not_as_they_ended():
    desk = LendingDesk()
    channel = Channel([desk])

    async def a_slow_and_a_quick_call() -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(channel.call, "queue", {"thing": "saw"})
                await desk.someone_waits.wait()
                await channel.call("list_all", {})
                assert [e.tool for e in channel.events if isinstance(e, Called)] == ["list_all"]
                desk.clerk.set()

    anyio.run(a_slow_and_a_quick_call)

    assert [(e.tool, e.number) for e in channel.events if isinstance(e, Called)] == [
        ("queue", 1),
        ("list_all", 2),
    ]


def test_closing_cuts_what_is_under_way_short_and_nothing_is_recorded_after():
    desk = LendingDesk()
    channel = Channel([desk])

    async def close_meanwhile() -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(channel.call, "queue", {"thing": "saw"})
                await desk.someone_waits.wait()
                channel.close()
                channel.close()
                events = channel.events
                desk.clerk.set()
            with pytest.raises(ChannelClosed):
                await channel.call("list_all", {})
            with pytest.raises(ChannelClosed):
                channel.list_tools()
            assert channel.events == events

    anyio.run(close_meanwhile)

    (event,) = channel.events
    assert isinstance(event, Called)
    assert event.answer.text == "Not answered: the conversation ended."
    assert event.answer.is_error
    assert desk.holders["saw"] == "desk"


def test_a_tool_is_found_on_the_server_that_has_it_unless_the_server_is_named():
    first, second = LendingDesk("first"), LendingDesk("second", things=["lamp"])
    channel = Channel([first, second])

    async def call() -> None:
        assert (await channel.call("list_all", {})).text == "drill, saw"
        assert (await channel.call("list_all", {}, server="second")).text == "lamp"
        with pytest.raises(UsageError, match="third"):
            await channel.call("list_all", {}, server="third")

    anyio.run(call)

    assert [e.server for e in channel.events if isinstance(e, Called)] == ["first", "second"]


def test_two_servers_of_one_name_are_refused():
    with pytest.raises(UsageError, match="same name"):
        Channel([LendingDesk(), LendingDesk()])


def test_each_trial_has_an_address_and_a_token_of_its_own():
    gateway = Gateway(port=8123)
    one, other = gateway.open([LendingDesk()]), gateway.open([LendingDesk()])

    assert one.config() == {
        "mcpServers": {
            "desk": {
                "type": "http",
                "url": f"http://127.0.0.1:8123/c/{one.secret}/desk/mcp",
                "headers": {"Authorization": f"Bearer {one.token}"},
            }
        }
    }
    assert len({one.secret, one.token, other.secret, other.token}) == 4
    assert gateway.open_channels == 2
    one.close()
    assert gateway.open_channels == 1
