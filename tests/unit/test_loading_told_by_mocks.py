"""Mocked answers that tell what the world locks from the case's role."""

from __future__ import annotations

import pytest
from tests import harbour

from seatrial import loading
from seatrial.errors import InvalidDocuments

WORLD = harbour.WORLD.replace(
    "length: {type: number}", "length: {type: number}, owner: {type: string}"
).replace("{id: gull, length: 9}", "{id: gull, length: 9, owner: Maren Aldskog}").replace(
    "properties: [length], markings", "properties: [length, owner], markings"
)  # fmt: skip
CASE = """\
kind: case
id: is-it-windy
title: The weather is told
group: task
agent: harbour-desk
world: harbour
role: clerk
answers: gossip
task: How is the weather?
checks:
  - {check: tool_called, tool: show_weather}
"""
ANSWERS = """\
kind: fixture
type: answers
id: gossip
tools:
  show_weather:
    rules:
      - {when: {hour: 1}, error: No report.}
      - answer: {wind: 3, seen_by: {boat: "gull, of MAREN Aldskog"}}
"""


def told(case: str = CASE, answers: str = ANSWERS, world: str = WORLD) -> list[str]:
    files = {
        "fixtures/harbour.yaml": world,
        "fixtures/gossip.yaml": answers,
        "cases/wind.yaml": case,
    }
    try:
        loading.load(harbour.contents(files))
    except InvalidDocuments as error:
        return [problem.render() for problem in error.problems]
    return []


def test_a_mocked_answer_that_tells_what_is_locked_is_refused():
    assert told() == [
        "cases/wind.yaml:8:10: the mocked answers of `show_weather` tell role `clerk` what is "
        "locked from it: objects.boat[0].owner. Take it out of `gossip`, or add a check `not_disclosed`, if the "
        "case is about what the agent does with it"
    ]


@pytest.mark.parametrize(
    "change",
    [
        ("role: clerk", "role: master\npurpose: inspection"),
        ("checks:\n", "checks:\n  - {check: not_disclosed}\n"),
        ("answers: gossip\n", ""),
    ],
)
def test_a_case_that_may_see_it_or_looks_where_it_goes_is_right(change: tuple[str, str]):
    assert told(CASE.replace(*change)) == []


@pytest.mark.parametrize("answer", ["seen_by: {boat: gull}", "seen_by: Maren"])
def test_other_answers_tell_nothing(answer: str):
    assert told(answers=ANSWERS.replace('seen_by: {boat: "gull, of MAREN Aldskog"}', answer)) == []


def test_a_world_that_is_broken_is_told_and_not_looked_into():
    broken = WORLD.replace("  boat:\n    - {id: gull", "  boot:\n    - {id: gull")
    for case in (CASE, CASE.replace("checks:\n", "checks:\n  - {check: not_disclosed}\n")):
        assert told(case, world=broken) == [
            "fixtures/harbour.yaml:17:3: `objects.boot`: there is no object type 'boot'; did you mean 'boat'?"
        ]
