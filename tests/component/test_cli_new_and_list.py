"""`seatrial new case` and `seatrial list` in a repository."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import harbour

from seatrial import loading
from seatrial.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    harbour.write(tmp_path)


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.mark.parametrize("group", ["task", "boundary", "clarify", "injection", "purpose"])
def test_a_new_case_of_each_group_is_right_as_it_is_and_in_its_usual_form(group: str):
    made = seatrial(
        "new", "case", "moor-the-gull", "--group", group, "--role", "clerk", "--required"
    )

    assert made.exit_code == 0, made.output
    assert seatrial("check").exit_code == 0
    path = "cases/moor-the-gull.yaml"
    assert f"wrote {path}" in made.output
    text = Path(path).read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=../site/schema/case.json\nkind: case\n")
    assert "todo" not in text.lower()
    assert "1 file: 0 not" in seatrial("fmt", "--check", path).output
    case = loading.load(loading.read_tree(Path.cwd())).cases["moor-the-gull"]
    assert (case.group, case.agent, case.world, case.role) == (
        group, "harbour-desk", "harbour", "clerk",
    )  # fmt: skip
    assert case.required
    assert case.title == "Moor the gull"
    assert case.negative == (group in ("boundary", "clarify", "purpose"))


@pytest.mark.parametrize(
    "text",
    ["no", "2026-03-16", "1.5", "a: b", "a #b", "- x", "it's \"so\"", "{{run}} here", "[x", "ünï 🚢",
     "line\nbreak", "null", "a, b"],
)  # fmt: skip
def test_whatever_is_asked_stands_in_the_case_as_it_was_typed(text: str):
    made = seatrial("new", "case", "said", "--task", text, "--role", "clerk", "--tag", text)

    assert made.exit_code == 0, made.output
    case = loading.load(loading.read_tree(Path.cwd())).cases["said"]
    assert case.task == text
    assert case.tags == (text,)


def test_what_is_not_clear_has_to_be_chosen():
    assert "role of world harbour clerk, master" in seatrial("new", "case", "x").output
    assert not Path("cases/x.yaml").exists()


def test_a_case_that_is_there_is_not_written_again():
    refused = seatrial("new", "case", "take-a-berth", "--role", "clerk")

    assert refused.exit_code == 2
    assert "case `take-a-berth` is there already: cases/take.yaml" in refused.output


@pytest.mark.parametrize("id", ["../x", "A", "x/y", "", "é"])
def test_what_cannot_be_an_id_names_no_file(id: str):
    assert "cannot be an id" in seatrial("new", "case", id, "--role", "clerk").output


@pytest.mark.parametrize("folder", ["/tmp", "cases/../..", "suites", ".."])
def test_cases_lie_under_cases(folder: str):
    refused = seatrial("new", "case", "x", "--role", "clerk", "--folder", folder)

    assert refused.exit_code == 2
    assert "cases lie under cases/" in refused.output


def test_a_tool_that_is_not_there_is_told_and_no_case_is_written():
    refused = seatrial("new", "case", "x", "--role", "clerk", "--tool", "take_birth")

    assert refused.exit_code == 2
    assert "did you mean `take_berth`?" in refused.output
    assert not Path("cases/x.yaml").exists()


# --- list ---


def ids(*words: str) -> list[str]:
    listed = seatrial("list", *words, "--format", "json")
    assert listed.exit_code == 0, listed.output
    return [row["id"] for row in json.loads(listed.output)]


def test_every_kind_of_document_is_listed():
    assert ids("cases") == ["take-a-berth", "weather-in-turns"]
    assert ids("suites") == ["all"]
    assert ids("arms") == ["released"]
    assert ids("fixtures") == ["harbour", "storm"]


def test_filters_hold_together():
    assert ids("cases", "--tag", "storm") == ["weather-in-turns"]
    assert ids("cases", "--tag", "storm", "--required") == []
    assert ids("cases", "--suite", "all") == ["take-a-berth", "weather-in-turns"]
    assert ids("cases", "--group", "injection") == []
    assert ids("cases", "--agent", "nobody") == []
    assert ids("suites", "--agent", "harbour-desk") == ["all"]
    assert ids("arms", "--agent", "nobody") == []
    assert ids("fixtures", "--agent", "harbour-desk") == ["harbour", "storm"]


def test_a_list_for_people_is_a_line_for_each_with_where_it_is_used():
    assert seatrial("list", "fixtures").output.splitlines() == [
        "harbour  objects  2 cases  harbour-desk",
        "storm    answers  1 cases  harbour-desk",
    ]


def test_a_row_says_where_the_document_stands():
    rows = json.loads(seatrial("list", "cases", "--format", "json").output)

    assert rows[0]["place"].startswith("cases/take.yaml:")


def test_a_filter_of_cases_is_no_filter_of_arms():
    refused = seatrial("list", "arms", "--tag", "storm")

    assert refused.exit_code == 2
    assert "--tag: are about cases" in refused.output


def test_a_suite_that_is_not_there_is_told():
    assert "there is no suite 'al'" in seatrial("list", "cases", "-s", "al").output
