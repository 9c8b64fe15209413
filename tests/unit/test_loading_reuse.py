"""What documents inherit: from the one they extend, and from the defaults of their folders."""

import pytest
from tests import harbour

from seatrial import loading
from seatrial.comparability import fingerprints
from seatrial.documents import Case, Catalog, digest
from seatrial.errors import InvalidDocuments
from seatrial.loading import bounds, resolving

CHILD = """\
kind: case
id: take-another
extends: take-a-berth
title: Another free berth
task: Berth b-1, please.
"""


def load(changes: dict[str, str]) -> Catalog:
    return loading.load(harbour.contents(changes))


def told(changes: dict[str, str]) -> list[str]:
    with pytest.raises(InvalidDocuments) as caught:
        load(changes)
    return [p.render() for p in caught.value.problems]


def written_out(case: Case) -> dict[str, object]:
    return case.model_dump(mode="json", by_alias=True, exclude_unset=True)


# --- extends ---


def test_a_case_is_like_the_one_it_extends_but_for_what_it_says():
    catalog = load({"cases/more.yaml": CHILD})
    child, parent = catalog.cases["take-another"], catalog.cases["take-a-berth"]

    own = {"id": "take-another", "title": "Another free berth", "task": "Berth b-1, please."}
    assert written_out(child) == written_out(parent) | own
    assert catalog.place("case", "take-another", "task") == "cases/more.yaml:5:7"
    assert catalog.place("case", "take-another", "checks[1].changed[0].key") == (
        "cases/take.yaml:17:14"
    )
    assert catalog.place("case", "take-another") == "cases/more.yaml:1:1"
    assert dict(catalog.sources["case", "take-another"].files)["role"] == "cases/take.yaml"


def test_mappings_are_merged_lists_are_replaced_and_null_takes_a_key_away():
    child = CHILD + "limits: {calls: 3}\ntags: [other]\nowner: null\n"
    parent = harbour.CASE + "limits: {calls: 9, turn_seconds: 5.0}\nowner: ada\n"

    case = load({"cases/take.yaml": parent, "cases/more.yaml": child}).cases["take-another"]

    assert (case.limits.calls, case.limits.turn_seconds) == (3, 5.0)
    assert case.tags == ("other",)
    assert "owner" not in case.model_fields_set


def test_null_where_nothing_is_inherited_is_what_it_is_without_extends():
    found = told({"cases/more.yaml": CHILD + "tags: [a]\nrequired: null\n"})

    assert found == [
        "cases/more.yaml:7:11: `required`: expected `true` or `false`, found nothing. "
        "Leave the key out, or give it a value"
    ]


def test_a_mapping_of_another_type_replaces_the_inherited_one():
    other = """\
kind: arm
id: candidate
extends: released
version: 1.5.0
adapter: {type: http, url: "http://127.0.0.1:8000/turn"}
"""
    arm = load({"arms/other.yaml": other}).arms["candidate"]

    assert arm.adapter.type == "http"
    assert (arm.agent, arm.version) == ("harbour-desk", "1.5.0")


def test_suites_and_fixtures_extend_each_other_too():
    suite = "kind: suite\nid: longer\nextends: all\ntrials: 9\n"
    answers = "kind: fixture\nid: calm\nextends: storm\ntitle: Calm\n"

    catalog = load({"suites/longer.yaml": suite, "fixtures/calm.yaml": answers})

    assert catalog.suites["longer"].cases == catalog.suites["all"].cases
    assert catalog.suites["longer"].trials == 9
    assert digest(catalog.answers("calm").tools) == digest(catalog.answers("storm").tools)


def test_an_abstract_case_is_extended_and_never_run():
    base = harbour.CASE.replace("title: A free berth is given to a boat\n", "abstract: true\n")
    base = base.replace("take-a-berth", "any-berth")
    child = CHILD.replace("extends: take-a-berth", "extends: any-berth")

    catalog = load({"cases/base.yaml": base, "cases/more.yaml": child})

    assert sorted(catalog.cases) == ["take-a-berth", "take-another", "weather-in-turns"]
    assert not catalog.cases["take-another"].abstract


def test_an_abstract_document_that_nothing_extends_is_told():
    base = "kind: case\nid: any\nabstract: true\n"

    assert told({"cases/base.yaml": base}) == [
        "cases/base.yaml:3:11: nothing extends the abstract case `any`. "
        "What nothing extends is never looked at: remove it, or `abstract`"
    ]


def test_abstract_is_true_or_false():
    (problem,) = told({"cases/more.yaml": CHILD + "abstract: yes\n"})

    assert (
        problem
        == "cases/more.yaml:6:11: `abstract`: expected `true` or `false`, found the text `yes`"
    )


def test_a_suite_cannot_name_an_abstract_case():
    base = "kind: case\nid: any\nabstract: true\n"
    child = CHILD.replace("extends: take-a-berth", "extends: any") + "\n"
    suite = harbour.SUITE.replace("take-a-berth", "any")

    found = told({"cases/base.yaml": base, "cases/more.yaml": child, "suites/all.yaml": suite})

    assert "suites/all.yaml:4:5: case `any` is abstract: it can only be extended" in found


@pytest.mark.parametrize(
    ("parent", "said"),
    [
        ("take-a-bert", "there is no case `take-a-bert`; did you mean `take-a-berth`?"),
        ("harbour", "`harbour` is a fixture; a case extends a case"),
        ("[take-a-berth]", "`extends`: expected the id of a case, found a list"),
        ("take-another", "extends itself: `take-another` → `take-another`"),
        ("released", "`released` is an arm; a case extends a case"),
    ],
)
def test_a_parent_that_is_none_is_told_where_it_is_named(parent: str, said: str):
    child = CHILD.replace("extends: take-a-berth", f"extends: {parent}")

    assert told({"cases/more.yaml": child}) == [f"cases/more.yaml:3:10: {said}"]


def test_a_circle_is_told_at_each_of_its_documents_and_not_below_it():
    def case(id: str, parent: str) -> str:
        return f"kind: case\nid: {id}\nextends: {parent}\n"

    found = told(
        {"cases/more.yaml": "---\n".join([case("a", "b"), case("b", "a"), case("below", "a")])}
    )

    assert found == [
        "cases/more.yaml:3:10: extends itself: `a` → `b` → `a`",
        "cases/more.yaml:7:10: extends itself: `b` → `a` → `b`",
    ]


def test_a_fixture_of_another_type_is_no_parent():
    answers = "kind: fixture\ntype: answers\nid: calm\nextends: harbour\n"

    assert told({"fixtures/calm.yaml": answers}) == [
        "fixtures/calm.yaml:4:10: `harbour` is of type `world`, and this one is of type the text "
        "`answers`. Extend a fixture of the same type"
    ]


def test_chains_inherit_link_by_link_up_to_a_bound():
    line = [CHILD.replace("take-another", "c0")]
    line += [
        f"kind: case\nid: c{n}\nextends: c{n - 1}\ntags: [t{n}]\n"
        for n in range(1, bounds.MAX_PARENTS)
    ]
    catalog = load({"cases/more.yaml": "---\n".join(line)})
    last = catalog.cases[f"c{bounds.MAX_PARENTS - 1}"]
    assert (last.title, last.tags) == ("Another free berth", (f"t{bounds.MAX_PARENTS - 1}",))

    line.append(f"kind: case\nid: one-more\nextends: c{bounds.MAX_PARENTS - 1}\n")
    (problem,) = told({"cases/more.yaml": "---\n".join(line)})
    assert f"inherits through more than {bounds.MAX_PARENTS} documents" in problem


def test_a_mistake_in_what_is_inherited_is_told_once_in_the_file_that_wrote_it():
    parent = harbour.CASE.replace("tags: [berth]", "tags: berth")

    assert told({"cases/take.yaml": parent, "cases/more.yaml": CHILD}) == [
        "cases/take.yaml:8:7: `tags`: expected a list, found the text `berth`. Write `[berth]`"
    ]


def test_what_does_not_fit_only_for_the_child_is_told_in_the_file_that_wrote_it():
    child = CHILD.replace("extends: take-a-berth", "extends: any") + "role: clerk\n"
    base = harbour.CASE.replace("take-a-berth", "any").replace("tool: take_berth", "tool: take")
    base = base.replace("role: clerk\n", "abstract: true\n")

    (problem,) = told({"cases/base.yaml": base, "cases/more.yaml": child})

    assert problem.startswith("cases/base.yaml:12:11: world `harbour` offers no tool `take`")


def test_a_child_of_what_cannot_be_read_says_nothing_more():
    assert told({"cases/take.yaml": "kind: case\nid: take-a-berth\ntags: [a\n", "cases/more.yaml": CHILD}) == [
        "cases/take.yaml:4:1: expected `,` or `]` in the list that starts at 3:7"
    ]  # fmt: skip


def test_a_child_of_what_was_refused_says_nothing_more():
    parent = harbour.CASE.replace("tags: [berth]", "tags: !!set [berth]")

    (problem,) = told({"cases/take.yaml": parent, "cases/more.yaml": CHILD})

    assert problem.startswith("cases/take.yaml:8:7: the tag `!!set` is not allowed here")


def test_a_key_that_got_lost_above_is_not_missed_below():
    parent = harbour.CASE.replace("title: A free", "1: A free")
    child = CHILD.replace("title: Another free berth\n", "")

    (problem,) = told({"cases/take.yaml": parent, "cases/more.yaml": child})

    assert problem.startswith("cases/take.yaml:3:1: a key must be text")


def test_what_is_put_together_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resolving, "MAX_REUSED", 20)
    more = "---\n".join([CHILD, *(CHILD.replace("another", f"another-{n}") for n in range(50))])

    (problem,) = told({"cases/more.yaml": more})

    assert problem.startswith("cases/more.yaml:1:1: with all that is inherited and expanded")


# --- defaults ---

DEFAULTS = """\
kind: defaults
case:
  agent: harbour-desk
  world: harbour
  role: clerk
  limits: {turn_seconds: 30.0}
"""
BARE = harbour.CASE.replace("agent: harbour-desk\nworld: harbour\nrole: clerk\n", "")


def test_what_a_case_does_not_say_its_folder_says():
    catalog = load({"cases/defaults.yaml": DEFAULTS, "cases/take.yaml": BARE})

    case = catalog.cases["take-a-berth"]
    assert (case.agent, case.world, case.role) == ("harbour-desk", "harbour", "clerk")
    assert catalog.place("case", case.id, "world") == "cases/defaults.yaml:4:10"
    assert catalog.place("case", case.id, "limits.turn_seconds") == "cases/defaults.yaml:6:26"
    assert catalog.cases["weather-in-turns"].limits.turn_seconds == 30.0


def test_a_value_that_moves_into_the_defaults_changes_no_fingerprint():
    limits = "limits: {turn_seconds: 30.0, calls: 3}\n"
    before = load(
        {"cases/take.yaml": harbour.CASE + limits, "cases/talk.yaml": harbour.TALK + limits}
    )
    defaults = DEFAULTS.replace("30.0}", "30.0, calls: 3}")

    after = load({"cases/defaults.yaml": defaults, "cases/take.yaml": BARE})

    assert after.cases == before.cases
    arms = before.arms.values()
    assert fingerprints(after, arms, {}).whole() == fingerprints(before, arms, {}).whole()


def test_the_nearest_folder_wins_key_by_key_and_the_document_over_it():
    near = """\
kind: defaults
case:
  limits: {turn_seconds: 5.0, calls: 4}
  role: null
  tags: [near]
"""
    deep = BARE.replace("tags: [berth]\n", "role: master\nlimits: {calls: 7}\n")

    catalog = load(
        {
            "cases/defaults.yaml": DEFAULTS,
            "cases/near/defaults.yaml": near,
            "cases/near/take.yaml": deep.replace("take-a-berth", "near"),
        }
    )

    case = catalog.cases["near"]
    assert (case.limits.turn_seconds, case.limits.calls) == (5.0, 7)
    assert (case.role, case.tags, case.world) == ("master", ("near",), "harbour")


def test_what_a_parent_says_wins_over_the_folder_and_the_folder_over_that_of_the_parent():
    near = "kind: defaults\ncase: {owner: near, tags: [near]}\n"
    far = DEFAULTS + "  owner: far\n  priority: 3\n"

    case = load(
        {
            "cases/defaults.yaml": far,
            "cases/take.yaml": BARE,
            "cases/near/defaults.yaml": near,
            "cases/near/more.yaml": CHILD,
        }
    ).cases["take-another"]

    assert (case.tags, case.owner, case.priority) == (("berth",), "near", 3)


def test_defaults_are_for_the_kind_that_they_name():
    text = (
        "kind: defaults\nsuite: {trials: 7}\narm: {limits: {at_once: 2}}\n"
        "world: {now: 2026-01-01T00:00:00Z}\npersona: {max_turns: 4}\n"
    )
    folders = ("cases", "suites", "arms", "fixtures")
    suite = harbour.SUITE.replace("trials: 3\n", "")

    catalog = load({f"{f}/defaults.yaml": text for f in folders} | {"suites/all.yaml": suite})

    assert catalog.suites["all"].trials == 7
    assert catalog.arms["released"].limits.at_once == 2
    assert catalog.cases["take-a-berth"].trials is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: defaults\ncase: {task: Hello}\n", "2:8: `task` has no default: each case says it itself, or extends "
         "another. A default may have: group, required"),
        ("kind: defaults\ncase: {wrld: harbour}\n", "2:8: unknown key `wrld`; did you mean `world`?"),
        ("kind: defaults\ncases: {world: harbour}\n", "2:1: unknown key `cases`; did you mean `case`?"),
        ("kind: defaults\ncase: harbour\n", "2:7: `case`: expected a mapping, found the text `harbour`"),
        ("case: {world: harbour}\n", "1:1: a file called `defaults.yaml` holds what its folder inherits: "
         "`kind: defaults`"),
        ("kind: case\n", "1:7: a file called `defaults.yaml` holds what its folder inherits"),
        ("[]", "1:1: defaults are a mapping, found a list"),
        ("kind: defaults\n---\nkind: defaults\n", "3:1: a folder has its defaults in one document"),
        ("kind: defaults\ncase: {tags: berths}\n", "2:14: `tags`: expected a list, found the text `berths`"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_defaults_is_told_once_at_its_place(text: str, said: str):
    take = harbour.CASE.replace("tags: [berth]\n", "")
    (problem,) = told({"cases/defaults.yaml": text, "cases/take.yaml": take})

    assert problem.startswith(f"cases/defaults.yaml:{said}")


def test_defaults_elsewhere_than_in_their_file_are_told():
    assert told({"cases/other.yaml": "kind: defaults\ncase: {world: harbour}\n"}) == [
        "cases/other.yaml:1:7: defaults stand in a file called `defaults.yaml`, one for each folder"
    ]


def test_a_file_of_defaults_that_cannot_be_read_is_told_alone():
    found = told(
        {"cases/defaults.yaml": "kind: defaults\ncase: {world: harbour\n", "cases/take.yaml": BARE}
    )

    assert found == [
        "cases/defaults.yaml:3:1: expected `,` or `}` in the mapping that starts at 2:7"
    ]


def test_the_version_of_the_language_is_inherited_by_nobody():
    versioned = "schema_version: 1\n"

    catalog = load(
        {
            "cases/defaults.yaml": versioned + DEFAULTS,
            "cases/take.yaml": versioned + BARE,
            "cases/talk.yaml": versioned + harbour.TALK,
            "cases/more.yaml": CHILD,
            "cases/calm.yaml": CHILD.replace("take-a-berth", "weather-in-turns").replace(
                "take-another", "calm").replace("task: Berth b-1, please.\n", ""),
        }
    )  # fmt: skip

    for case in catalog.cases.values():
        assert "schema_version" not in case.model_fields_set, case.id


def test_defaults_of_a_newer_language_are_told():
    (problem,) = told(
        {"cases/defaults.yaml": DEFAULTS.replace("case:", "schema_version: 99\ncase:")}
    )

    assert problem.startswith("cases/defaults.yaml:2:17: ")
