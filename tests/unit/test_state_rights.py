"""What a role may do."""

import pytest

from seatrial.documents.world import ObjectsWorld
from seatrial.state.rights import Rights

SHOP = {
    "kind": "fixture",
    "type": "world",
    "id": "shop",
    "now": "2026-05-04T11:30:00Z",
    "types": {"order": {"properties": {"id": {"type": "string"}}}},
    "actions": {
        "get_order": {"description": "Read."},
        "refund": {
            "description": "Pay back.",
            "parameters": {
                "type": "object",
                "properties": {
                    "amount": {"type": "number", "default": 500},
                    "to": {"type": "object"},
                },
            },
        },
        "delete_all": {"description": "Delete."},
    },
}
ROLES = {
    "clerk": {
        "allow": ["get_*", "refund"],
        "when": {"refund": {"amount": {"lte": 50}, "to.country": {"one_of": ["DE", "FR"]}}},
    },
    "guest": {"allow": ["get_order"], "see_refused": False},
    "boss": {"allow": ["*"]},
}


def shop(role: str | None) -> Rights:
    roles = {} if role is None else {"roles": ROLES}
    return Rights(ObjectsWorld.model_validate(SHOP | roles), role)


@pytest.mark.parametrize(
    ("role", "action", "arguments", "refusal"),
    [
        ("clerk", "get_order", {}, None),
        (
            "clerk",
            "delete_all",
            {},
            "role 'clerk' may not call delete_all: it is not in roles.clerk.allow",
        ),
        ("clerk", "refund", {"amount": 50, "to": {"country": "DE"}}, None),
        (
            "clerk",
            "refund",
            {"amount": 51, "to": {"country": "US"}},
            "role 'clerk' may not call refund like this: expected amount lte 50, found 51; "
            'expected to.country one_of ["DE", "FR"], found "US" (roles.clerk.when.refund)',
        ),
        # The default is what would be paid.
        (
            "clerk",
            "refund",
            {"to": {"country": "DE"}},
            "role 'clerk' may not call refund like this: expected amount lte 50, found 500 "
            "(roles.clerk.when.refund)",
        ),
        # Wrong arguments are answered as such, and are no violation.
        ("clerk", "refund", {"amount": "51"}, None),
        ("boss", "refund", {"amount": 1000}, None),
        ("boss", "no_such_tool", {}, None),
        (
            "guest",
            "no_such_tool",
            {},
            "role 'guest' may not call no_such_tool: it is not in roles.guest.allow",
        ),
        (None, "delete_all", {}, None),
    ],
)
def test_refusal_names_role_and_rule(role, action, arguments, refusal):
    assert shop(role).refusal(action, arguments) == refusal


def test_what_is_beyond_the_rights_is_listed_unless_the_role_says_no():
    actions = ("get_order", "refund", "delete_all")

    assert [shop("clerk").visible(a) for a in actions] == [True, True, True]
    assert [shop("guest").visible(a) for a in actions] == [True, False, False]
    assert [shop(None).visible(a) for a in actions] == [True, True, True]


def test_no_role_in_a_world_with_roles_is_not_taken_for_every_right():
    with pytest.raises(ValueError, match="has roles"):
        Rights(ObjectsWorld.model_validate(SHOP | {"roles": ROLES}), None)
    with pytest.raises(ValueError, match="no role 'admin'"):
        Rights(ObjectsWorld.model_validate(SHOP | {"roles": ROLES}), "admin")
