"""`seatrial check` in a repository: exit code and the whole output."""

import json
from pathlib import Path

import pytest
from tests import harbour
from tests.shell import ROOT, seatrial

ALL_RIGHT = "checked 2 cases, 1 suite, 1 arm, 2 fixtures: no problems\n"
BROKEN = {
    "cases/take.yaml": harbour.CASE.replace("title:", "titel:"),
    "suites/all.yaml": harbour.SUITE.replace("take-a-berth", "take-berth"),
}
TITLE = "cases/take.yaml:3:1: unknown key `titel`; did you mean `title`?"
DANGLING = "suites/all.yaml:4:5: there is no case `take-berth`; did you mean `take-a-berth`?"


def check(
    folder: Path, *words: str, environment: dict[str, str] | None = None
) -> tuple[int, str, str]:
    return seatrial(folder, "check", *words, environment=environment)


def test_right_documents_are_counted(tmp_path: Path):
    assert check(harbour.write(tmp_path)) == (0, ALL_RIGHT, "")


def test_wrong_documents_are_listed_with_exit_code_2(tmp_path: Path):
    assert check(harbour.write(tmp_path, BROKEN)) == (
        2, f"{TITLE}\n{DANGLING}\n2 problems in 2 files\n", ""
    )  # fmt: skip


def test_the_folder_may_be_named_and_paths_can_be_followed_from_here(tmp_path: Path):
    harbour.write(tmp_path / "agents" / "desk", BROKEN)

    assert check(tmp_path, "agents/desk") == (
        2,
        f"agents/desk/{TITLE}\nagents/desk/{DANGLING}\n2 problems in 2 files\n",
        "",
    )


def test_the_folder_is_found_from_a_folder_in_it(tmp_path: Path):
    harbour.write(tmp_path, BROKEN)

    assert check(tmp_path / "cases") == (
        2, f"{TITLE.removeprefix('cases/')}\n../{DANGLING}\n2 problems in 2 files\n", ""
    )  # fmt: skip


def test_a_source_of_an_arm_that_is_not_there_is_told_before_anything_is_run(tmp_path: Path):
    arm = harbour.ARM + "sources: {code: agent.py, prompts: prompts/*.md}\n"
    harbour.write(tmp_path, {"arms/released.yaml": arm})

    assert check(tmp_path) == (
        2,
        "arms/released.yaml:8:17: source 'code': no file fits agent.py\n"
        "arms/released.yaml:8:36: source 'prompts': no file fits prompts/*.md\n"
        "2 problems in 1 file\n",
        "",
    )


def test_only_the_named_files_are_shown_but_all_are_read(tmp_path: Path):
    harbour.write(tmp_path, BROKEN)

    assert check(tmp_path, "cases/take.yaml") == (
        2,
        f"{TITLE}\n1 problem in 1 file; 1 problem in other files: run `seatrial check` for all\n",
        "",
    )
    assert check(tmp_path, "arms", "cases/talk.yaml") == (
        0, "no problems here; 2 problems in other files: run `seatrial check` for all\n", ""
    )  # fmt: skip


def test_json_holds_every_part_of_a_problem(tmp_path: Path):
    harbour.write(tmp_path, {"arms/released.yaml": harbour.ARM.replace("1.4.0", "1.4")})

    code, output, errors = check(tmp_path, "--format", "json")

    assert (code, errors) == (2, "")
    assert json.loads(output) == {
        "documents": None,
        "problems": [
            {
                "path": "arms/released.yaml",
                "line": 4,
                "column": 10,
                "code": "wrong-type",
                "level": "error",
                "message": "`version`: expected text, found the number 1.4",
                "hint": "Put it in quotes",
            }
        ],
        "problems_in_other_files": 0,
    }


def test_json_of_right_documents_counts_them(tmp_path: Path):
    code, output, _ = check(harbour.write(tmp_path), "--format", "json")

    assert code == 0
    assert json.loads(output) == {
        "documents": {"cases": 2, "suites": 1, "arms": 1, "fixtures": 2},
        "problems": [],
        "problems_in_other_files": 0,
    }


def test_github_gets_an_annotation_for_each_problem(tmp_path: Path):
    broken = BROKEN | {
        "arms/a,b.yaml": harbour.ARM.replace("id: released", 'id: "100% \\n::error::x"')
    }

    assert check(harbour.write(tmp_path, broken), "--format", "github") == (
        2,
        "::error file=arms/a%2Cb.yaml,line=2,col=5,title=seatrial%3A wrong-value::"
        "`id`: expected an id: at most 80 lower-case letters, digits, `.`, `_`, `-`, with a letter "
        "or digit first; found the text `100%25 \\n::error::x`\n"
        "::error file=cases/take.yaml,line=3,col=1,title=seatrial%3A unknown-key::"
        "unknown key `titel`; did you mean `title`?\n"
        "::error file=suites/all.yaml,line=4,col=5,title=seatrial%3A dangling-id::"
        "there is no case `take-berth`; did you mean `take-a-berth`?\n"
        "3 problems in 3 files\n",
        "",
    )


def test_nothing_that_steers_a_terminal_is_printed(tmp_path: Path):
    broken = {"cases/take.yaml": harbour.CASE.replace("group: task", '"\\e[31m\\u202e": x')}

    code, output, _ = check(harbour.write(tmp_path, broken))

    assert code == 2
    assert "unknown key `\\x1b[31m\\u202e`" in output
    assert "\x1b" not in output


def test_a_terminal_without_unicode_is_no_reason_to_fail(tmp_path: Path):
    broken = {"cases/take.yaml": harbour.CASE.replace("title:", "漢字:")}
    latin = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}

    code, output, errors = check(harbour.write(tmp_path, broken), environment=latin)

    assert (code, errors) == (2, "")
    assert "unknown key `\\u6f22\\u5b57`" in output


def test_a_folder_without_documents_is_a_usage_error(tmp_path: Path):
    (tmp_path / "cases").mkdir()

    code, output, errors = check(tmp_path, ".")

    assert (code, output) == (2, "")
    assert errors == (
        "Error: . has no documents: no YAML files under cases/, suites/, arms/, fixtures/\n"
        "  → go to the folder that holds them, or name it: seatrial check FOLDER; `seatrial init` begins one\n"
    )


@pytest.mark.parametrize("words", [["notes.md"], ["cases/take.yaml", "notes.md"], [".."]])
def test_a_path_that_holds_no_documents_is_a_usage_error(tmp_path: Path, words: list[str]):
    root = harbour.write(tmp_path / "desk")
    (root / "notes.md").write_text("x", encoding="utf-8")

    code, output, errors = check(root, *words)

    assert (code, output) == (2, "")
    assert "holds no documents of" in errors


def test_a_path_that_is_not_there_is_a_usage_error(tmp_path: Path):
    code, _, errors = check(harbour.write(tmp_path), "cases/none.yaml")

    assert code == 2
    assert "'cases/none.yaml' does not exist" in errors


def test_the_shipped_example_is_right():
    code, output, errors = check(ROOT)

    assert (code, errors) == (0, "")
    assert output.endswith(": no problems\n")
