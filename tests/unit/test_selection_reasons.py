"""Which cases run and why: every case of a suite is answered for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from seatrial.documents import Arm, Case, Catalog, ObjectsWorld, Suite
from seatrial.documents.answers import Answers
from seatrial.selection import Base, select

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


def reasons(
    now: Catalog, before: Catalog | None = BEFORE, files: tuple[str, ...] = ()
) -> Mapping[str, tuple[bool, tuple[str, ...]]]:
    base = Base(name="main", catalog=before, changed_files=frozenset(files))
    planned = select(now, now.suites["smoke"], [now.arms["candidate"]], base=base)
    return {p.case: (p.selected, p.reasons) for p in planned}


LEFT_OUT = (False, ("nothing it leans on changed since main",))
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
            catalog(answers={**ANSWERS, "title": "now"}),
            (),
            {"b": (True, ("fixture courier changed (title)",))},
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
    ],
    ids=["case", "fixture", "suite title", "suite", "arm", "source", "no source"],
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

    assert reasons(now)["c"] == (True, ("case changed (required)",))


def test_case_of_another_agent_is_left_out_by_name_even_when_required():
    cases = [case("a"), case("b", agent="pilot", required=True), case("c")]

    found = reasons(catalog(cases=cases))

    assert found["b"] == (False, ("no arm of this run is of the agent pilot",))


def test_trials_come_from_the_command_then_the_case_then_the_suite():
    now = catalog(cases=[case("a"), case("b", trials=9), case("c")])
    arms = [now.arms["candidate"]]

    planned = select(now, now.suites["smoke"], arms, base=None)
    forced = select(now, now.suites["smoke"], arms, base=None, trials=2)

    assert [p.trials for p in planned] == [4, 9, 4]
    assert [p.trials for p in forced] == [2, 2, 2]
