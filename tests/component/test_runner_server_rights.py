"""Roles and purposes at the gateway: of a world's tools and of real servers', listed, refused and recorded."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop, shop_trials

from seatrial.documents import Catalog, ObjectsWorld, Server
from seatrial.state.rights import Rights, ServerRights
from seatrial.tools import Tool
from seatrial.trace import Called, Trace
from seatrial.verdicts import Cause, Verdict

SCRIPT = Path(__file__).parents[1] / "servers" / "real.py"
AGENT = """\
def calls_all(text, seat):
    found = []
    for tool, arguments in seat.settings["calls"]:
        answer = seat.call(tool, **arguments)
        found.append(("!" if answer.is_error else "") + answer.text)
    return " | ".join(found)
"""
SHOP = bike_shop.WORLD.model_dump(by_alias=True, exclude_unset=True) | {
    "purposes": {"workshop": "Bikes are looked after", "sale": "Bikes are sold"},
    "roles": {
        "clerk": {
            "allow": ["get_bike", "rent"],
            "allow_for": {"workshop": ["scrap"]},
            "purposes": ["workshop", "sale"],
        }
    },
}
WORLD = ObjectsWorld.model_validate(SHOP)


def server(**more: Any) -> Server:
    command = ["{python}", "{root}/real.py"]
    return Server.model_validate(
        {"kind": "fixture", "type": "server", "id": "real", "command": command, **more}
    )


def played(
    root: Path, calls: list[Any], document: Server | None = None, **case: Any
) -> tuple[Any, Trace]:
    shutil.copy(SCRIPT, root / "real.py")
    (root / "rights_agents.py").write_text(AGENT, encoding="utf-8")
    servers: dict[str, Any] = {} if document is None else {"servers": [document.id]}
    shop = bike_shop.catalog(
        bike_shop.case(**servers, **case),
        bike_shop.arm(
            "calls_all",
            {"type": "python", "target": "rights_agents:calls_all"},
            settings={"calls": calls},
        ),
    )
    fixtures: dict[str, Any] = {**shop.fixtures, WORLD.id: WORLD}
    if document is not None:
        fixtures[document.id] = document
    catalog: Catalog = replace(shop, fixtures=fixtures)
    ((record, trace),) = shop_trials.carried_out(root, catalog)
    return record, trace


@pytest.mark.parametrize(
    ("purpose", "refusal"),
    [
        ("workshop", None),
        (
            "sale",
            "role 'clerk' may not call scrap under the purpose 'sale': it is in roles.clerk.allow_for.workshop only",
        ),
        (
            None,
            "role 'clerk' may not call scrap under no purpose: it is in roles.clerk.allow_for.workshop only",
        ),
    ],
)
@pytest.mark.parametrize("see_refused", [True, False])
def test_a_purpose_decides_which_tools_are_listed_and_carried_out(
    purpose: str | None, refusal: str | None, see_refused: bool
):
    rights = Rights(WORLD, "clerk", see_refused=see_refused, purpose=purpose)

    assert rights.refusal("scrap", {"bike": "b-1"}) == refusal
    assert rights.visible("scrap") is (see_refused or refusal is None)
    assert rights.refusal("rent", {"bike": "b-1", "renter": "Ada"}) is None


@pytest.mark.parametrize(("purpose", "violations"), [("workshop", 0), ("sale", 1)])
def test_a_trial_under_another_purpose_records_the_attempt_with_its_rule(
    tmp_path: Path, purpose: str, violations: int
):
    record, trace = played(tmp_path, [["scrap", {"bike": "b-1"}]], purpose=purpose)

    assert record.violations == violations
    (call,) = trace.calls
    assert (call.refused is None) is (violations == 0)


def test_a_role_is_held_to_what_a_real_server_allows_it(tmp_path: Path):
    document = server(
        roles={"clerk": {"allow": ["echo", "large"], "when": {"large": {"megabytes": {"lte": 1}}}}}
    )
    calls = [
        ["echo", {"text": "x"}],
        ["show", {}],
        ["large", {"megabytes": 2}],
        ["large", {"megabytes": "2"}],
        ["nothing_like_that", {}],
    ]

    record, trace = played(tmp_path, calls, document)

    events = [event for event in trace.events if isinstance(event, Called)]
    assert [(e.answered_by, e.refused is not None) for e in events] == [
        ("server", False), ("gateway", True), ("gateway", True), ("gateway", True), ("gateway", False),
    ]  # fmt: skip
    assert events[1].refused == (
        "role 'clerk' may not call show: it is not in roles.clerk.allow of server 'real'"
    )
    assert "expected megabytes lte 1, found 2 (roles.clerk.when.large)" in str(events[2].refused)
    # What does not fit the schema reaches the server all the same, and must not get past a condition.
    assert 'found "2"' in str(events[3].refused)
    assert record.violations == 3


def test_a_role_that_a_server_does_not_name_may_call_nothing_there():
    tools = [Tool(name="echo", description="", input_schema={"type": "object"})]
    rights = ServerRights(server(roles={"boss": {"allow": ["*"]}}), "clerk", tools)

    assert "may call nothing there" in str(rights.refusal("echo", {}))
    assert not rights.visible("echo")
    assert ServerRights(server(), "clerk", tools).refusal("echo", {}) is None


def test_a_right_to_what_a_server_does_not_have_is_the_fixtures_mistake(tmp_path: Path):
    document = server(roles={"clerk": {"allow": ["ecko"]}})

    record, _ = played(tmp_path, [], document)

    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.TOOL_SERVER)
    assert "roles.clerk names 'ecko', and it has no such tool" in record.detail
