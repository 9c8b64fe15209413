"""`seatrial report` on run folders on disk: what it writes, prints and refuses."""

import html
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
