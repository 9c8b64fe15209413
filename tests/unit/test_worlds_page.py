"""The worked example of docs/reference/worlds.md, loaded from the page and played."""

import re
from pathlib import Path

import pytest
import yaml

from seatrial.documents.world import ObjectsWorld
from seatrial.state.rights import Rights
from seatrial.state.validate import world_problems
from seatrial.trace import Change
from seatrial.worlds import open_world

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "worlds.md"


@pytest.fixture(scope="module")
def canteen() -> ObjectsWorld:
    block, *_ = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return ObjectsWorld.model_validate(yaml.safe_load(block))


@pytest.fixture
def world(canteen):
    return open_world(canteen, run_token="r-1", seed=1)


def test_the_example_has_no_problem(canteen):
    assert world_problems(canteen) == []


def test_an_order_takes_from_stock_and_balance_and_is_linked_to_the_member(world):
    answer = world.act(
        "place_order",
        {"member_id": "m-1", "lines": [{"sku": "soup", "count": 2}, {"sku": "roll", "count": 3}]},
    )

    lines = [{"sku": "soup", "count": 2}, {"sku": "roll", "count": 3}]
    order = {
        "id": "order-31",
        "lines": lines,
        "total": 11.1,
        "status": "placed",
        "at": "2026-05-04T11:30:00Z",
    }
    assert answer.structured == {"order": order, "balance": 8.9}
    assert world.changes() == (
        Change(what="changed", type="member", key="m-1", property="balance", old=20, new=8.9),
        Change(what="created", type="order", key="order-31", new=order),
        Change(what="linked", type="ordered_by", key="order-31", to="m-1"),
        Change(what="changed", type="product", key="roll", property="stock", old=3, new=0),
        Change(what="changed", type="product", key="soup", property="stock", old=10, new=8),
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"member_id": "m-9", "lines": [{"sku": "soup", "count": 1}]},
            "There is no member m-9. Ask for the number on the card.",
        ),
        (
            {
                "member_id": "m-1",
                "lines": [{"sku": "soup", "count": 1}, {"sku": "cake", "count": 1}],
            },
            "We cannot give you 1 of cake.",
        ),
        (
            {"member_id": "m-1", "lines": [{"sku": "tart", "count": 1}]},
            "We cannot give you 1 of tart.",
        ),
        (
            {"member_id": "m-2", "lines": [{"sku": "soup", "count": 1}]},
            "That is 4.2 and Tom Vik has only 3.5.",
        ),
        (
            {"member_id": "m-1", "lines": [{"sku": "soup"}], "tip": 1},
            "place_order: argument `tip` is unknown (known: member_id, lines, note); "
            "argument `lines.0.count` is required.",
        ),
        # Each line is within the stock, both together are not: seen at the end, nothing happens.
        (
            {
                "member_id": "m-1",
                "lines": [{"sku": "roll", "count": 2}, {"sku": "roll", "count": 2}],
            },
            "place_order: product 'roll' would not fit: `product.stock` must be at least 0, not -1.",
        ),
    ],
)
def test_an_order_that_cannot_be_had_changes_nothing_and_says_why(world, arguments, message):
    answer = world.act("place_order", arguments)

    assert (answer.is_error, answer.text) == (True, message)
    assert (world.changes(), world.version) == ((), 0)


def test_an_argument_not_given_leaves_its_condition_out(world):
    every = world.act("search_products", {}).structured
    cheap = world.act("search_products", {"word": "o", "cheaper_than": 4}).structured

    assert [p["sku"] for p in every["products"]] == ["soup", "roll", "cake"]
    assert cheap == {
        "found": 1,
        "products": [{"sku": "roll", "title": "Rye roll", "price": 0.9, "stock": 3}],
    }


def test_a_cancelled_order_gives_everything_back(world):
    world.act("place_order", {"member_id": "m-1", "lines": [{"sku": "soup", "count": 2}]})
    answer = world.act("cancel_order", {"order_id": "order-31"})

    assert answer.text == "Order order-31 is cancelled, 8.4 were given back."
    assert [(c.what, c.type, c.key) for c in world.changes()] == [
        ("created", "order", "order-31"),
        ("linked", "ordered_by", "order-31"),
    ]
    again = world.act("cancel_order", {"order_id": "order-31"})
    assert (again.is_error, again.text) == (True, "Order order-31 is cancelled.")


def test_yesterdays_order_cannot_be_cancelled(world):
    answer = world.act("cancel_order", {"order_id": "order-30"})

    assert answer.text == "Only an order of today can be cancelled."


def test_orders_are_found_by_their_links(world):
    answer = world.act("list_orders", {"member_id": "m-1"}).structured

    assert (answer["member"], answer["spent"]) == ("Ada Berg", 4.2)
    assert [order["id"] for order in answer["orders"]] == ["order-30"]


def test_the_roles_of_the_example(canteen):
    counter, manager = Rights(canteen, "counter"), Rights(canteen, "manager")
    large = {"member_id": "m-1", "lines": [{"sku": "roll", "count": 1}] * 11}

    assert counter.refusal("place_order", large) == (
        "role 'counter' may not call place_order like this: expected lines.count lte 10, found 11 "
        "(roles.counter.when.place_order)"
    )
    assert manager.refusal("place_order", large) is None
