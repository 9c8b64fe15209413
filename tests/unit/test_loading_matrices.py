"""A case with a matrix stands for one case for each combination of its values."""

import pytest
from tests import harbour

from seatrial import loading
from seatrial.documents import Catalog
from seatrial.errors import InvalidDocuments
from seatrial.loading import bounds

MATRIX = """\
matrix:
  boat: [gull, heron]
  berth:
    first: {id: b-1, depth: 3}
    second: {id: b-2, depth: 4}
  exclude:
    - {boat: heron, berth: second}
"""
CASE = (
    harbour.CASE.replace("group: task\n", MATRIX + "group: task\n")
    .replace("Berth b-1 for the gull, please.", "Berth {{matrix.berth.id}} for the {{ matrix.boat }}.")
    .replace("berth_id: b-1", 'berth_id: "{{matrix.berth.id}}"')
    .replace("key: b-1", 'key: "{{matrix.berth.id}}"')
    .replace("boat: gull}", 'boat: "{{matrix.boat}}"}')
)  # fmt: skip
IDS = [
    "take-a-berth--berth.first--boat.gull",
    "take-a-berth--berth.first--boat.heron",
    "take-a-berth--berth.second--boat.gull",
]


def load(case: str = CASE, changes: dict[str, str] | None = None) -> Catalog:
    return loading.load(harbour.contents({"cases/take.yaml": case} | (changes or {})))


def told(case: str, changes: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(InvalidDocuments) as caught:
        load(case, changes)
    return [p.render() for p in caught.value.problems]


def test_a_case_is_there_once_for_each_combination_that_is_not_excluded():
    catalog = load()

    assert list(catalog.cases) == [*IDS, "weather-in-turns"]
    case = catalog.cases[IDS[2]]
    assert case.task == "Berth b-2 for the gull. My word is {{run}}."
    assert case.title == "A free berth is given to a boat (berth second, boat gull)"
    assert case.written_as == "take-a-berth"
    assert case.matrix is None
    assert case.expansion is not None
    assert case.expansion.values == {"boat": "gull", "berth": {"id": "b-2", "depth": 4}}


def test_what_a_text_alone_stands_for_keeps_its_type_and_its_place():
    case = CASE.replace("tags: [berth]\n", 'tags: [berth]\npriority: "{{matrix.berth.depth}}"\n')

    catalog = load(case)

    assert catalog.cases[IDS[2]].priority == 4
    assert catalog.place("case", IDS[2], "priority") == "cases/take.yaml:8:30"
    assert catalog.place("case", IDS[2], "task") == "cases/take.yaml:17:7"


def test_the_ids_do_not_hang_on_the_order_of_the_names():
    turned = CASE.replace("  boat: [gull, heron]\n", "").replace(
        "  exclude:\n", "  boat: [heron, gull]\n  exclude:\n"
    )

    assert sorted(load(turned).cases) == sorted(load().cases)


def test_one_more_value_leaves_the_other_expansions_as_they_are():
    before = load().cases
    after = load(CASE.replace("[gull, heron]", "[tern, gull, heron]")).cases

    assert all(after[id] == case for id, case in before.items())
    assert len(after) == len(before) + 2


def test_suites_name_the_case_or_one_expansion_of_it():
    catalog = load()
    assert [c.id for c in catalog.suite_cases(catalog.suites["all"])] == [*IDS, "weather-in-turns"]
    assert catalog.named("take-a-berth") == tuple(IDS)

    suite = harbour.SUITE.replace("  - take-a-berth\n", f"  - {IDS[1]}\n")
    suite += f"must_tie: [{IDS[1]}]\n"
    catalog = load(changes={"suites/all.yaml": suite})
    assert [c.id for c in catalog.suite_cases(catalog.suites["all"])] == [
        IDS[1], "weather-in-turns",
    ]  # fmt: skip
    assert catalog.must_tie(catalog.suites["all"]) == {IDS[1]}


def test_an_expansion_that_is_excluded_is_not_there():
    suite = harbour.SUITE.replace("take-a-berth", "take-a-berth--berth.second--boat.heron")

    (problem,) = told(CASE, {"suites/all.yaml": suite})

    assert "there is no case `take-a-berth--berth.second--boat.heron`; did you mean" in problem


def test_a_child_inherits_the_matrix_and_may_take_values_away():
    child = """\
kind: case
id: take-another
extends: take-a-berth
matrix:
  berth: {second: null}
  exclude: null
"""
    assert [id for id in load(changes={"cases/more.yaml": child}).cases if "another" in id] == [
        "take-another--berth.first--boat.gull",
        "take-another--berth.first--boat.heron",
    ]


def test_values_stand_in_titles_keys_and_the_names_of_other_documents():
    case = (
        harbour.CASE.replace("title: A free berth is given to a boat\n", MATRIX_OF_WORLDS)
        .replace("world: harbour\n", 'world: "{{matrix.place}}"\n')
        .replace("state: taken", '"{{matrix.key}}": taken')
    )

    catalog = load(case)

    (one,) = [c for c in catalog.cases.values() if c.written_as == "take-a-berth"]
    assert (one.title, one.world) == ("In harbour", "harbour")
    assert catalog.place("case", one.id, "checks[1].changed[0].properties.state") == (
        "cases/take.yaml:19:40"
    )


MATRIX_OF_WORLDS = "title: In {{matrix.place}}\nmatrix: {place: [harbour], key: [state]}\n"


def test_a_value_may_name_what_the_trial_stands_for_but_not_another_value():
    case = harbour.CASE.replace(
        "task: Berth b-1 for the gull, please. My word is {{run}}.\n",
        'task: "{{matrix.a}}"\nmatrix:\n  a: {x: "Word {{run}}", y: "{{matrix.b}}"}\n  b: [one]\n',
    )
    good = load(case.replace("matrix.b}}", "today}}"))
    assert good.cases["take-a-berth--a.x--b.one"].task == "Word {{run}}"

    (problem,) = told(case)
    assert problem.startswith(
        "cases/take.yaml:11:29: `{{matrix.b}}` stands for nothing here: a value of a matrix names no other"
    )


def test_a_name_that_the_matrix_does_not_have_is_told_once():
    (problem,) = told(CASE.replace("{{ matrix.boat }}", "{{matrix.bout}}"))

    assert problem == (
        "cases/take.yaml:16:7: `{{matrix.bout}}` stands for nothing; did you mean `{{matrix.boat}}`?"
    )


def test_matrix_values_are_nothing_in_a_case_without_a_matrix():
    (problem,) = told(CASE.replace(MATRIX, "").replace("{{ matrix.boat }}", "gull").replace(
        "{{matrix.berth.id}}", "b-1"))  # fmt: skip

    assert "`{{matrix.boat}}` stands for nothing" in problem


@pytest.mark.parametrize(
    ("there", "instead", "said"),
    [
        ("[gull, heron]", "[Gull]", "5:10: the text `Gull` cannot stand in the id of a case. Give the value a name"),
        ("[gull, heron]", "[gull, gull]", "5:16: `gull` stands there already"),
        ("[gull, heron]", "[1, '1']", "5:13: `1` stands there already"),
        ("[gull, heron]", "[]", "5:9: `boat`: expected at least one value"),
        ("[gull, heron]", "[[a]]", "5:10: `boat`: expected a text or a number, found a list"),
        ("[gull, heron]", "gull", "5:9: `boat`: expected a list of texts and numbers, or a mapping"),
        ("boat: [", "Boat: [", "5:3: expected a name: at most 30 lower-case letters"),
        ("first:", "a--b:", "7:5: the text `a--b` cannot stand in the id of a case"),
        ("{boat: heron, berth: second}", "{bout: heron}", "10:8: the matrix has no `bout`; did you mean `boat`?"),
        ("{boat: heron, berth: second}", "{boat: hero}", "10:14: `boat` has no value `hero`; did you mean `heron`?"),
        ("{boat: heron, berth: second}", "{}", "10:7: leaves everything out"),
        ("- {boat: heron, berth: second}", "[{berth: first}, {berth: second}]", "every combination is left out"),
        ("[gull, heron]", str(["heron", *(f"b{n}" for n in range(200))]), f"at most {bounds.MAX_EXPANSIONS} are run"),
        ("[gull, heron]", "{heron: y, " + "n" * 36 + ": x}", "has an id of more than 80 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_matrix_is_told_at_its_place(there: str, instead: str, said: str):
    case = (
        CASE.replace("id: take-a-berth", "id: take-a-berth-for-a-boat-in-the-harbour")
        if "nnn" in instead
        else CASE
    )
    assert there in case
    suite = harbour.SUITE.replace("  - take-a-berth\n", "")

    found = told(case.replace(there, instead, 1), {"suites/all.yaml": suite})

    assert any(said in problem for problem in found), found
    assert len(found) <= 2


def test_a_matrix_without_names_is_told():
    assert "a matrix has at least one name" in told(CASE.replace(MATRIX, "matrix: {}\n"))[0]


def test_an_expansion_must_not_be_called_like_another_case():
    other = harbour.CASE.replace("take-a-berth", IDS[0])

    (problem,) = told(CASE, {"cases/other.yaml": other})

    assert f"the expansion `{IDS[0]}` is there already: cases/other.yaml:2:5" in problem


def test_texts_that_a_matrix_makes_are_bounded():
    long = "x" * 5000
    case = CASE.replace("[gull, heron]", "{gull: " + long + "}").replace(
        "{{ matrix.boat }}", "{{matrix.boat}}" * 30
    ).replace("{boat: heron, berth: second}", "{berth: second}")  # fmt: skip

    (problem,) = told(case)

    assert f"a text has more than {bounds.MAX_FILLED} characters" in problem


def test_a_matrix_beside_what_was_refused_is_not_looked_at():
    (problem,) = told(CASE.replace("tags: [berth]", "tags: !!set [berth]"))

    assert "the tag `!!set` is not allowed here" in problem


@pytest.mark.parametrize("text", ["matrix: [a]", "matrix: text", "matrix: null"])
def test_a_matrix_is_a_mapping(text: str):
    (problem,) = told(CASE.replace(MATRIX, text + "\n"))

    assert problem.startswith("cases/take.yaml:4:9: `matrix`: expected a mapping, found")


def test_combinations_to_leave_out_have_a_form_too():
    (problem,) = told(CASE.replace("    - {boat: heron, berth: second}\n", "    - heron\n"))

    assert problem.startswith(
        "cases/take.yaml:10:7: `exclude[0]`: expected a mapping, found the text `heron`"
    )


def test_expansions_are_written_by_nobody():
    (problem,) = told(harbour.CASE + "expansion: {of: x, values: {}}\n")

    assert problem.startswith("cases/take.yaml:22:1: unknown key `expansion`")


# --- in what a case leans on ---

STORM = harbour.FILES["fixtures/storm.yaml"].replace("wind: 9", 'wind: "{{matrix.wind}}"')
WINDY = harbour.TALK.replace("group: clarify\n", "group: clarify\nmatrix: {wind: [3, 9]}\n")


def test_mocked_answers_may_name_what_every_case_has_that_leans_on_them():
    catalog = load(harbour.CASE, {"fixtures/storm.yaml": STORM, "cases/talk.yaml": WINDY})

    case = catalog.cases["weather-in-turns--wind.9"]
    assert case.lookup == {"matrix.wind": 9}


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (harbour.TALK, "8:10: fixture `storm` names `{{matrix.wind}}`, which this case has not"),
        (
            WINDY.replace("wind:", "winds:"),
            "9:10: fixture `storm` names `{{matrix.wind}}`, which this case has not; did you mean `{{matrix.winds}}`?",
        ),
    ],
)
def test_a_case_without_a_value_that_its_mocked_answers_name_is_told(case: str, said: str):
    found = told(harbour.CASE, {"fixtures/storm.yaml": STORM, "cases/talk.yaml": case})

    assert found == [f"cases/talk.yaml:{said}"]


def test_persons_may_name_values_of_the_matrix():
    person = (
        "kind: fixture\ntype: persona\nid: ada\ngoal: A berth.\nopening: I have a {{matrix.boat}}.\n"
        "rules: [{ends: goal_achieved}]\n"
    )
    plain = harbour.CASE.replace(
        "task: Berth b-1 for the gull, please. My word is {{run}}.\n", "persona: ada\n"
    )
    boats = plain.replace("group: task\n", "group: task\nmatrix: {boat: [gull]}\n")

    case = load(boats, {"fixtures/ada.yaml": person}).cases["take-a-berth--boat.gull"]
    assert case.persona == ("ada",)

    assert told(plain, {"fixtures/ada.yaml": person}) == [
        "cases/take.yaml:9:10: fixture `ada` names `{{matrix.boat}}`, which this case has not"
    ]


def test_nothing_is_put_into_the_texts_of_a_suite():
    suite = harbour.SUITE + "title: For {{run}}\n"

    (problem,) = told(harbour.CASE, {"suites/all.yaml": suite + "budget: 5 EUR\n"})

    assert problem == "suites/all.yaml:7:8: `{{run}}` stands for nothing. None is known here"
