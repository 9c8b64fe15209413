"""Actions on a state: what each part of the language does."""

import copy
import json
from typing import Any

import pytest

from seatrial.documents.world import ObjectsWorld
from seatrial.errors import WorldError
from seatrial.state.actions import Actions
from seatrial.state.difference import difference
from seatrial.state.scope import Trial
from seatrial.state.validate import world_problems
from seatrial.state.values import containers
from seatrial.trace import Change

DESK: dict[str, Any] = {
    "kind": "fixture",
    "type": "world",
    "id": "desk",
    "now": "2026-05-04T11:30:00+02:00",
    "types": {
        "ticket": {
            "required": ["status"],
            "properties": {
                "id": {"type": "string"},
                "status": {"enum": ["open", "closed"]},
                "title": {"type": "string", "maxLength": 20},
                "tags": {"type": "array", "items": {"type": "string"}},
                "hours": {"type": "number"},
                "meta": {"type": "object"},
                "owner": {"type": ["string", "null"]},
            },
        },
        "person": {
            "key": "number",
            "properties": {"number": {"type": "integer"}, "name": {"type": "string"}},
        },
    },
    "links": {"follows": {"from": "person", "to": "ticket"}},
    "objects": {
        "ticket": [
            {"id": "t-1", "status": "open", "title": "Lamp", "tags": ["a"], "hours": 0.1},
            {"id": "t-2", "status": "open", "meta": {"days": {"mon": {"seats": 3}}, "log": [1, 2]}},
            {"id": "t-3", "status": "closed", "owner": None},
        ],
        "person": [{"number": 7, "name": "Ada"}, {"number": 8, "name": "Tom"}],
    },
    "linked": [
        {"type": "follows", "from": "7", "to": "t-1"},
        {"type": "follows", "from": "8", "to": "t-1"},
    ],
    "actions": {},
}
TICKET = {"ticket": {"type": "ticket", "key": "{{args.id}}"}}
TRIAL = Trial(run="run-5", seed=3)


def desk(properties: dict[str, Any] | None = None, **action: Any) -> Actions:
    """A world with one action `do`, whose arguments have these schemas."""
    document = copy.deepcopy(DESK)
    parameters = {"type": "object", "properties": properties or {"id": {"type": "string"}}}
    document["actions"]["do"] = {"description": "Do it.", "parameters": parameters, **action}
    world = ObjectsWorld.model_validate(document)
    assert world_problems(world) == []
    return Actions(world)


def do(actions: Actions, arguments: dict[str, Any] | None = None, *more: dict[str, Any]) -> Any:
    """The answer of the last call, and the changes of all."""
    state = actions.start
    for given in (arguments or {}, *more):
        outcome = actions.carry_out("do", given, state, TRIAL)
        state = outcome.state
    return outcome.answer, difference(actions.start, state)


def changed(key: str, property: str, old: Any, new: Any, **more: Any) -> Change:
    return Change(
        what="changed", type="ticket", key=key, property=property, old=old, new=new, **more
    )


# Returns


@pytest.mark.parametrize(
    ("returns", "text", "structured"),
    [
        ("done", "done", None),
        ("{{ticket.title}}", "Lamp", None),
        ("{{ticket.hours}}", "0.1", None),
        ("{{ticket.tags}}", '["a"]', None),
        ("{{ticket.owner}}", "", None),
        ("{{ticket.tags.0}} of {{ticket}}", None, None),
        (None, "null", None),
        ({"a": "{{ticket.hours}}", "b": "{{ticket.owner}}"}, '{"a": 0.1}', {"a": 0.1}),
        ({"a": ["{{args.id}}", "{{args.other}}"]}, '{"a": ["t-1"]}', {"a": ["t-1"]}),
        ("{{run}} {{now}} {{today}}", "run-5 2026-05-04T11:30:00+02:00 2026-05-04", None),
        ("{{now - 90 minutes}}", "2026-05-04T10:00:00+02:00", None),
        ("{{ today + 1 week }}", "2026-05-11", None),
        ("{{objects.person.7.name}}", "Ada", None),
        ("{{objects.ticket[args.id].status}}", "open", None),
        ("{{objects.ticket[args.other].status}}", "", None),
        ({"$sum": ["{{ticket.hours}}", 0.2]}, "0.3", None),
        ({"$each": "ticket.tags", "$value": "<{{each}}>"}, '["<a>"]', None),
        ({"$first": ["{{args.other}}", "{{ticket.owner}}", "nobody"]}, "nobody", None),
        ({"$first": "{{ticket.tags}}"}, "a", None),
        ({"$first": []}, "", None),
        ({"$sum": {"$each": "ticket.tags", "$value": 2}}, "2", None),
    ],
)
def test_returns(returns, text, structured):
    other = {"id": {"type": "string"}, "other": {"type": "string"}}
    answer, changes = do(desk(other, bind=TICKET, returns=returns), {"id": "t-1"})

    assert not answer.is_error
    assert changes == ()
    assert answer.structured == structured
    if text is not None:
        assert answer.text == text


def test_what_an_argument_brings_is_not_looked_up_again():
    actions = desk(returns={"a": "{{args.id}}", "b": "say {{args.id}}", "{{args.id}}": 1})
    answer, _ = do(actions, {"id": "{{run}}"})

    assert answer.structured == {"a": "{{run}}", "b": "say {{run}}", "{{run}}": 1}


def test_what_an_agent_is_given_is_its_own_to_change():
    actions = desk(bind=TICKET, returns={"ticket": "{{ticket}}"})
    before = json.dumps(actions.start.to_json())
    answer, _ = do(actions, {"id": "t-2"})
    for part in list(containers(answer.structured)):
        part.clear()

    assert json.dumps(actions.start.to_json()) == before


def test_what_an_agent_gives_is_not_shared_with_the_world():
    given = {"tags": ["x"]}
    actions = desk(
        {"tags": {"type": "array"}},
        bind={"ticket": {"type": "ticket", "key": "t-1"}},
        effects=[{"effect": "set", "object": "ticket", "properties": {"tags": "{{args.tags}}"}}],
    )
    outcome = actions.carry_out("do", given, actions.start, TRIAL)
    given["tags"].append("y")

    assert outcome.state.to_json()["ticket"]["t-1"]["tags"] == ["x"]


# Arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "do: argument `id` is required."),
        ({"id": 5}, "do: argument `id` must be text, not number 5."),
        (
            {"id": "t-1", "ide": 1},
            "do: argument `ide` is unknown (known: id); did you mean 'id'?",
        ),
        ({"id": float("nan")}, "do: the arguments are no JSON: "),
        ({"id": {1, 2}}, "do: the arguments are no JSON: set is no JSON value."),
        ({5: "t-1"}, "do: the arguments are no JSON: a key must be text, not int 5."),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments, text):
    parameters = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    }
    answer, changes = do(desk(parameters=parameters, returns="{{args.id}}"), arguments)

    assert answer.is_error
    assert answer.text.startswith(text)
    assert changes == ()


def test_arguments_that_are_not_declared_pass_where_the_schema_lets_them():
    parameters = {"type": "object", "additionalProperties": True}
    actions = desk(parameters=parameters, returns="{{args}}")

    assert do(actions, {"x": 1})[0].structured == {"x": 1}
    assert actions.tools[0].input_schema["additionalProperties"] is True


def test_an_argument_not_given_takes_its_default():
    actions = desk({"n": {"type": "integer", "default": 3}}, returns="{{args.n}}")

    assert do(actions)[0].text == "3"
    assert do(actions, {"n": 4})[0].text == "4"


def test_a_tool_that_is_not_there_is_told_with_those_that_are():
    actions = desk()
    outcome = actions.carry_out("dou", {}, actions.start, TRIAL)

    assert outcome.answer.is_error
    assert outcome.answer.text == "dou: there is no such tool (there are do); did you mean 'do'?"


def test_a_very_long_argument_is_not_repeated_in_full():
    answer, _ = do(desk(bind=TICKET), {"id": "x" * 1_000_000})
    unknown, _ = do(desk(), {"x" * 1_000_000: 1})

    assert len(answer.text) < 200
    assert len(unknown.text) < 200


def test_arguments_that_are_nested_very_deep_are_refused():
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    answer, _ = do(desk({"x": {}}), {"x": deep})
    fine, _ = do(desk({"x": {}}), {"x": [[[1]]]})

    assert answer.text == "do: the arguments are nested deeper than 100 levels."
    assert not fine.is_error


# Bind and find


def test_an_object_that_is_not_there_is_an_error_in_the_documents_words_or_ours():
    own = {"ticket": {"type": "ticket", "key": "{{args.id}}", "error": "No {{args.id}} here"}}

    assert do(desk(bind=TICKET), {"id": "t-9"})[0].text == "do: there is no ticket 't-9'."
    assert do(desk(bind=own), {"id": "t-9"})[0].text == "No t-9 here"
    assert do(desk(bind=TICKET), {})[0].text == "do: no ticket was named."
    assert do(desk(bind=TICKET), {"id": ""})[0].text == "do: no ticket was named."


def test_a_whole_number_is_a_key_as_its_digits():
    actions = desk(
        {"n": {"type": "integer"}},
        bind={"person": {"type": "person", "key": "{{args.n}}"}},
        returns="{{person}}",
    )

    assert do(actions, {"n": 7})[0].structured == {"number": 7, "name": "Ada"}


def test_what_hangs_on_an_optional_object_that_was_not_named_is_left_out():
    actions = desk(
        bind={"ticket": {"type": "ticket", "key": "{{args.id}}", "optional": True}},
        preconditions=[{"of": "ticket", "where": {"status": "open"}, "error": "It is closed"}],
        effects=[
            {"effect": "set", "object": "ticket", "properties": {"status": "closed"}},
            {"effect": "link", "type": "follows", "from": "7", "to": "{{ticket.id}}"},
        ],
        returns={"ticket": "{{ticket.id}}"},
    )

    assert do(actions, {}) == (do(actions, {})[0], ())
    assert do(actions, {})[0].structured == {}
    assert do(actions, {"id": "t-2"})[1] == (
        Change(what="linked", type="follows", key="7", to="t-2"),
        changed("t-2", "status", "open", "closed"),
    )
    assert do(actions, {"id": "t-3"})[0].text == "It is closed"
    assert do(actions, {"id": "t-9"})[0].is_error


@pytest.mark.parametrize(
    ("find", "arguments", "found"),
    [
        ({"where": {"status": "open"}}, {}, ["t-1", "t-2"]),
        ({"where": {"status": "open"}, "limit": 1}, {}, ["t-1"]),
        ({"where": {"title": {"contains": "{{args.id}}"}}}, {"id": "am"}, ["t-1"]),
        ({"where": {"title": {"contains": "{{args.id}}"}}}, {}, ["t-1", "t-2", "t-3"]),
        ({"where": {"hours": {"gte": 0, "lte": "{{args.id}}"}}}, {}, ["t-1"]),
        ({"where": {"id": {"one_of": "{{args.ids}}"}}}, {"ids": ["t-3", "t-1"]}, ["t-1", "t-3"]),
        ({"where": {"meta.days.mon.seats": {"gt": 2}}}, {}, ["t-2"]),
        ({"where": {"owner": {"absent": True}}}, {}, ["t-1", "t-2"]),
        ({"where": {"meta.days[args.id].seats": 3}}, {"id": "mon"}, ["t-2"]),
        ({"where": {"meta.days[args.id].seats": 3}}, {"id": "sun"}, []),
        ({"where": {"meta.days[args.id].seats": 3}}, {}, []),
        ({"link": "follows", "linked_from": "7"}, {}, ["t-1"]),
        ({"link": "follows", "linked_from": "{{args.id}}"}, {"id": "9"}, []),
        ({"link": "follows", "linked_from": "{{args.id}}"}, {}, ["t-1", "t-2", "t-3"]),
    ],
)
def test_find(find, arguments, found):
    properties = {"id": {"type": "string"}, "ids": {"type": "array"}}
    actions = desk(
        properties,
        find={"tickets": {"type": "ticket", **find}},
        returns={"ids": "{{tickets.*.id}}", "count": "{{tickets.count}}"},
    )

    assert do(actions, arguments)[0].structured == {"ids": found, "count": len(found)}


@pytest.mark.parametrize(
    ("formula", "result"),
    [
        ({"$find": "lines", "$where": {"sku": "{{args.id}}"}}, [{"sku": "a", "n": 1}]),
        ({"$find": "lines", "$where": {"sku": "{{args.id}}"}, "$get": "n"}, [1]),
        ({"$find": "lines", "$where": {"n": {"gte": 1}}, "$get": "price"}, [5]),
        ({"$find": "lines", "$where": {"n": {"gt": 9}}}, []),
        ({"$find": "tickets", "$where": {"status": "closed"}, "$get": "id"}, ["t-3"]),
        (
            {"$each": "lines", "$value": {"$find": "lines", "$where": {"n": {"gt": "{{each.n}}"}}}},
            [[{"sku": "b", "n": 2, "price": 5}], []],
        ),
        ({"$find": "args.id", "$where": {"n": 1}}, None),
    ],
)
def test_items_are_found_in_lists(formula, result):
    actions = desk(
        {"id": {}},
        find={"tickets": {"type": "ticket"}},
        compute={
            "lines": [{"sku": "{{args.id}}", "n": 1}, {"sku": "b", "n": 2, "price": 5}],
            "result": formula,
        },
        returns={"result": "{{result}}"},
    )

    expected = {} if result is None else {"result": result}
    assert do(actions, {"id": "a"})[0].structured == expected


def test_find_against_the_direction_of_a_link_and_with_some_properties():
    actions = desk(
        find={
            "people": {
                "type": "person",
                "link": "follows",
                "linked_to": "{{args.id}}",
                "fields": ["name"],
            }
        },
        returns="{{people}}",
    )

    assert json.loads(do(actions, {"id": "t-1"})[0].text) == [{"name": "Ada"}, {"name": "Tom"}]


# Preconditions


def test_the_first_precondition_that_does_not_hold_is_the_answer():
    actions = desk(
        {"hours": {"type": "number"}, "id": {"type": "string"}},
        bind=TICKET,
        preconditions=[
            {"of": "ticket", "where": {"status": "open"}, "error": "{{ticket.id}} is not open"},
            {"of": "args", "where": {"hours": {"lte": "{{ticket.hours}}"}}, "error": "too long"},
            {"of": "args", "where": {"hours": {"gt": 0}}, "error": "too short"},
        ],
        effects=[{"effect": "set", "object": "ticket", "properties": {"hours": "{{args.hours}}"}}],
    )

    assert do(actions, {"id": "t-3", "hours": 9})[0].text == "t-3 is not open"
    assert do(actions, {"id": "t-1", "hours": 9})[0].text == "too long"
    assert do(actions, {"id": "t-1", "hours": -1})[0].text == "too short"
    assert do(actions, {"id": "t-1", "hours": 0.05})[1] == (changed("t-1", "hours", 0.1, 0.05),)


def test_a_precondition_whose_operand_is_not_there_fails_closed():
    actions = desk(
        {"hours": {"type": "number"}, "id": {"type": "string"}},
        bind=TICKET,
        preconditions=[
            {"of": "args", "where": {"hours": {"lte": "{{ticket.hours}}"}}, "error": "too long"}
        ],
    )

    assert do(actions, {"id": "t-2", "hours": 1})[0].text == "too long"


def test_a_precondition_only_when_something_holds():
    actions = desk(
        {"hours": {"type": "number"}},
        preconditions=[
            {
                "when": {"args.hours": {"present": True}},
                "where": {"args.hours": {"lte": 5}},
                "error": "too long",
            }
        ],
    )

    assert not do(actions, {})[0].is_error
    assert do(actions, {"hours": 6})[0].text == "too long"


def test_a_precondition_over_the_number_of_found_objects():
    actions = desk(
        find={"open": {"type": "ticket", "where": {"status": "open"}}},
        preconditions=[
            {"of": "open", "where": {"count": {"lt": 2}}, "error": "{{open.count}} open"}
        ],
    )

    assert do(actions)[0].text == "2 open"


# Effects


@pytest.mark.parametrize(
    ("effect", "changes"),
    [
        (
            {"effect": "set", "object": "ticket", "properties": {"title": "New"}},
            [changed("t-2", "title", None, "New", old_absent=True)],
        ),
        (
            {"effect": "set", "object": "ticket", "properties": {"meta.days.mon.seats": 2}},
            [
                changed(
                    "t-2",
                    "meta",
                    {"days": {"mon": {"seats": 3}}, "log": [1, 2]},
                    {"days": {"mon": {"seats": 2}}, "log": [1, 2]},
                )
            ],
        ),
        (
            {
                "effect": "subtract",
                "object": "ticket",
                "property": "meta.days[args.day].seats",
                "value": 1,
            },
            [
                changed(
                    "t-2",
                    "meta",
                    {"days": {"mon": {"seats": 3}}, "log": [1, 2]},
                    {"days": {"mon": {"seats": 2}}, "log": [1, 2]},
                )
            ],
        ),
        (
            {
                "effect": "add",
                "object": "ticket",
                "property": "meta.log",
                "value": {"at": "{{today}}"},
            },
            [
                changed(
                    "t-2",
                    "meta",
                    {"days": {"mon": {"seats": 3}}, "log": [1, 2]},
                    {"days": {"mon": {"seats": 3}}, "log": [1, 2, {"at": "2026-05-04"}]},
                )
            ],
        ),
        (
            {"effect": "set", "object": "ticket", "properties": {"meta.log.0": 5}},
            [
                changed(
                    "t-2",
                    "meta",
                    {"days": {"mon": {"seats": 3}}, "log": [1, 2]},
                    {"days": {"mon": {"seats": 3}}, "log": [5, 2]},
                )
            ],
        ),
        (
            {"effect": "remove", "object": "ticket", "property": "meta", "value": "log"},
            [
                changed(
                    "t-2",
                    "meta",
                    {"days": {"mon": {"seats": 3}}, "log": [1, 2]},
                    {"days": {"mon": {"seats": 3}}},
                )
            ],
        ),
        ({"effect": "set", "object": "ticket", "properties": {"title": "{{args.none}}"}}, []),
        ({"effect": "add", "object": "ticket", "property": "hours", "value": "{{args.none}}"}, []),
        ({"effect": "set", "object": "ticket", "properties": {"status": "open"}}, []),
        (
            {
                "effect": "set",
                "object": "ticket",
                "properties": {"status": "closed"},
                "when": {"args.none": {"present": True}},
            },
            [],
        ),
        (
            {"effect": "link", "type": "follows", "from": "7", "to": "{{ticket.id}}"},
            [Change(what="linked", type="follows", key="7", to="t-2")],
        ),
        ({"effect": "link", "type": "follows", "from": "7", "to": "t-1"}, []),
        ({"effect": "unlink", "type": "follows", "from": "7", "to": "t-3"}, []),
        (
            {"effect": "unlink", "type": "follows", "from": "8", "to": "t-1"},
            [Change(what="unlinked", type="follows", key="8", to="t-1")],
        ),
        (
            {"effect": "set", "object": "objects.ticket.t-3", "properties": {"owner": "Ada"}},
            [changed("t-3", "owner", None, "Ada")],
        ),
        (
            {"effect": "set", "object": "open", "properties": {"title": "is {{each.id}}"}},
            [
                changed("t-1", "title", "Lamp", "is t-1"),
                changed("t-2", "title", None, "is t-2", old_absent=True),
            ],
        ),
        (
            {"effect": "delete", "object": "open"},
            [
                Change(what="unlinked", type="follows", key="7", to="t-1"),
                Change(what="unlinked", type="follows", key="8", to="t-1"),
                Change(what="deleted", type="ticket", key="t-1"),
                Change(what="deleted", type="ticket", key="t-2"),
            ],
        ),
    ],
)
def test_effect(effect, changes):
    actions = desk(
        {"none": {"type": "string"}, "day": {"type": "string"}},
        bind={"ticket": {"type": "ticket", "key": "t-2"}},
        find={"open": {"type": "ticket", "where": {"status": "open"}}},
        effects=[effect],
    )
    answer, found = do(actions, {"day": "mon"})

    assert not answer.is_error
    assert [
        c.model_copy(update={"old": None}) if c.what == "deleted" else c for c in found
    ] == changes


def test_numbers_are_added_as_decimals_and_later_effects_see_earlier_ones():
    actions = desk(
        bind=TICKET,
        effects=[
            {"effect": "add", "object": "ticket", "property": "hours", "value": 0.2},
            {"effect": "set", "object": "ticket", "properties": {"title": "{{ticket.hours}} h"}},
        ],
        returns="{{ticket.title}}",
    )
    answer, changes = do(actions, {"id": "t-1"})

    assert answer.text == "0.3 h"
    assert changes == (
        changed("t-1", "hours", 0.1, 0.3),
        changed("t-1", "title", "Lamp", "0.3 h"),
    )


def test_effects_happen_all_or_none():
    actions = desk(
        {"id": {"type": "string"}, "tag": {}},
        bind=TICKET,
        effects=[
            {"effect": "set", "object": "ticket", "properties": {"status": "closed"}},
            {"effect": "create", "type": "ticket", "properties": {"id": "t-9", "status": "open"}},
            {"effect": "unlink", "type": "follows", "from": "7", "to": "t-1"},
            {"effect": "remove", "object": "ticket", "property": "tags", "value": "{{args.tag}}"},
        ],
    )

    answer, changes = do(actions, {"id": "t-1", "tag": "z"})
    assert answer.text == "do: `ticket.tags` of 't-1' has no \"z\"."
    assert changes == ()
    assert len(do(actions, {"id": "t-1", "tag": "a"})[1]) == 4


@pytest.mark.parametrize(
    ("effect", "arguments", "text"),
    [
        (
            {"effect": "set", "object": "ticket", "properties": {"status": "{{args.x}}"}},
            {"x": "gone"},
            "do: ticket 't-1' would not fit: "
            '`ticket.status` must be one of "open", "closed", not "gone".',
        ),
        (
            {"effect": "set", "object": "ticket", "properties": {"title": "{{args.x}}{{args.x}}"}},
            {"x": "long enough"},
            "do: ticket 't-1' would not fit: `ticket.title` is too long: at most 20, "
            'found "long enoughlong enough".',
        ),
        (
            {"effect": "add", "object": "ticket", "property": "tags", "value": "{{args.x}}"},
            {"x": 5},
            "do: ticket 't-1' would not fit: `ticket.tags.1` must be text, not number 5.",
        ),
        (
            {"effect": "add", "object": "ticket", "property": "hours", "value": "{{args.x}}"},
            {"x": "5"},
            "do: cannot add \"5\": `ticket.hours` of 't-1' is 0.1.",
        ),
        (
            {"effect": "add", "object": "ticket", "property": "hours", "value": "{{args.x}}"},
            {"x": 1e308},
            "do: cannot add 1e+308: `ticket.hours` of 't-1' is 0.1.",
        ),
        (
            {"effect": "set", "object": "ticket", "properties": {"meta[args.x].seats": 1}},
            {"x": "sun"},
            "do: ticket 't-1' has no place `meta.sun.seats`.",
        ),
        (
            {"effect": "set", "object": "objects.ticket[args.x]", "properties": {"title": "a"}},
            {"x": "t-9"},
            "do: there is no ticket 't-9'.",
        ),
        (
            {"effect": "link", "type": "follows", "from": "7", "to": "{{args.x}}"},
            {"x": "t-9"},
            "do: there is no ticket 't-9'.",
        ),
        (
            {
                "effect": "create",
                "type": "ticket",
                "properties": {"id": "{{args.x}}", "status": "open"},
            },
            {"x": "t-1"},
            "do: there is already a ticket 't-1'.",
        ),
        (
            {
                "effect": "create",
                "type": "ticket",
                "properties": {"id": "{{args.x}}", "status": "open"},
            },
            {},
            "do: the new ticket has no key.",
        ),
        (
            {
                "effect": "set",
                "object": "ticket",
                "properties": {"hours": {"$product": ["{{args.x}}", 2]}},
            },
            {"x": "two"},
            "do: $product cannot be worked out from these arguments.",
        ),
        (
            {"effect": "set", "object": "ticket", "properties": {"hours": "{{twice}}"}},
            {"x": "two"},
            "do: `twice` cannot be worked out from these arguments.",
        ),
        (
            {
                "effect": "set",
                "for_each": "args.x",
                "object": "ticket",
                "properties": {"title": "{{each}}"},
            },
            {"x": "two"},
            "do: there is no list `args.x`.",
        ),
    ],
)
def test_what_the_agent_asks_and_cannot_have_is_a_tool_error_and_changes_nothing(
    effect, arguments, text
):
    actions = desk(
        {"x": {}},
        bind={"ticket": {"type": "ticket", "key": "t-1"}},
        compute={"twice": {"$product": ["{{args.x}}", 2]}},
        effects=[effect],
    )
    answer, changes = do(actions, arguments)

    assert (answer.is_error, answer.text) == (True, text)
    assert changes == ()


def test_a_computed_value_of_an_argument_not_given_is_left_out():
    actions = desk(
        {"x": {"type": "number"}},
        bind={"ticket": {"type": "ticket", "key": "t-1"}},
        compute={"twice": {"$product": ["{{args.x}}", 2]}},
        preconditions=[{"of": "ticket", "where": {"hours": {"lt": "{{twice}}"}}, "error": "no"}],
        effects=[
            {"effect": "set", "object": "ticket", "properties": {"hours": "{{twice}}"}},
            {"effect": "set", "object": "ticket", "properties": {"title": "set"}},
        ],
    )

    assert do(actions, {})[1] == (changed("t-1", "title", "Lamp", "set"),)
    assert do(actions, {"x": 2})[1][0] == changed("t-1", "hours", 0.1, 4)


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        (
            {"effects": [{"effect": "add", "object": "ticket", "property": "title", "value": 1}]},
            r"world 'desk': actions\.do\.effects\[0\]: cannot add 1: `ticket\.title` of 't-1' is \"Lamp\"",
        ),
        (
            {
                "effects": [
                    {"effect": "set", "object": "ticket", "properties": {"title": "{{now}}"}}
                ]
            },
            "world 'desk': .* would not fit: `ticket.title` is too long",
        ),
        (
            {
                "returns": {"title": "{{ticket.title}}"},
                "output": {"type": "object", "properties": {"title": {"type": "number"}}},
            },
            "the answer of actions.do does not fit its `output`: `title` must be a number",
        ),
    ],
)
def test_what_the_document_gets_wrong_is_not_blamed_on_the_agent(action, complaint):
    actions = desk(bind={"ticket": {"type": "ticket", "key": "t-1"}}, **action)

    with pytest.raises(WorldError, match=complaint):
        do(actions)


def test_a_list_of_very_many_items_is_not_worked_through():
    actions = desk(
        {"x": {"type": "array"}},
        bind={"ticket": {"type": "ticket", "key": "t-1"}},
        effects=[
            {
                "effect": "add",
                "for_each": "args.x",
                "object": "ticket",
                "property": "tags",
                "value": "{{each}}",
            }
        ],
    )

    assert do(actions, {"x": ["a"] * 10_001})[0].text == "do: `args.x` has more than 10000 items."
    assert do(actions, {"x": ["a"] * 3})[1][0].new == ["a"] * 4


# Created objects


def test_new_ids_come_from_the_type_and_then_from_the_seed():
    document = copy.deepcopy(DESK)
    document["types"]["ticket"]["new_ids"] = ["t-4"]
    document["actions"]["do"] = {
        "description": "Do it.",
        "effects": [
            {
                "effect": "create",
                "type": "ticket",
                "name": "new",
                "properties": {"id": "{{new_id}}", "status": "open", "title": "is {{new_id}}"},
            }
        ],
        "returns": "{{new.id}}",
    }
    actions = Actions(ObjectsWorld.model_validate(document))

    def ids(seed: int) -> list[str]:
        state, found = actions.start, []
        for _ in range(3):
            outcome = actions.carry_out("do", {}, state, Trial(run="r", seed=seed))
            state = outcome.state
            found.append(outcome.answer.text)
            assert state.to_json()["ticket"][found[-1]]["title"] == f"is {found[-1]}"
        return found

    assert ids(1) == ids(1)
    assert ids(1)[0] == ids(2)[0] == "t-4"
    assert len({*ids(1), *ids(2)}) == 5


def test_an_id_is_not_given_again_when_its_object_is_gone():
    actions = desk(
        effects=[
            {
                "effect": "create",
                "type": "ticket",
                "properties": {"id": "{{new_id}}", "status": "open"},
            },
            {"effect": "delete", "object": "created"},
        ],
        returns="{{created.id}}",
    )
    first = actions.carry_out("do", {}, actions.start, TRIAL)

    assert first.state is actions.start
    assert first.answer.text  # a deleted object is what it was when it was last seen


def test_objects_are_created_for_each_item_of_a_list():
    actions = desk(
        {"titles": {"type": "array"}},
        effects=[
            {
                "effect": "create",
                "for_each": "args.titles",
                "type": "ticket",
                "name": "new",
                "properties": {"id": "n-{{each}}", "status": "open", "title": "{{each}}"},
            },
            {"effect": "set", "object": "new", "properties": {"owner": "{{each.title}}"}},
        ],
        returns={"ids": "{{new.*.id}}", "count": "{{new.count}}"},
    )

    answer, changes = do(actions, {"titles": ["a", "b"]})
    assert answer.structured == {"ids": ["n-a", "n-b"], "count": 2}
    assert [c.key for c in changes] == ["n-a", "n-b"]
    assert do(actions, {})[0].structured == {"ids": [], "count": 0}
    assert do(actions, {"titles": ["a", "a"]})[0].is_error


def test_a_whole_number_is_the_same_key_however_it_is_written():
    number = {"type": "integer"}
    does: dict[str, dict[str, Any]] = {
        "look": {"bind": {"box": {"type": "box", "key": "{{args.id}}"}}, "returns": "{{box}}"},
        "make": {
            "effects": [{"effect": "create", "type": "box", "properties": {"id": "{{args.id}}"}}]
        },
    }
    actions = Actions(
        ObjectsWorld.model_validate({
            "kind": "fixture", "type": "world", "id": "w", "now": "2026-05-04T11:30:00Z",
            "types": {"box": {"properties": {"id": number}}},
            "objects": {"box": [{"id": 1}]},
            "actions": {
                name: {
                    "description": "Do it.",
                    "parameters": {"type": "object", "properties": {"id": number}},
                    **what,
                }
                for name, what in does.items()
            },
        })
    )  # fmt: skip
    trial = Trial(run="r", seed=1)

    seen = actions.carry_out("look", {"id": 1.0}, actions.start, trial)
    assert seen.answer.structured == {"id": 1}
    again = actions.carry_out("make", {"id": 1.0}, actions.start, trial)
    assert "already a box '1'" in again.answer.text
    made = actions.carry_out("make", {"id": 2.0}, actions.start, trial)
    assert [key for key, _ in made.state.objects("box")] == ["1", "2"]
