"""Every problem of a world, with its place."""

import copy
from typing import Any

import pytest

from seatrial.documents.world import ObjectsWorld
from seatrial.state.validate import world_problems

GOOD: dict[str, Any] = {
    "kind": "fixture",
    "type": "world",
    "id": "shop",
    "now": "2026-05-04T11:30:00Z",
    "types": {
        "order": {
            "required": ["total"],
            "properties": {
                "id": {"type": "string"},
                "total": {"type": "number"},
                "status": {"enum": ["open", "closed"]},
                "lines": {"type": "array"},
            },
        },
        "user": {"properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
    },
    "links": {"of": {"from": "order", "to": "user"}},
    "objects": {"order": [{"id": "o-1", "total": 5}], "user": [{"id": "u-1"}]},
    "linked": [{"type": "of", "from": "o-1", "to": "u-1"}],
    "roles": {"clerk": {"allow": ["pay", "get_*"], "when": {"pay": {"amount": {"lte": 5}}}}},
    "actions": {
        "pay": {
            "description": "Pay.",
            "parameters": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "amount": {"type": "number"}},
                "required": ["id"],
            },
            "bind": {"order": {"type": "order", "key": "{{args.id}}"}},
            "find": {"users": {"type": "user", "link": "of", "linked_from": "{{order.id}}"}},
            "compute": {"rest": {"$minus": ["{{order.total}}", "{{args.amount}}"]}},
            "preconditions": [
                {"of": "order", "where": {"total": {"gte": "{{args.amount}}"}}, "error": "too much"}
            ],
            "effects": [
                {"effect": "set", "object": "order", "properties": {"total": "{{rest}}"}},
                {"effect": "create", "type": "user", "properties": {"id": "{{new_id}}"}},
            ],
            "returns": {"order": "{{order}}", "name": "{{users.0.name}}", "id": "{{created.id}}"},
            "output": {"type": "object"},
        },
        "get_order": {"description": "Read.", "read_only": True},
    },
}


def problems(*edits: tuple[str, Any]) -> list[tuple[str, str]]:
    """The problems of the world above with something else at these paths."""
    document = copy.deepcopy(GOOD)
    for path, value in edits:
        inside: Any = document
        *steps, last = [int(s) if s.isdecimal() else s for s in path.split("/")]
        for step in steps:
            inside = inside[step]
        inside[last] = value
    return world_problems(ObjectsWorld.model_validate(document))


def test_a_world_that_is_right_has_no_problem():
    assert problems() == []


@pytest.mark.parametrize(
    ("path", "value", "place", "message"),
    [
        ("now", "2026-05-04T11:30:00", "now", "has no time zone"),
        ("types/order/key", "ide", "types.order.key", "'ide' is no property of order"),
        (
            "types/order/properties/id",
            {"type": "object"},
            "types.order.properties.id",
            "is the key, so it must be text or a whole number",
        ),
        (
            "types/order/properties/total",
            {"type": "numbr"},
            "types.order.properties.total",
            "is no JSON Schema",
        ),
        (
            "types/order/required",
            ["totl"],
            "types.order.required[0]",
            "'totl' is no property of order; did you mean 'total'?",
        ),
        ("types/order/new_ids", ["o-1"], "types.order.new_ids[0]", "'o-1' is taken already"),
        ("types/order/new_ids", ["a", "a"], "types.order.new_ids[1]", "'a' is taken already"),
        (
            "links/of/to",
            "usr",
            "links.of.to",
            "there is no object type 'usr'; did you mean 'user'?",
        ),
        ("objects/ordr", [], "objects.ordr", "there is no object type 'ordr'"),
        (
            "objects/order",
            [{"id": "o-1", "total": "5"}],
            "objects.order[0]",
            '`total` must be a number, not text "5"',
        ),
        ("objects/order", [{"id": "o-1"}], "objects.order[0]", "`total` is required"),
        ("objects/user", [{}], "objects.user[0]", "`id` is required"),
        (
            "objects/user",
            [{"id": "u-1", "nam": "Ada"}],
            "objects.user[0]",
            "`nam` is unknown (known: id, name); did you mean 'name'?",
        ),
        (
            "objects/user",
            [{"id": "u-1"}, {"id": "u-1"}],
            "objects.user[1]",
            "there is already a user 'u-1' (at objects.user[0])",
        ),
        (
            "linked",
            [{"type": "of", "from": "o-2", "to": "u-1"}],
            "linked[0].from",
            "there is no order 'o-2'; did you mean 'o-1'?",
        ),
        (
            "linked",
            [{"type": "off", "from": "o-1", "to": "u-1"}],
            "linked[0].type",
            "there is no link type 'off'; did you mean 'of'?",
        ),
        (
            "linked",
            [{"type": "of", "from": "o-1", "to": "u-1"}] * 2,
            "linked[1]",
            "this link is there already",
        ),
        (
            "roles/clerk/allow",
            ["pay", "see_*"],
            "roles.clerk.allow[1]",
            "there is no action 'see_*'",
        ),
        (
            "roles/clerk/when",
            {"get_order": {"id": 1}, "pya": {"id": 1}},
            "roles.clerk.when.pya",
            "there is no action 'pya'; did you mean 'pay'?",
        ),
        ("roles/clerk/allow", ["get_*"], "roles.clerk.when.pay", "may not call pay at all"),
        (
            "roles/clerk/when",
            {"pay": {"amout": 1}},
            "roles.clerk.when.pay.amout",
            "pay has no argument 'amout'; did you mean 'amount'?",
        ),
        (
            "roles/clerk/when",
            {"pay": {"id": "{{order.id}}"}},
            "roles.clerk.when.pay.id",
            "rights hold no placeholders",
        ),
        (
            "actions/pay/parameters",
            {"type": "objct"},
            "actions.pay.parameters",
            "is no JSON Schema",
        ),
        (
            "actions/get_order/parameters",
            {"properties": {}},
            "actions.get_order.parameters",
            "write `type: object`",
        ),
        (
            "actions/pay/parameters/required",
            ["id", "amnt"],
            "actions.pay.parameters.required[1]",
            "'amnt' is no declared argument",
        ),
        (
            "actions/pay/parameters/properties/amount",
            {"type": "number", "default": "5"},
            "actions.pay.parameters.properties.amount.default",
            "the default must be a number",
        ),
        ("actions/pay/output", {"type": "array"}, "actions.pay.output", "write `type: object`"),
        ("actions/pay/returns", "paid", "actions.pay.returns", "must be an object"),
        (
            "actions/pay/read_only",
            True,
            "actions.pay.effects",
            "a `read_only` action has no effects",
        ),
        (
            "actions/get_order/destructive",
            True,
            "actions.get_order.destructive",
            "a `read_only` action destroys nothing",
        ),
        (
            "actions/pay/bind/order/type",
            "odrer",
            "actions.pay.bind.order.type",
            "there is no object type 'odrer'; did you mean 'order'?",
        ),
        (
            "actions/pay/bind/order/key",
            "{{args.order}}",
            "actions.pay.bind.order.key",
            "'order' is no argument (there are id, amount)",
        ),
        (
            "actions/pay/bind/order/error",
            "no {{ordr.id}}",
            "actions.pay.bind.order.error",
            "'ordr.id' names nothing here",
        ),
        (
            "actions/pay/bind/now",
            {"type": "user", "key": "u-1"},
            "actions.pay.bind.now",
            "'now' is a name with a meaning of its own",
        ),
        (
            "actions/pay/find/order",
            {"type": "user"},
            "actions.pay.find.order",
            "'order' is the name of something else in this action",
        ),
        (
            "actions/pay/find/users/where",
            {"nme": "x"},
            "actions.pay.find.users.where.nme",
            "'nme' is no property of user; did you mean 'name'?",
        ),
        (
            "actions/pay/find/users/where",
            {"name": {"matches": "{{args.id}}"}},
            "actions.pay.find.users.where.name",
            "`matches` holds no placeholders",
        ),
        (
            "actions/pay/find/users/fields",
            ["nme"],
            "actions.pay.find.users.fields[0]",
            "'nme' is no property of user",
        ),
        (
            "actions/pay/find/users/link",
            "off",
            "actions.pay.find.users.link",
            "there is no link type 'off'",
        ),
        (
            "actions/pay/find/users/type",
            "order",
            "actions.pay.find.users.type",
            "'of' leads to 'user' there, not 'order'",
        ),
        (
            "actions/pay/find/users/linked_to",
            "u-1",
            "actions.pay.find.users",
            "write either `linked_from` or `linked_to`",
        ),
        (
            "actions/pay/find/users/linked_from",
            None,
            "actions.pay.find.users",
            "`link` and one of `linked_from` and `linked_to` go together",
        ),
        (
            "actions/pay/compute/rest",
            {"$mins": [1]},
            "actions.pay.compute.rest",
            "'$mins' is no formula",
        ),
        (
            "actions/pay/compute/rest",
            {"$sum": 5},
            "actions.pay.compute.rest.$sum",
            "takes a list, or what stands for one",
        ),
        (
            "actions/pay/compute/rest",
            {"$each": "order.lins", "$value": "{{each.x}}"},
            "actions.pay.compute.rest.$each",
            "'lins' is no property of order; did you mean 'lines'?",
        ),
        (
            "actions/pay/compute/rest",
            {"$each": "args.id", "$value": "{{each}}"},
            "actions.pay.compute.rest.$each",
            "'args.id' is of type string, no list",
        ),
        (
            "actions/pay/effects/0/for_each",
            "order.total",
            "actions.pay.effects[0].for_each",
            "'order.total' is of type number, no list",
        ),
        (
            "actions/pay/preconditions/0/for_each",
            "order",
            "actions.pay.preconditions[0].for_each",
            "'order' is one order, no list",
        ),
        (
            "actions/pay/compute/rest",
            {"$each": 5, "$value": 1},
            "actions.pay.compute.rest.$each",
            "must be a path to a list",
        ),
        (
            "actions/pay/compute/rest",
            {"$find": "users", "$where": {"nme": 1}},
            "actions.pay.compute.rest.$where.nme",
            "'nme' is no property of user; did you mean 'name'?",
        ),
        (
            "actions/pay/compute/rest",
            {"$find": "users", "$where": {"name": {"lte": True}}},
            "actions.pay.compute.rest.$where",
            "holds no conditions",
        ),
        (
            "actions/pay/compute/rest",
            {"$find": "users", "$where": {"name": 1}, "$get": "nme"},
            "actions.pay.compute.rest.$get",
            "'nme' is no property of user",
        ),
        (
            "actions/pay/compute/rest",
            {"$find": "args.id", "$where": {"name": 1}},
            "actions.pay.compute.rest.$find",
            "'args.id' is of type string, no list",
        ),
        (
            "actions/pay/compute/rest",
            {"$find": 1, "$where": {}},
            "actions.pay.compute.rest.$find",
            "must be a path to a list",
        ),
        (
            "actions/pay/find/users/where",
            {"name[args.nr]": 1},
            "actions.pay.find.users.where.name[args.nr]",
            "'nr' is no argument",
        ),
        (
            "actions/pay/compute/rest",
            "{{today - 3 fortnights}}",
            "actions.pay.compute.rest",
            "one moves like `today - 30 days`",
        ),
        (
            "actions/pay/compute/rest",
            "{{objects.order}}",
            "actions.pay.compute.rest",
            "write `objects.type[path of its key]`",
        ),
        (
            "actions/pay/compute/rest",
            "{{objects.ordr[args.id].total}}",
            "actions.pay.compute.rest",
            "there is no object type 'ordr'; did you mean 'order'?",
        ),
        (
            "actions/pay/compute/rest",
            "{{objects.order[args.idd].total}}",
            "actions.pay.compute.rest",
            "'idd' is no argument; did you mean 'id'?",
        ),
        (
            "actions/pay/compute/rest",
            "{{order..total}}",
            "actions.pay.compute.rest",
            "is no path",
        ),
        (
            "actions/pay/preconditions/0/of",
            "ordr",
            "actions.pay.preconditions[0].of",
            "'ordr' names nothing here; did you mean 'order'?",
        ),
        (
            "actions/pay/preconditions/0/where",
            {"totl": 5},
            "actions.pay.preconditions[0].where.totl",
            "'totl' is no property of order; did you mean 'total'?",
        ),
        (
            "actions/pay/preconditions/0/where",
            {"total": {"lte": "{{args.amout}}"}},
            "actions.pay.preconditions[0].where.total",
            "'amout' is no argument; did you mean 'amount'?",
        ),
        (
            "actions/pay/preconditions/0/when",
            {"args.x": 1},
            "actions.pay.preconditions[0].when.args.x",
            "'x' is no argument",
        ),
        (
            "actions/pay/preconditions/0/error",
            "{{each}}",
            "actions.pay.preconditions[0].error",
            "`each` stands for something only with `for_each`",
        ),
        (
            "actions/pay/effects/0/object",
            "ordr",
            "actions.pay.effects[0].object",
            "'ordr' names nothing here; did you mean 'order'?",
        ),
        (
            "actions/pay/effects/0/object",
            "rest",
            "actions.pay.effects[0].object",
            "is no bound, found or created object",
        ),
        (
            "actions/pay/effects/0/properties",
            {"totl": 1},
            "actions.pay.effects[0].properties.totl",
            "'totl' is no property of order",
        ),
        (
            "actions/pay/effects/0/properties",
            {"id": "o-2"},
            "actions.pay.effects[0].properties.id",
            "the key of an object cannot be changed",
        ),
        (
            "actions/pay/effects/0/properties",
            {"status": "opn"},
            "actions.pay.effects[0].properties.status",
            "`status` must be one of",
        ),
        (
            "actions/pay/effects/0/properties",
            {"total": "{{new_id}}"},
            "actions.pay.effects[0].properties.total",
            "`new_id` is only for the properties of a `create`",
        ),
        (
            "actions/pay/effects/0/properties",
            {"lines[args.nr]": 1},
            "actions.pay.effects[0].properties.lines[args.nr]",
            "'nr' is no argument",
        ),
        (
            "actions/pay/effects/1/type",
            "usr",
            "actions.pay.effects[1].type",
            "there is no object type 'usr'",
        ),
        (
            "actions/pay/effects/1/properties",
            {"name": "x"},
            "actions.pay.effects[1].properties",
            "a new user needs `id`",
        ),
        (
            "actions/pay/effects/1/properties",
            {"id": "x", "nme": "x"},
            "actions.pay.effects[1].properties.nme",
            "'nme' is no property of user",
        ),
        (
            "actions/pay/effects/1/name",
            "order",
            "actions.pay.effects[1].name",
            "'order' is the name of something else",
        ),
        (
            "actions/pay/effects/1",
            {"effect": "link", "type": "off", "from": "o-1", "to": "u-1"},
            "actions.pay.effects[1].type",
            "there is no link type 'off'",
        ),
        (
            "actions/pay/effects/1",
            {"effect": "link", "type": "of", "from": "{{a.b}}", "to": "u-1"},
            "actions.pay.effects[1].from",
            "'a.b' names nothing here",
        ),
        (
            "actions/pay/effects/1",
            {"effect": "delete", "object": "users", "for_each": "args.id"},
            "actions.pay.effects[1].for_each",
            "`object` is a list already",
        ),
        (
            "actions/pay/returns/name",
            "{{order.id} of {{order.total}}",
            "actions.pay.returns.name",
            "`{{` without its `}}`",
        ),
        (
            "actions/pay/returns/name",
            "{{users.name}}",
            "actions.pay.returns.name",
            "a list has no 'name'; it has indices from 0 and *, count",
        ),
        (
            "actions/pay/returns/name",
            "{{users.*.nme}}",
            "actions.pay.returns.name",
            "'nme' is no property of user",
        ),
        (
            "actions/pay/returns/name",
            "{{now.x}}",
            "actions.pay.returns.name",
            "now is a text and holds nothing",
        ),
    ],
)
def test_problem_is_told_with_its_place(path, value, place, message):
    found = problems((path, value))

    assert [m for p, m in found if p == place and message in m], found


def test_every_problem_is_told_at_once_in_the_documents_order():
    found = problems(
        ("now", "2026-05-04T11:30:00"),
        ("objects/order", [{"id": "o-1", "total": "5"}, {"id": "o-1", "total": 1}]),
        ("roles/clerk/allow", ["pay", "nothing"]),
        ("actions/pay/bind/order/key", "{{args.x}}"),
        ("actions/pay/returns/name", "{{usrs.0}}"),
    )

    assert [place for place, _ in found] == [
        "now",
        "objects.order[0]",
        "objects.order[1]",
        "roles.clerk.allow[1]",
        "actions.pay.bind.order.key",
        "actions.pay.returns.name",
    ]


def test_objects_of_a_type_with_a_broken_schema_are_not_held_against_it():
    assert len(problems(("types/order/properties/total", {"type": "numbr"}))) == 1


@pytest.mark.parametrize("type", ["strin", None, 3, {}, [None]])
def test_a_key_with_a_broken_schema_is_one_mistake(type: Any):
    (found,) = problems(("types/user/properties/id", {"type": type}))

    assert found[0] == "types.user.properties.id"
    assert found[1].startswith("is no JSON Schema")
