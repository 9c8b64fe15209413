"""Which cases run and why: every case of a suite is answered for."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from seatrial.comparability import HARNESS, conditions
from seatrial.documents import Arm, Case, Catalog, ObjectsWorld, Suite
from seatrial.documents.answers import Answers
from seatrial.selection import Base, Dependencies, Known, Used, select

WORLD = {
    "kind": "fixture",
    "type": "world",
    "id": "shop",
    "now": "2026-04-01T10:00:00Z",
    "types": {"order": {"properties": {"id": {"type": "string"}}}},
    "actions": {"look": {"description": "Look", "read_only": True}},
}
ANSWERS = {
    "kind": "fixture",
    "type": "answers",
    "id": "courier",
    "tools": {"track": {"rules": [{"answer": "on its way"}]}},
}
ARM = {
    "kind": "arm",
    "id": "candidate",
    "agent": "desk",
    "version": "2.0.0",
    "adapter": {"type": "command", "command": ["{python}", "agent/main.py"]},
    "sources": {"prompts": ["agent/prompts/*.md"]},
}
SUITE = {"kind": "suite", "id": "smoke", "cases": ["a", "b", "c"], "trials": 4}


def case(id: str, **more: Any) -> Case:
    return Case.model_validate(
        {
            "kind": "case",
            "id": id,
            "title": id,
            "group": "task",
            "agent": "desk",
            "world": "shop",
            "task": "Do it.",
            "checks": [{"check": "no_violation"}],
            **more,
        }
    )


def catalog(**changed: Any) -> Catalog:
    parts: dict[str, Any] = {
        "cases": [case("a"), case("b", answers="courier"), case("c", required=True)],
        "suite": SUITE,
        "arm": ARM,
        "world": WORLD,
        "answers": ANSWERS,
    } | changed
    return Catalog(
        cases={c.id: c for c in parts["cases"]},
        suites={"smoke": Suite.model_validate(parts["suite"])},
        arms={"candidate": Arm.model_validate(parts["arm"])},
        fixtures={
            "shop": ObjectsWorld.model_validate(parts["world"]),
            "courier": Answers.model_validate(parts["answers"]),
        },
    )


BEFORE = catalog()


def used(
    then: Catalog,
    case: str,
    *called: str,
    valid: int = 4,
    components: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Used, ...]:
    """One batch of a baseline that was recorded with these documents."""
    leaned_on = {**conditions(then)[case], "harness": HARNESS, **components}
    listed = frozenset({"shop/look", "shop/pay"})
    return (Used(valid=valid, conditions=leaned_on, called=frozenset(called), listed=listed),)


def known(now: Catalog, **records: tuple[Used, ...]) -> Known:
    """A baseline that was recorded with today's documents, but for what is given."""
    every = {id: used(now, id) for id in now.cases}
    return Known(today=conditions(now), records={"desk": Dependencies(cases={**every, **records})})


def reasons(
    now: Catalog,
    before: Catalog | None = BEFORE,
    files: tuple[str, ...] = (),
    known_cases: Known | None = None,
) -> Mapping[str, tuple[bool, tuple[str, ...]]]:
    base = Base(name="main", catalog=before, changed_files=frozenset(files))
    arms = [now.arms["candidate"]]
    planned = select(now, now.suites["smoke"], arms, base=base, known=known_cases or known(now))
    assert all(
        p.carried is (not p.selected and p.reasons[0].startswith("carried")) for p in planned
    )
    return {p.case: (p.selected, p.reasons) for p in planned}


LEFT_OUT = (False, ("carried, not run: nothing it leans on changed since main",))
REQUIRED = (True, ("required",))


def test_nothing_changed_leaves_the_required_cases():
    assert reasons(catalog()) == {"a": LEFT_OUT, "b": LEFT_OUT, "c": REQUIRED}


def test_no_base_selects_everything_and_says_so():
    now = catalog()
    planned = select(now, now.suites["smoke"], [now.arms["candidate"]], base=None)

    assert [(p.case, p.selected, p.reasons, p.trials) for p in planned] == [
        ("a", True, ("no base given",), 4),
        ("b", True, ("no base given",), 4),
        ("c", True, ("required", "no base given"), 4),
    ]


def test_documents_that_cannot_be_read_at_the_base_select_everything():
    now = catalog()
    base = Base(name="v1", catalog=None, unreadable="unknown key 'tols'")

    planned = select(now, now.suites["smoke"], [now.arms["candidate"]], base=base)

    why = "the documents at v1 cannot be read: unknown key 'tols'"
    assert [p.reasons for p in planned] == [(why,), (why,), ("required", why)]


@pytest.mark.parametrize(
    ("now", "files", "expected"),
    [
        (
            catalog(cases=[case("a", tags=["x"]), *list(BEFORE.cases.values())[1:]]),
            (),
            {"a": (True, ("case changed (tags)",))},
        ),
        (
            catalog(answers={**ANSWERS, "tools": {"look": {"rules": [{"answer": "lost"}]}}}),
            (),
            {"b": (True, ("fixture courier changed (tools)",))},
        ),
        (
            catalog(
                answers={**ANSWERS, "title": "only a title"},
                world={**WORLD, "title": "only a title"},
            ),
            (),
            {},
        ),
        (
            catalog(suite={**SUITE, "title": "only a title"}),
            (),
            {},
        ),
        (
            catalog(suite={**SUITE, "trials": 5, "gate": {"margin": 0.1}}),
            (),
            {
                "a": (True, ("suite smoke changed (trials, gate)",)),
                "b": (True, ("suite smoke changed (trials, gate)",)),
                "c": (True, ("required", "suite smoke changed (trials, gate)")),
            },
        ),
        (
            catalog(arm={**ARM, "version": "2.0.1"}),
            (),
            {
                "a": (True, ("arm candidate changed (version)",)),
                "b": (True, ("arm candidate changed (version)",)),
                "c": (True, ("required", "arm candidate changed (version)")),
            },
        ),
        (
            catalog(),
            ("agent/prompts/über.md",),
            {
                "a": (True, ("arm candidate changed (prompts: agent/prompts/über.md)",)),
                "b": (True, ("arm candidate changed (prompts: agent/prompts/über.md)",)),
                "c": (
                    True,
                    ("required", "arm candidate changed (prompts: agent/prompts/über.md)"),
                ),
            },
        ),
        (catalog(), ("agent/other.md", "docs/agent/prompts/a.md"), {}),
        (catalog(arm={**ARM, "prices": {"currency": "EUR", "input": 1, "output": 5}}), (), {}),
    ],
    ids=[
        "case",
        "fixture",
        "fixture title",
        "suite title",
        "suite",
        "arm",
        "source",
        "no source",
        "prices",
    ],
)
def test_a_change_selects_what_leans_on_it_and_nothing_else(
    now: Catalog, files: tuple[str, ...], expected: dict[str, Any]
):
    unchanged = {"a": LEFT_OUT, "b": LEFT_OUT, "c": REQUIRED}

    assert reasons(now, files=files) == unchanged | expected


def test_order_of_keys_is_no_change():
    turned = {key: WORLD[key] for key in reversed(WORLD)}

    assert reasons(catalog(world=turned))["a"] == LEFT_OUT


def test_script_that_an_adapter_runs_is_a_source_though_no_source_names_it():
    found = reasons(catalog(), files=("agent/main.py",))

    assert found["a"] == (True, ("arm candidate changed (adapter: agent/main.py)",))


def test_module_that_an_adapter_imports_is_a_source_with_its_packages():
    adapter = {"type": "python", "target": "desk.agents.main:answer"}
    now = catalog(arm={**ARM, "adapter": adapter})

    for path in ("desk/agents/main.py", "desk/__init__.py", "desk/agents/main/parts.py"):
        assert reasons(now, before=now, files=(path,))["a"][0], path
    assert not reasons(now, before=now, files=("desk/other.py",))["a"][0]


def test_many_changed_files_are_counted_beyond_the_first_three():
    files = tuple(f"agent/prompts/{n}.md" for n in range(6))

    (reason,) = reasons(catalog(), files=files)["a"][1]

    assert reason == (
        "arm candidate changed (prompts: "
        "agent/prompts/0.md, agent/prompts/1.md, agent/prompts/2.md and 3 more)"
    )


def test_new_documents_are_called_new():
    before = replace(BEFORE, cases={"c": BEFORE.cases["c"]}, fixtures={}, arms={})
    before = replace(before, suites={"smoke": Suite.model_validate({**SUITE, "cases": ["c"]})})

    found = reasons(catalog(), before=before)

    assert found["b"] == (
        True,
        ("new case", "fixture shop is new", "fixture courier is new", "arm candidate is new"),
    )


def test_case_that_joins_the_suite_is_selected():
    before = catalog(suite={**SUITE, "cases": ["b", "c"]})

    assert reasons(catalog(), before=before)["a"] == (True, ("new in the suite",))


def test_suite_that_is_new_selects_everything():
    before = replace(BEFORE, suites={})

    assert reasons(catalog(), before=before)["b"] == (True, ("suite smoke is new",))


def test_deleted_case_is_listed_and_a_required_one_is_named_as_such():
    now = catalog(cases=[case("b", answers="courier")], suite={**SUITE, "cases": ["b"]})

    planned = select(
        now, now.suites["smoke"], [now.arms["candidate"]], base=Base(name="main", catalog=BEFORE)
    )

    assert [(p.case, p.selected, p.required, p.reasons, p.trials) for p in planned[1:]] == [
        ("a", False, False, ("removed: the case was deleted",), 0),
        ("c", False, True, ("removed: the case was deleted", "it was required"), 0),
    ]


def test_case_that_left_the_suite_is_told_from_one_that_was_deleted():
    found = reasons(catalog(suite={**SUITE, "cases": ["a", "b"]}))

    assert found["c"] == (False, ("removed: no longer in the suite", "it was required"))


def test_required_flag_taken_away_counts_as_a_change_of_the_case():
    now = catalog(cases=[case("a"), case("b", answers="courier"), case("c")])

    assert reasons(now)["c"] == (
        True,
        ("required at main, no longer marked so", "case changed (required)"),
    )


def test_case_that_was_required_at_the_base_stays_so_in_the_plan():
    now = catalog(cases=[case("a"), case("b", answers="courier"), case("c")])
    arms = [now.arms["candidate"]]

    planned = select(now, now.suites["smoke"], arms, base=Base(name="main", catalog=BEFORE))

    assert {p.case: p.required for p in planned} == {"a": False, "b": False, "c": True}


def _in_quarantine(until: str | None) -> Case:
    word = (
        {"quarantine": {"owner": "Ada", "reason": "It flickers.", "until": until}} if until else {}
    )
    return case("c", required=True, **word)


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ("2026-03-01", "2026-03-01", "2026-03-01"),
        ("2026-03-01", "2026-04-01", "2026-03-01"),
        ("2026-04-01", "2026-03-01", "2026-03-01"),
        (None, "2026-03-01", None),
        ("2026-03-01", None, None),
    ],
)
def test_quarantine_holds_as_long_as_the_change_and_its_base_both_say(
    before: str | None, now: str | None, told: str | None
):
    then, changed = (
        catalog(cases=[case("a"), case("b", answers="courier"), _in_quarantine(day)])
        for day in (before, now)
    )
    suite, arms = changed.suites["smoke"], [changed.arms["candidate"]]

    planned = {
        p.case: p for p in select(changed, suite, arms, base=Base(name="main", catalog=then))
    }
    alone = {p.case: p for p in select(changed, suite, arms, base=None)}

    assert (planned["c"].required, planned["c"].quarantine) == (True, told)
    assert alone["c"].quarantine is None


def test_case_that_is_given_to_another_agent_is_removed_from_this_one():
    given = case("c", agent="pilot", required=True)
    now = catalog(cases=[case("a"), case("b", answers="courier"), given])
    arms = [now.arms["candidate"]]

    planned = select(now, now.suites["smoke"], arms, base=Base(name="main", catalog=BEFORE))

    assert [(p.case, p.selected, p.removed, p.required, p.reasons) for p in planned[2:]] == [
        (
            "c",
            False,
            True,
            True,
            ("removed: it is for the agent pilot now", "it was required"),
        )
    ]


def test_case_of_another_agent_is_left_out_by_name_even_when_required():
    cases = [case("a"), case("b", agent="pilot", required=True), case("c")]

    found = reasons(catalog(cases=cases), before=catalog(cases=cases))

    assert found["b"] == (False, ("no arm of this run is of the agent pilot",))


def test_trials_come_from_the_command_then_the_case_then_the_suite():
    now = catalog(cases=[case("a"), case("b", trials=9), case("c")])
    arms = [now.arms["candidate"]]

    planned = select(now, now.suites["smoke"], arms, base=None)
    forced = select(now, now.suites["smoke"], arms, base=None, trials=2)

    assert [p.trials for p in planned] == [4, 9, 4]
    assert [p.trials for p in forced] == [2, 2, 2]


# --- tools, by the suite's choice ---

LOOK = {"description": "Look", "read_only": True}
PAY = {"description": "Pay", "returns": "paid"}
SHOP = {**WORLD, "actions": {"look": LOOK, "pay": PAY}}
OPEN = {"allow": ["*"]}
SHY = {"allow": ["look"], "see_refused": False}


def shop(**pay: Any) -> Catalog:
    return catalog(world={**SHOP, "actions": {"look": LOOK, "pay": {**PAY, **pay}}})


def by_calls(found: Catalog) -> Catalog:
    suite = Suite.model_validate({**SUITE, "select": {"tools": "called"}})
    return replace(found, suites={"smoke": suite})


def test_tool_that_reads_otherwise_selects_each_case_that_could_list_it():
    found = reasons(shop(description="Pay at once"), before=shop())

    why = "tool pay changed (description), which it can list"
    assert found == {"a": (True, (why,)), "b": (True, (why,)), "c": (True, ("required", why))}


def test_tool_that_the_arm_describes_otherwise_selects_the_cases_that_could_list_it():
    roles = {"roles": {"open": OPEN, "shy": SHY}}
    cases = [case("a", role="shy"), case("b", role="open"), case("c", role="open", required=True)]
    before = catalog(cases=cases, world={**SHOP, **roles})
    arm = {**ARM, "tools": {"pay": {"description": "Pay at once"}}}
    now = catalog(cases=cases, world={**SHOP, **roles}, arm=arm)

    why = "arm candidate describes tool pay otherwise, which it can list"
    assert reasons(now, before=before) == {
        "a": LEFT_OUT,
        "b": (True, (why,)),
        "c": (True, ("required", why)),
    }
    called = reasons(
        by_calls(now),
        before=by_calls(before),
        known_cases=known(now, b=used(now, "b", "shop/look")),
    )
    assert called["b"] == (False, (LEFT_OUT[1][0], "it never called pay, which changed"))


def test_case_whose_role_is_not_shown_the_tool_is_carried():
    roles = {"roles": {"open": OPEN, "shy": SHY}}
    cases = [case("a", role="shy"), case("b", role="open"), case("c", role="shy", required=True)]
    before, now = (
        catalog(cases=cases, world={**found, **roles})
        for found in (SHOP, {**SHOP, "actions": {"look": LOOK, "pay": {**PAY, "output": {}}}})
    )

    assert reasons(now, before=before) == {
        "a": LEFT_OUT,
        "b": (True, ("tool pay changed (output), which it can list",)),
        "c": REQUIRED,
    }


def test_by_choice_of_the_suite_only_cases_that_called_the_tool_are_run():
    before, now = by_calls(shop()), by_calls(shop(description="Pay at once"))

    found = reasons(
        now, before=before, known_cases=known(now, b=used(now, "b", "shop/pay", "shop/look"))
    )

    assert found["b"] == (True, ("tool pay changed (description), which it called",))
    assert found["a"] == (False, (LEFT_OUT[1][0], "it never called pay, which changed"))


def test_calls_of_every_batch_of_the_baseline_count():
    before, now = by_calls(shop()), by_calls(shop(description="Pay at once"))
    batches = (*used(now, "a"), *used(now, "a", "shop/pay"))

    assert reasons(now, before=before, known_cases=known(now, a=batches))["a"][0]


def test_where_the_calls_are_not_known_a_case_that_could_list_the_tool_is_run():
    before, now = by_calls(shop()), by_calls(shop(description="Pay at once"))

    found = reasons(now, before=before, known_cases=known(now, a=used(now, "a", valid=0)))

    assert found["a"] == (True, ("tool pay changed (description), which it can list",))


def test_what_a_tool_does_is_the_world_and_selects_every_case_of_it():
    now = by_calls(shop(returns="refused"))

    found = reasons(now, before=by_calls(shop()))

    assert found["a"] == (True, ("fixture shop changed (actions)",))


def test_changed_object_selects_every_case_of_the_world():
    now = catalog(world={**WORLD, "objects": {"order": [{"id": "o-1"}]}})

    assert reasons(now)["a"] == (True, ("fixture shop changed (objects)",))


def test_what_the_server_says_of_itself_selects_every_case_of_the_world():
    assert reasons(catalog(world={**WORLD, "instructions": "Be quick."}))["a"] == (
        True,
        ("fixture shop changed (instructions)",),
    )


def test_choice_itself_selects_everything_when_it_changes():
    assert reasons(by_calls(catalog()))["a"] == (True, ("suite smoke changed (select)",))


# --- what the baseline can stand for ---


def test_without_a_baseline_nothing_is_carried():
    now = catalog()
    empty = Known(today=conditions(now), records={"desk": "nothing is released here"})

    assert reasons(now, known_cases=empty)["a"] == (
        True,
        ("nothing can stand for it: nothing is released here",),
    )
    assert reasons(now, known_cases=Known())["a"] == (
        True,
        ("nothing can stand for it: no baseline was looked for",),
    )


@pytest.mark.parametrize("batches", [(), used(BEFORE, "a", valid=0)])
def test_case_without_a_valid_trial_in_the_baseline_is_run(batches: tuple[Used, ...]):
    now = catalog()

    assert reasons(now, known_cases=known(now, a=batches))["a"] == (
        True,
        ("no valid trial of it in the baseline",),
    )


@pytest.mark.parametrize("component", ["case", "world", "harness"])
def test_case_whose_baseline_leaned_on_something_else_is_run(component: str):
    now = catalog()

    found = reasons(now, known_cases=known(now, a=used(now, "a", components={component: "other"})))

    assert found["a"] == (True, (f"the baseline cannot stand for it ({component})",))


@pytest.mark.parametrize("component", ["checks", "grading", "source:prompts", "tool:look"])
def test_what_can_be_graded_again_and_what_is_the_arms_is_carried(component: str):
    now = catalog()

    assert reasons(now, known_cases=known(now, a=used(now, "a", components={component: "x"})))[
        "a"
    ] == (LEFT_OUT)


def test_checks_that_are_functions_cannot_be_graded_again_and_are_no_reason_to_carry():
    judged = case("a", checks=[{"check": "python", "function": "judges:fair"}])
    now = catalog(cases=[judged, *list(BEFORE.cases.values())[1:]])
    before = used(now, "a", components={"checks": "other"})

    found = reasons(now, before=now, known_cases=known(now, a=before))

    assert found["a"] == (True, ("the baseline cannot stand for it (checks)",))


def test_case_of_which_nothing_was_recorded_but_trials_is_run():
    now = catalog()
    blank = Used(valid=4, conditions={}, called=frozenset(), listed=frozenset())

    assert reasons(now, known_cases=known(now, a=(blank,)))["a"] == (
        True,
        ("the baseline cannot stand for it (what it was run with was not recorded)",),
    )


def test_one_batch_that_fits_is_enough():
    now = catalog()
    batches = (*used(now, "a", components={"world": "other"}), *used(now, "a"))

    assert reasons(now, known_cases=known(now, a=batches))["a"] == LEFT_OUT
