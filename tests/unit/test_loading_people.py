"""People who talk in one case can be told apart."""

import pytest
from tests import harbour

from seatrial import loading
from seatrial.errors import InvalidDocuments

PERSON = """\
kind: fixture
type: persona
id: ID
goal: A berth for the gull.
opening: Hello.
rules: [{when: {contains: berth}, ends: goal_achieved}]
otherwise: What?
achieved_when: {contains: berth}
"""


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("Ada", ""), ["several people speak, and persona `tom` has no `name`"]),
        (("Ada", "Ada"), ["two of the people who speak have the same `name`"]),
        (("Ada", "Tom"), []),
    ],
)
def test_several_people_have_names_of_their_own(names: tuple[str, str], said: list[str]):
    people = [
        PERSON.replace("ID", id) + (f"name: {name}\n" if name else "")
        for id, name in zip(("ada", "tom"), names, strict=True)
    ]
    case = harbour.CASE.replace(
        "task: Berth b-1 for the gull, please. My word is {{run}}.\n", "persona: [ada, tom]\n"
    )
    files = harbour.contents(
        {"cases/take.yaml": case, "fixtures/people.yaml": "---\n".join(people)}
    )

    problems = []
    try:
        loading.load(files)
    except InvalidDocuments as error:
        problems = list(error.problems)

    assert [p.code for p in problems] == ["persona-without-name"] * len(said)
    for problem, words in zip(problems, said, strict=True):
        assert words in problem.message


def test_an_end_that_the_person_never_brings_about_is_told():
    case = harbour.CASE.replace(
        "task: Berth b-1 for the gull, please. My word is {{run}}.\n", "persona: ada\n"
    ).replace("checks:\n", "checks:\n  - {check: ended_as, ended: exit_intent}\n")
    person = PERSON.replace("ID", "ada")
    files = harbour.contents({"cases/take.yaml": case, "fixtures/people.yaml": person})

    with pytest.raises(InvalidDocuments) as caught:
        loading.load(files)

    assert [(p.code, p.message) for p in caught.value.problems] == [
        ("unknown-ending", "with these people no conversation ends as exit_intent")
    ]


def test_people_of_one_case_are_paid_in_one_currency():
    model = "model: {name: m-1, url: http://127.0.0.1:9, prices: {currency: CUR, input: 1, output: 2}}\n"
    spoken = PERSON[: PERSON.index("rules:")]
    people = [
        f"{spoken.replace('ID', id)}name: {id}\n{model.replace('CUR', currency)}"
        for id, currency in (("ada", "EUR"), ("tom", "USD"))
    ]
    case = harbour.CASE.replace(
        "task: Berth b-1 for the gull, please. My word is {{run}}.\n", "persona: [ada, tom]\n"
    )
    files = {"cases/take.yaml": case, "fixtures/people.yaml": "---\n".join(people)}

    with pytest.raises(InvalidDocuments) as refused:
        loading.load(harbour.contents(files))

    (problem,) = refused.value.problems
    assert (problem.code, problem.message) == (
        "several-currencies",
        "the people who speak are paid in EUR and USD",
    )
