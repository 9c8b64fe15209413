"""`seatrial show`: a document as it is written, and with all that it inherits."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests import harbour

from seatrial import loading
from seatrial.cli import main
from seatrial.documents import Arm, Case, Suite
from seatrial.loading.reading import read

DEFAULTS = """\
kind: defaults
case:
  agent: harbour-desk
  limits: {turn_seconds: 30.0}
"""
TWO = """\
kind: case
id: first
extends: take-a-berth
title: "Yes: it's first\\u0007"
---
# The second one.
kind: case
id: second
extends: first
matrix: {boat: [gull, heron]}
task: |
  Berth b-1 for the {{matrix.boat}}.

  Please.
limits: {calls: 3}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    case = harbour.CASE.replace("agent: harbour-desk\n", "")
    changes = {"cases/defaults.yaml": DEFAULTS, "cases/take.yaml": case, "cases/two.yaml": TWO}
    harbour.write(tmp_path, changes)


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, ["show", *words])


def shown(*words: str) -> str:
    result = seatrial(*words)
    assert result.exit_code == 0, result.output
    return result.output


def test_each_value_says_the_file_that_wrote_it():
    lines = dict(
        line.split("  # ")
        for line in shown("case", "second--boat.gull", "--resolved").splitlines()
        if "  # " in line
    )
    places = {text.strip(): place for text, place in lines.items()}

    assert places["id: second--boat.gull"] == "cases/two.yaml:8"
    assert places["agent: harbour-desk"] == "cases/defaults.yaml:3"
    assert places["world: harbour"] == "cases/take.yaml:5"
    assert places["turn_seconds: 30.0"] == "cases/defaults.yaml:4"
    assert places["calls: 3"] == "cases/two.yaml:15"
    assert places["task: |"] == "cases/two.yaml:11"
    assert places["berth_id: b-1"] == "cases/take.yaml:12"


@pytest.mark.parametrize(
    ("kind", "id", "model"),
    [
        ("case", "weather-in-turns", Case),
        ("case", "first", Case),
        ("suite", "all", Suite),
        ("arm", "released", Arm),
    ],
)
def test_what_is_shown_reads_as_the_document_that_it_is(kind: str, id: str, model: Any):
    catalog = loading.load(loading.read_tree(Path.cwd()))
    known: Any = {"case": catalog.cases, "suite": catalog.suites, "arm": catalog.arms}[kind]

    text = shown(kind, id, "--resolved")

    (raw,) = read("shown.yaml", text.encode()).documents
    assert model.model_validate(raw.value) == known[id]


def test_a_fixture_is_shown_too():
    assert "take_berth:" in shown("fixture", "harbour", "--resolved")


def test_the_id_as_it_is_written_shows_every_expansion():
    text = shown("case", "second", "--resolved")

    assert text.count("# an expansion of case second, where boat: ") == 2
    assert text.count("\n---\n") == 1


def test_json_says_every_place():
    (one,) = json.loads(shown("case", "second--boat.heron", "--resolved", "--format", "json"))

    assert (one["kind"], one["id"]) == ("case", "second--boat.heron")
    assert one["document"]["task"] == "Berth b-1 for the heron.\n\nPlease.\n"
    assert one["places"]["agent"] == "cases/defaults.yaml:3:10"
    assert one["places"]["checks[1].changed[0].properties.boat"] == "cases/take.yaml:17:42"


def test_without_resolved_the_lines_of_the_file_are_shown():
    first, _, second = TWO.partition("---\n")

    assert shown("case", "second") == second
    assert shown("case", "first") == first
    assert shown("case", "take-a-berth").startswith("kind: case\n")
    (one,) = json.loads(shown("case", "first", "--format", "json"))
    assert one["place"] == "cases/two.yaml:1:1"
    assert one["written"] == first


def test_what_is_hostile_in_a_text_reaches_no_terminal():
    assert "\x07" not in shown("case", "first", "--resolved")
    assert 'title: "Yes: it\'s first\\u0007"' in shown("case", "first", "--resolved")


def test_what_is_not_there_is_told_with_what_may_be_meant():
    refused = seatrial("case", "frist")
    assert refused.exit_code == 2
    assert "there is no case 'frist'\n  → did you mean first" in refused.output
    assert "seatrial list arms" in seatrial("arm", "qqq").output
