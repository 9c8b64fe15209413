"""`seatrial report` on run folders on disk: what it writes, prints and refuses."""

import html
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from tests import report_samples
from tests.work_trees import WorkTree

from seatrial.cli import main

RUN, BASELINE = "20260302-093000-cand", "20260301-101500-base"


@pytest.fixture(autouse=True)
def _in_a_folder_with_two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)
    report_samples.evidence(tmp_path / ".seatrial" / "runs")


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def page() -> str:
    return html.unescape(Path("site/report/index.html").read_text(encoding="utf-8"))


def test_report_lies_under_site_and_the_ruling_is_not_its_exit_code():
    result = seatrial("report", RUN, "--baseline", BASELINE)

    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Closed: forbidden action in embedded-instruction")
    assert lines[-1] == f"Report: {Path.cwd() / 'site' / 'report' / 'index.html'}"
    assert "Gate closed" in page()
    link = '<a href="case.html?id=embedded-instruction">embedded-instruction</a>'
    assert f"forbidden action in {link} (1 of 4 trials)" in page()


def test_report_in_a_work_tree_is_no_difference_from_the_commit(tmp_path: Path):
    tree = WorkTree.init(tmp_path)
    tree.commit({".gitignore": ".seatrial/\n"})

    for _ in range(2):
        assert seatrial("report", RUN, "--baseline", BASELINE).exit_code == 0
    assert tree.git("status", "--porcelain") == ""

    assert seatrial("report", RUN, "--baseline", BASELINE, "--site", "pages").exit_code == 0
    assert tree.git("status", "--porcelain") == "?? pages/"


def test_all_three_forms_tell_the_same_ruling(tmp_path: Path):
    seatrial(
        "report", "latest", "--baseline", BASELINE, "--site", "out/pages", "--junit", "out/junit.xml",
        "--summary", "out/summary.md",
    )  # fmt: skip

    headline = "forbidden action in embedded-instruction"
    assert headline in Path("out/summary.md").read_text(encoding="utf-8").splitlines()[0]
    suite = ElementTree.parse("out/junit.xml").getroot()[0]
    ruling = next(case for case in suite.iter("testcase") if case.get("classname") == "gate")
    assert headline in (ruling[0].get("message") or "")
    assert (tmp_path / "out" / "pages" / "case.html").is_file()


def test_one_page_is_written_alone_and_beside_the_site():
    alone = seatrial("report", RUN, "--baseline", BASELINE, "--single", "out/report.html")

    assert (alone.exit_code, alone.stdout.splitlines()[-1]) == (0, "One page: out/report.html")
    assert "Gate closed" in Path("out/report.html").read_text(encoding="utf-8")
    assert not Path("site").exists()

    both = seatrial(
        "report", RUN, "--baseline", BASELINE, "--single", "report.html", "--site", "pages"
    )
    assert both.stdout.splitlines()[-1].startswith("Report: ")
    assert Path("pages/index.html").is_file()


@pytest.mark.parametrize("in_actions", [False, True])
def test_expectations_that_failed_are_written_and_printed_as_annotations(
    in_actions: bool, monkeypatch: pytest.MonkeyPatch
):
    if in_actions:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
    seatrial(
        "report", RUN, "--baseline", BASELINE, "--single", "out/page.html",
        "--sarif", "out/results.sarif", "--annotations", "out/annotations",
        "--code-quality", "out/quality.json",
    )  # fmt: skip
    gate = seatrial("gate", RUN, "--baseline", BASELINE, "--format=json", "--annotations=github")

    written = Path("out/annotations").read_text(encoding="utf-8")
    assert written.splitlines()[0].startswith("::error title=Seatrial%3A gate closed::forbidden")
    assert "file=cases/task/refund-needs-verification.yaml,line=14,col=5" in written
    assert (gate.exit_code, gate.stderr) == (1, written)
    assert json.loads(gate.stdout)["ruling"] == "closed"
    (run,) = json.loads(Path("out/results.sarif").read_text(encoding="utf-8"))["runs"]
    assert run["properties"]["ruling"] == "closed"
    quality = json.loads(Path("out/quality.json").read_text(encoding="utf-8"))
    assert len(quality) == len(run["results"])


def test_annotations_are_printed_only_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    assert "::error" not in seatrial("gate", RUN, "--baseline", BASELINE).output


def test_paths_of_annotations_begin_at_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = WorkTree.init(tmp_path / "repo").root / "agents" / "desk"
    root.mkdir(parents=True)
    (root / "cases").mkdir()
    (tmp_path / ".seatrial").rename(root / ".seatrial")
    monkeypatch.chdir(root)

    result = seatrial("gate", RUN, "--baseline", BASELINE, "--annotations=github")

    assert (
        "file=agents/desk/cases/task/refund-needs-verification.yaml,line=14,col=5" in result.stderr
    )


def test_text_of_agents_cannot_steer_the_terminal():
    result = seatrial("report", RUN, "--baseline", BASELINE)

    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout


def test_without_a_release_the_report_says_what_to_type():
    WorkTree.init(Path.cwd())

    result = seatrial("report", RUN)

    assert result.exit_code == 0
    assert "there is no baseline to compare with; record one with `seatrial release`" in page()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("report", "nothing"), 2, "no run 'nothing'"),
        (("report", RUN, "--baseline", "nothing"), 2, "there is no folder 'nothing'"),
        (("report", RUN, "--baseline", BASELINE, "--site", ".seatrial"), 2, "is not a report"),
        (("report", RUN, "--baseline", BASELINE, "--junit", f".seatrial/runs/{RUN}/run.json/x"), 4,
         "cannot be written"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told_with_what_to_do(words: tuple[str, ...], code: int, told: str):
    result = seatrial(*words)

    assert result.exit_code == code
    assert told in result.stderr
    assert "Traceback" not in result.stderr
