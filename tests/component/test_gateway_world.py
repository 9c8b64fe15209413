"""A practice world, a role's rights and mocked answers behind one address."""

import httpx
from tests import bike_shop, mcp_wire
from tests.mcp_wire import call, post, request

from seatrial.documents import Answers
from seatrial.gateway import Gateway
from seatrial.state.rights import Rights
from seatrial.trace import Called, Change
from seatrial.worlds import open_world

ANSWERS = Answers.model_validate(
    {
        "kind": "fixture",
        "type": "answers",
        "id": "one-bike",
        "tools": {
            "get_bike": {
                "rules": [
                    {
                        "when": {"bike": {"starts_with": "b-"}, "fast": True},
                        "answer": {"id": "{{args.bike}}", "status": "free"},
                    },
                    {"when": {"bike": "b-9"}, "answer": {"id": "b-9", "renter": "{{run}}"}},
                ]
            }
        },
    }
)


def test_a_trial_changes_its_own_world_and_no_other():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        worlds = [open_world(bike_shop.WORLD, run_token=f"r-{n}", seed=n) for n in range(2)]
        rights = Rights(bike_shop.WORLD, "clerk")
        one, other = (gateway.open([world], rights=rights) for world in worlds)

        listed = await post(client, one, request("tools/list"), server="bike-shop")
        rent = call("rent", bike="b-1", renter="Ada")
        rented = await post(client, one, rent, server="bike-shop")
        again = await post(client, one, rent, server="bike-shop")
        scrapped = await post(client, one, call("scrap", bike="b-2"), server="bike-shop")
        seen = await post(client, other, call("get_bike", bike="b-1"), server="bike-shop")

        assert [t["name"] for t in listed.json()["result"]["tools"]] == [
            "get_bike",
            "rent",
            "scrap",
        ]
        assert rented.json()["result"]["content"] == [{"type": "text", "text": "rented"}]
        assert again.json()["result"]["isError"]
        assert "may not call scrap" in scrapped.json()["result"]["content"][0]["text"]
        assert seen.json()["result"]["structuredContent"]["status"] == "free"
        calls = [event for event in one.events if isinstance(event, Called)]
        assert [(c.tool, c.changed, c.refused is not None, c.destructive) for c in calls] == [
            ("rent", True, False, False),
            ("rent", False, False, False),
            ("scrap", False, True, True),
        ]
        assert worlds[0].changes() == (
            Change(what="changed", type="bike", key="b-1", property="renter", old=None, new="Ada"),
            Change(
                what="changed", type="bike", key="b-1", property="status", old="free", new="rented"
            ),
        )
        assert worlds[1].changes() == ()

    mcp_wire.run(check)


def test_when_no_rule_fits_the_error_names_the_nearest_and_what_it_wants():
    async def check(gateway: Gateway, client: httpx.AsyncClient) -> None:
        world = open_world(bike_shop.WORLD, run_token="r-1", seed=1)
        channel = gateway.open([world], answers=ANSWERS, lookup={"run": "r-1"})

        hit = await post(client, channel, call("get_bike", bike="b-9"), server="bike-shop")
        miss = await post(client, channel, call("get_bike", bike="b-1"), server="bike-shop")

        assert hit.json()["result"] == {
            "content": [{"type": "text", "text": '{"id": "b-9", "renter": "r-1"}'}],
            "isError": False,
            "structuredContent": {"id": "b-9", "renter": "r-1"},
        }
        assert miss.json()["result"]["isError"]
        assert miss.json()["result"]["content"][0]["text"] == (
            "No mocked answer of get_bike fits these arguments; the nearest is rules[0]: "
            "expected fast equals true, found nothing"
        )
        last = channel.events[-1]
        assert isinstance(last, Called)
        assert (last.answered_by, last.rule) == ("mock", None)
        assert channel.faults == ()

    mcp_wire.run(check)
