"""Suites take other suites in, select by priority and folder, and may name their arms."""

from pathlib import Path

import pytest
from tests import harbour

from seatrial import loading
from seatrial.documents import Catalog
from seatrial.errors import InvalidDocuments, UsageError
from seatrial.workspace import Workspace

NIGHTLY = """\
kind: suite
id: nightly
cases:
  - urgent
  - suite: all
must_tie:
  - suite: all
"""
URGENT = harbour.CASE.replace("take-a-berth", "urgent") + "priority: 7\n"


def load(changes: dict[str, str]) -> Catalog:
    return loading.load(harbour.contents({"cases/late/urgent.yaml": URGENT, **changes}))


def told(changes: dict[str, str]) -> list[str]:
    with pytest.raises(InvalidDocuments) as caught:
        load(changes)
    return [p.render() for p in caught.value.problems]


def cases(catalog: Catalog, suite: str) -> list[str]:
    return [case.id for case in catalog.suite_cases(catalog.suites[suite])]


def suite(*entries: str, more: str = "") -> dict[str, str]:
    listed = "".join(f"  - {entry}\n" for entry in entries)
    return {"suites/chosen.yaml": f"kind: suite\nid: chosen\ncases:\n{listed}{more}"}


def test_a_suite_has_the_cases_of_the_suites_that_it_takes_in_in_its_place():
    catalog = load({"suites/nightly.yaml": NIGHTLY})

    assert cases(catalog, "nightly") == ["urgent", "take-a-berth", "weather-in-turns"]
    assert catalog.must_tie(catalog.suites["nightly"]) == {"take-a-berth", "weather-in-turns"}
    assert catalog.place("suite", "nightly", "cases[0]") == "suites/nightly.yaml:4:5"
    assert catalog.place("suite", "nightly", "cases[2].tags[0]") == "suites/all.yaml:5:12"
    assert catalog.suites["nightly"].trials == 4


def test_suites_are_taken_in_through_each_other():
    outer = NIGHTLY.replace("id: nightly", "id: weekly").replace("suite: all", "suite: nightly")

    catalog = load({"suites/nightly.yaml": NIGHTLY, "suites/weekly.yaml": outer})

    assert cases(catalog, "weekly") == ["urgent", "take-a-berth", "weather-in-turns"]


def test_suites_that_take_each_other_in_twice_over_do_not_grow():
    """Each twice as often as the one before: 2^40 entries, were they counted."""
    text = "---\n".join(
        f"kind: suite\nid: s{n}\ncases: [{{suite: s{n + 1}}}, {{suite: s{n + 1}}}]\n"
        for n in range(40)
    )

    catalog = load({"suites/many.yaml": text + "---\nkind: suite\nid: s40\ncases: [urgent]\n"})

    assert catalog.suites["s0"].cases == ("urgent",)


def test_a_suite_that_takes_itself_in_is_told():
    found = told(
        {"suites/all.yaml": harbour.SUITE.replace("  - take-a-berth\n", "  - suite: all\n")}
    )

    assert found == ["suites/all.yaml:4:12: suite `all` takes itself in"]


def test_a_circle_of_suites_is_told_at_each_of_them():
    back = harbour.SUITE.replace("  - take-a-berth\n", "  - suite: nightly\n")

    assert told({"suites/nightly.yaml": NIGHTLY, "suites/all.yaml": back}) == [
        "suites/all.yaml:4:12: suite `all` takes itself in, through `nightly`",
        "suites/nightly.yaml:5:12: suite `nightly` takes itself in, through `all`",
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("suite: al", "4:12: there is no suite `al`; did you mean `all`?"),
        ("{suite: all, tags: [storm]}", "4:5: `cases[0]`: `suite` stands alone"),
        ("priority: 8", "4:5: this selector chooses no case"),
    ],
)
def test_an_entry_that_takes_nothing_in_is_told(entry: str, said: str):
    (problem,) = told(suite(entry))

    assert problem.startswith(f"suites/chosen.yaml:{said}")


@pytest.mark.parametrize(
    ("entry", "chosen"),
    [
        ("priority: 7", ["urgent"]),
        ("priority: 0", ["take-a-berth", "urgent", "weather-in-turns"]),
        ("{priority: 1, group: task}", ["urgent"]),
        ("folder: cases/late", ["urgent"]),
        ("folder: cases/l*e", ["urgent"]),
        ("folder: cases", ["take-a-berth", "urgent", "weather-in-turns"]),
    ],
)
def test_cases_are_selected_by_priority_and_by_folder(entry: str, chosen: list[str]):
    assert cases(load(suite(entry)), "chosen") == chosen


# --- arms ---

OTHER = harbour.ARM.replace("id: released", "id: other").replace("1.4.0", "1.5.0")


def test_the_arms_of_a_suite_run_it_where_none_is_named(tmp_path: Path):
    harbour.write(
        tmp_path, {"arms/other.yaml": OTHER, **suite("take-a-berth", more="arms: [other]\n")}
    )
    workspace = Workspace(tmp_path, None)
    catalog = workspace.catalog()

    def arms(suite: str, *named: str) -> list[str]:
        return [arm.id for arm in workspace.suite_and_arms(catalog, suite, named)[1]]

    assert arms("all") == ["other", "released"]
    assert arms("chosen") == ["other"]
    assert arms("chosen", "released") == ["released"]
    with pytest.raises(UsageError):
        arms("chosen", "nobody")


def test_an_arm_that_is_not_there_is_told():
    assert told(suite("urgent", more="arms: [realeased]\n")) == [
        "suites/chosen.yaml:5:8: there is no arm `realeased`; did you mean `released`?"
    ]


def test_arms_that_leave_a_required_case_to_nobody_are_told():
    other = OTHER.replace("agent: harbour-desk", "agent: another")
    required = harbour.CASE + "required: true\n"

    found = told({"arms/other.yaml": other, "cases/take.yaml": required,
                  **suite("take-a-berth", more="arms: [other]\n")})  # fmt: skip

    assert found == [
        "suites/chosen.yaml:5:7: none of these arms is of agent `harbour-desk`, so that the required case "
        "`take-a-berth` is not run. Name one, or leave `arms` out"
    ]
