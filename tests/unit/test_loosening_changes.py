"""What counts as loosening what a change is judged by, and what does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests import bike_shop

from seatrial import loosening
from seatrial.documents import Case, Catalog, Persona, Suite, World
from seatrial.loosening import cases as of_cases
from seatrial.loosening import suites as of_suites
from seatrial.records import PolicyChange

END = {"check": "end_state"}


def looked(before: Catalog, now: Catalog, **given: Any) -> tuple[PolicyChange, ...]:
    options: dict[str, Any] = {
        "allowed_before": {},
        "allowed_now": {},
        "changed_files": frozenset(),
        **given,
    }
    return loosening.changes(before, now, "all", **options)


def kinds(changes: tuple[PolicyChange, ...]) -> list[tuple[str, str]]:
    return [(change.kind, change.effect) for change in changes]


def _until(day: str) -> dict[str, str]:
    return {"owner": "Ada", "reason": "It flickers.", "until": day}


def of_case(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[PolicyChange, ...]:
    return looked(
        bike_shop.catalog(bike_shop.case("a", **old)), bike_shop.catalog(bike_shop.case("a", **new))
    )


def of_checks(*pair: list[dict[str, Any]]) -> list[tuple[str, str]]:
    old, new = ({"checks": [END, *checks]} for checks in pair)
    return kinds(of_case(old, new))


def of_suite(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[PolicyChange, ...]:
    case = bike_shop.case("a")
    before, now = (
        bike_shop.catalog(
            case, Suite.model_validate({"kind": "suite", "id": "all", "cases": ["a"], **suite})
        )
        for suite in (old, new)
    )
    return looked(before, now)


def test_nothing_is_told_of_documents_that_are_the_same_or_ask_more():
    old, more = bike_shop.case("a"), bike_shop.case("b", required=True)
    suite = bike_shop.suite([old, more], trials=9, gate={"margin": 0.01, "alpha": 0.1})

    assert looked(bike_shop.catalog(old), bike_shop.catalog(old)) == ()
    assert looked(bike_shop.catalog(old), bike_shop.catalog(old, more, suite)) == ()
    assert of_case({"title": "So"}, {"title": "Otherwise", "required": True, "trials": 40}) == ()


@pytest.mark.parametrize(
    ("old", "new", "kind", "effect"),
    [
        ({"required": True}, {"required": False}, "required_flag_removed", "loosened"),
        ({}, {"weak": "it is about speed"}, "weakness_accepted", "loosened"),
        ({}, {"quarantine": _until("2026-03-01")}, "quarantine_added", "loosened"),
        (
            {"quarantine": _until("2026-03-01")},
            {"quarantine": _until("2026-03-02")},
            "quarantine_added",
            "loosened",
        ),
        ({"trials": 8}, {"trials": 7}, "trials_lowered", "loosened"),
        ({"trials": 8}, {}, "trials_lowered", "loosened"),
        ({"limits": {"calls": 3}}, {"limits": {"calls": 4}}, "limit_raised", "loosened"),
        ({"limits": {"calls": 3}}, {}, "limit_raised", "loosened"),
        (
            {"limits": {"cost": "0.05 EUR"}},
            {"limits": {"cost": "0.10 EUR"}},
            "limit_raised",
            "loosened",
        ),
        (
            {"limits": {"cost": "0.05 EUR"}},
            {"limits": {"cost": "0.04 USD"}},
            "limit_raised",
            "loosened",
        ),
        ({"negative": True}, {}, "case_changed", "changed"),
        ({}, {"version": "0.9"}, "case_changed", "changed"),
        ({}, {"environment": "staging"}, "case_changed", "changed"),
        ({}, {"see_refused": False}, "case_changed", "changed"),
    ],
)
def test_case_that_counts_for_less_is_told(
    old: dict[str, Any], new: dict[str, Any], kind: str, effect: str
):
    (change,) = of_case(old, new)

    assert (change.kind, change.effect, change.case) == (kind, effect, "a")
    assert change.subject == "case a"
    assert change.old_place.startswith("cases/a.yaml:")


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ({"trials": 5}, {"trials": 4}, "trials_lowered"),
        ({"budget": "5 EUR"}, {"budget": "6 EUR"}, "budget_raised"),
        ({"budget": "5 EUR"}, {}, "budget_raised"),
        ({"must_tie": ["a"]}, {}, "must_tie_removed"),
        ({}, {"arms": ["clerk-1"]}, "suite_arms_changed"),
        ({"arms": ["clerk-1", "clerk-2"]}, {"arms": ["clerk-2"]}, "suite_arms_changed"),
        ({}, {"select": {"tools": "called"}}, "selection_narrowed"),
        ({"gate": {"profile": "release"}}, {}, "gate_loosened"),
        ({}, {"gate": {"margin": 0.2}}, "gate_loosened"),
        ({}, {"gate": {"alpha": 0.001}}, "gate_loosened"),
        ({}, {"gate": {"beta": 0.2}}, "gate_loosened"),
        ({}, {"gate": {"drop": 0.9}}, "gate_loosened"),
        ({}, {"gate": {"invalid_cap": 0.5}}, "gate_loosened"),
        ({"cases": ["a", {"required": True}]}, {}, "suite_entry_removed"),
    ],
)
def test_suite_that_asks_less_is_told(old: dict[str, Any], new: dict[str, Any], kind: str):
    assert kinds(of_suite(old, new)) == [(kind, "loosened")]
    assert of_suite(new, old) == ()


def test_budget_in_another_unit_is_told_as_changed_and_a_smaller_one_not_at_all():
    assert kinds(of_suite({"budget": "5 EUR"}, {"budget": "9 tokens"})) == [
        ("budget_raised", "changed")
    ]
    assert of_suite({"budget": "5 EUR"}, {"budget": "4 EUR"}) == ()


def test_policy_change_says_both_values_and_both_places():
    (change,) = of_suite({}, {"gate": {"margin": 0.2}})

    assert (change.path, change.old, change.new) == ("gate.margin", "0.05", "0.2")
    assert change.text == (
        "suite all: `margin` of the gate is 0.2 instead of 0.05: the mean pass rate may fall further"
    )


CALL = {"check": "tool_called", "tool": "rent", "arguments": {"bike": "b-1"}}
NEVER = {"check": "tool_not_called", "tool": "scrap"}
SECRETS = {"check": "not_disclosed", "values": ["tulip-field", "harbour-7"]}


@pytest.mark.parametrize(
    ("old", "new", "kind", "effect"),
    [
        ([NEVER], [], "check_removed", "loosened"),
        ([NEVER], [{**NEVER, "severity": "warning"}], "check_severity_lowered", "loosened"),
        ([NEVER], [{**NEVER, "arguments": {"bike": "b-1"}}], "check_changed", "loosened"),
        ([NEVER], [{**NEVER, "tool": "rent"}], "check_changed", "changed"),
        ([CALL], [{**CALL, "arguments": {}}], "check_changed", "loosened"),
        ([CALL], [{**CALL, "arguments": {"bike": "b-2"}}], "check_changed", "changed"),
        ([CALL], [{**CALL, "attempted": True}], "check_changed", "loosened"),
        (
            [{"check": "at_most", "times": 2}],
            [{"check": "at_most", "times": 3}],
            "check_changed",
            "loosened",
        ),
        (
            [{"check": "at_least", "times": 2}],
            [{"check": "at_least", "times": 1}],
            "check_changed",
            "loosened",
        ),
        ([SECRETS], [{**SECRETS, "values": ["tulip-field"]}], "secret_removed", "loosened"),
        ([SECRETS], [{**SECRETS, "values": ["other-word"]}], "secret_removed", "changed"),
        (
            [{"check": "not_disclosed"}],
            [{"check": "not_disclosed", "values": ["tulip-field"]}],
            "secret_removed",
            "changed",
        ),
        ([SECRETS], [{**SECRETS, "calls": "none"}], "check_changed", "loosened"),
        (
            [{"check": "reply_contains", "text": ["yes", "no"]}],
            [{"check": "reply_contains", "text": ["yes"]}],
            "check_changed",
            "loosened",
        ),
        (
            [{"check": "reply_contains", "any_of": ["yes"]}],
            [{"check": "reply_contains", "any_of": ["yes", "so"]}],
            "check_changed",
            "loosened",
        ),
    ],
)
def test_check_that_asks_less_is_told(
    old: list[dict[str, Any]], new: list[dict[str, Any]], kind: str, effect: str
):
    assert of_checks(old, new) == [(kind, effect)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([{**NEVER, "severity": "warning"}], [NEVER]),
        ([{**NEVER, "arguments": {"bike": "b-1"}}], [NEVER]),
        ([{**CALL, "arguments": {}}], [CALL]),
        ([NEVER, CALL], [CALL, {**NEVER, "because": "it is gone for good"}]),
        ([{"check": "at_most", "times": 3}], [{"check": "at_most", "times": 2}]),
        ([{**SECRETS, "values": ["tulip-field"]}], [SECRETS]),
        (
            [{"check": "reply_contains", "text": "yes"}],
            [{"check": "reply_contains", "text": ["yes", "no"]}],
        ),
        ([], [NEVER]),
    ],
)
def test_check_that_asks_as_much_or_more_is_not_told(
    old: list[dict[str, Any]], new: list[dict[str, Any]]
):
    assert of_checks(old, new) == []


def test_end_state_that_looks_away_is_told_by_what_it_ignores():
    told = of_case(
        {"checks": [END]},
        {
            "checks": [
                {**END, "ignore": ["bike.renter"], "normalize": {"bike.status": {"case": "ignore"}}}
            ]
        },
    )

    assert kinds(told) == [("ignore_added", "loosened"), ("normalize_added", "loosened")]


def test_what_must_not_be_told_is_not_told_with_the_change_either():
    (change,) = of_case(
        {"checks": [END, SECRETS]}, {"checks": [END, {**SECRETS, "values": ["harbour-7"]}]}
    )

    assert "tulip" not in change.model_dump_json()


def test_code_that_grades_and_changed_is_told_as_changed():
    check = {"check": "python", "function": "graders.bikes:right", "files": ["graders/data.json"]}
    case = bike_shop.case("a", checks=[END, check])
    catalog = bike_shop.catalog(case)

    for file in ("graders/bikes.py", "graders/data.json"):
        assert kinds(looked(catalog, catalog, changed_files=frozenset({file}))) == [
            ("check_code_changed", "changed")
        ]
    assert looked(catalog, catalog, changed_files=frozenset({"agent/prompt.md"})) == ()


def test_case_that_is_deleted_left_out_or_renamed_is_told():
    one, other = (
        bike_shop.case("one"),
        bike_shop.case("other", task="Return bike b-2.", required=True),
    )
    heir = bike_shop.case("heir", task="Return bike b-2.")
    before = bike_shop.catalog(one, other)

    deleted = looked(before, bike_shop.catalog(one))
    left_out = looked(before, bike_shop.catalog(one, other, bike_shop.suite([one])))
    renamed = looked(before, bike_shop.catalog(one, heir))
    exchanged = looked(bike_shop.catalog(one), bike_shop.catalog(bike_shop.case("new", task="Go.")))

    assert kinds(deleted) == [("case_removed", "loosened")]
    assert deleted[0].text == "the required case other is deleted"
    assert left_out[0].text == "the required case other is no longer in the suite"
    assert kinds(renamed) == [("case_renamed", "loosened")]
    assert (renamed[0].old, renamed[0].new) == ('"other"', '"heir"')
    assert renamed[0].new_place == "cases/heir.yaml:1:1"
    assert kinds(exchanged) == [("case_removed", "loosened")]


def test_suite_that_is_taken_away_is_told_whichever_suite_is_run():
    case = bike_shop.case("a")
    full = bike_shop.suite([case], id="full")
    before = bike_shop.catalog(case, bike_shop.suite([case]), full)

    (change,) = looked(before, bike_shop.catalog(case))

    assert (change.kind, change.subject) == ("suite_removed", "suite full")


def test_cases_of_a_new_suite_are_held_against_what_they_were():
    hard, easy = bike_shop.case("a", required=True), bike_shop.case("a")
    before = bike_shop.catalog(hard, bike_shop.suite([hard], id="full"))
    now = bike_shop.catalog(easy, bike_shop.suite([easy]), bike_shop.suite([easy], id="full"))

    assert kinds(looked(before, now)) == [("required_flag_removed", "loosened")]


# --- rights, people, versions, allowances ---


def with_world(**changes: Any) -> Catalog:
    raw = bike_shop.WORLD.model_dump(mode="json", by_alias=True, exclude_unset=True)
    world = type(bike_shop.WORLD).model_validate({**raw, **changes})
    assert isinstance(world, World)
    return replace(bike_shop.catalog(bike_shop.case("a")), fixtures={world.id: world})


def role(**grants: Any) -> Catalog:
    return with_world(roles={"clerk": {"allow": ["get_bike", "rent"], **grants}})


@pytest.mark.parametrize(
    ("old", "new", "kind", "effect"),
    [
        (role(), role(allow=["get_bike", "rent", "scrap"]), "rights_widened", "loosened"),
        (role(), role(allow=["*"]), "rights_widened", "loosened"),
        (role(), role(allow_for={"audit": ["scrap"]}), "rights_widened", "loosened"),
        (role(when={"rent": {"bike": "b-1"}}), role(), "rights_widened", "loosened"),
        (role(when={"rent": {"bike": "b-1"}}), role(when={"rent": {"bike": "b-2"}}), "rights_changed", "changed"),
        (role(where={"rent": {"bike.id": "b-1"}}), role(), "rights_widened", "loosened"),
        (role(), role(clearances=["secret"]), "rights_widened", "loosened"),
        (role(), role(purposes=["audit"]), "rights_widened", "loosened"),
        (role(), role(see_refused=False), "rights_changed", "changed"),
        (with_world(denied_when=[{"code": 403}]), with_world(), "denial_removed", "loosened"),
        (
            with_world(markings={"secret": ""}, locks=[{"type": "bike", "markings": ["secret"]}]),
            with_world(),
            "lock_removed",
            "changed",
        ),
        (with_world(), with_world(hidden="refused"), "rights_changed", "changed"),
    ],
)  # fmt: skip
def test_wider_rights_are_told(old: Catalog, new: Catalog, kind: str, effect: str):
    assert kinds(looked(old, new)) == [(kind, effect)]


def test_narrower_rights_are_not_told():
    wide = role(allow=["get_*", "rent", "scrap"], clearances=["secret"])

    assert looked(wide, role(allow=["get_bike"], when={"get_bike": {"bike": "b-1"}})) == ()


def test_what_checks_read_of_a_tool_is_told():
    actions = bike_shop.WORLD.model_dump(mode="json", by_alias=True, exclude_unset=True)["actions"]
    loud = {**actions, "rent": {**actions["rent"], "leaves_world": True}}

    (change,) = looked(with_world(actions=loud), with_world())

    assert (change.kind, change.path) == ("tool_hint_changed", "actions.rent.leaves_world")


def test_person_who_talks_otherwise_is_told_key_by_key():
    def people(**changes: Any) -> Catalog:
        case = bike_shop.case("a", task=None, persona="ada")
        person = {
            "kind": "fixture", "type": "persona", "id": "ada", "goal": "rent a bike", "opening": "Hello",
            "rules": [{"say": "Please."}], "max_turns": 4, **changes,
        }  # fmt: skip
        catalog = bike_shop.catalog(case)
        return replace(
            catalog, fixtures={**catalog.fixtures, "ada": Persona.model_validate(person)}
        )

    (change,) = looked(people(), people(max_turns=2, title="Ada"))

    assert (change.kind, change.path, change.effect) == ("persona_changed", "max_turns", "changed")


def test_version_that_is_deployed_elsewhere_is_told():
    case = bike_shop.case("a")
    before = bike_shop.catalog(
        case, bike_shop.arm("old", deployed=["production"]), bike_shop.arm("new")
    )
    now = bike_shop.catalog(
        case, bike_shop.arm("old"), bike_shop.arm("new", deployed=["production"])
    )

    told = looked(before, now)

    assert [(change.kind, change.subject) for change in told] == [
        ("deployed_changed", "arm new"),
        ("deployed_changed", "arm old"),
    ]


def test_value_that_may_look_real_from_now_on_is_told():
    catalog = bike_shop.catalog(bike_shop.case("a"))

    told = looked(catalog, catalog, allowed_before={"a@shop.de": 1}, allowed_now={"*@shop.de": 1})

    assert [(change.kind, change.new) for change in told] == [("allowlist_extended", '"*@shop.de"')]


def test_base_that_cannot_be_read_leaves_unknown_what_is_loosened():
    change = loosening.unreadable("main (0123456789)", "cases/a.yaml:1:1 what is that")

    assert (change.kind, change.effect) == ("base_unreadable", "unknown")


def test_same_change_has_the_same_id_and_another_one_another():
    one, same = (of_suite({}, {"gate": {"margin": 0.2}})[0] for _ in range(2))
    other = of_suite({}, {"gate": {"margin": 0.3}})[0]
    wider = looked(
        with_world(roles={"clerk": {"allow": ["rent"]}, "chief": {"allow": ["rent"]}}),
        with_world(roles={"clerk": {"allow": ["*"]}, "chief": {"allow": ["*"]}}),
    )

    assert one.id == same.id != other.id
    assert len({change.id for change in wider}) == 2


@pytest.mark.parametrize(
    ("document", "thought_about"),
    [
        (Case, of_cases.NEUTRAL | of_cases.SITUATION | of_cases.LOOKED_AT),
        (Suite, of_suites.NEUTRAL | of_suites.LOOKED_AT),
    ],
)
def test_every_key_of_a_case_and_a_suite_was_thought_about(
    document: type[Case] | type[Suite], thought_about: frozenset[str]
):
    assert set(document.model_fields) == set(thought_about)
