"""The how-to about mocked tools: its fixtures are right, and answer as the page says."""

import re
from pathlib import Path
from typing import Any

import anyio
import yaml
from tests import harbour
from tests.lending_desk import TOOLS, LendingDesk

from seatrial import loading
from seatrial.documents import Answers
from seatrial.documents.behaviour import Broken, Wire
from seatrial.gateway import Channel
from seatrial.tools import Tool

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "mock-tools-that-misbehave.md"
TEXT = PAGE.read_text(encoding="utf-8")
FIXTURES = dict(re.findall(r'```yaml title="fixtures/([\w-]+)\.yaml"\n(.*?)```', TEXT, re.DOTALL))


def test_the_fixtures_of_the_page_load_beside_a_world():
    files = {f"fixtures/{name}.yaml": text for name, text in FIXTURES.items()}
    case = harbour.TALK.replace("answers: storm", "answers: weather-trouble")

    catalog = loading.load(harbour.contents({**files, "cases/talk.yaml": case}))

    assert set(FIXTURES) <= set(catalog.fixtures)
    assert len(FIXTURES) == 5


def test_every_kind_of_fault_has_its_line():
    for model, key in ((Broken, "broken"), (Wire, "wire")):
        kinds = model.model_json_schema()["properties"]["how"]["enum"]
        table = TEXT.split(f"| `{key}:` |")[1].split("\n\n")[0]
        named = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", table, re.MULTILINE)
        assert sorted(re.findall(r"\w+", " ".join(named))) == sorted(kinds)


def test_rules_state_and_sequences_answer_as_the_page_says():
    schema = {"type": "object", "properties": {"hour": {"type": "integer"}}}
    tools = (
        Tool(name="show_weather", description="Weather.", input_schema=schema, read_only=True),
        Tool(name="warn_of_storm", description="Warn.", input_schema={"type": "object"}),
    )

    class Station(LendingDesk):
        def tools(self):
            return (*TOOLS, *tools)

    lookup = {"run": "r", "now": "2026-03-16T09:00:00Z", "today": "2026-03-16"}
    fixture = Answers.model_validate(yaml.safe_load(FIXTURES["weather-rules"]))
    channel = Channel([Station()], answers=fixture, lookup=lookup)
    said: list[Any] = []

    async def play() -> None:
        calls = [("show_weather", {"hour": 20}), *[("show_weather", {"hour": 9})] * 4]
        calls += [("show_weather", {}), ("warn_of_storm", {}), ("show_weather", {"hour": 9})]
        for tool, arguments in calls:
            answer = await channel.call(tool, arguments)
            said.append(answer.text if answer.is_error else answer.structured or answer.text)

    anyio.run(play)

    assert said[:5] == [
        "There is no forecast for the evening.",
        {"wind": 3},
        {"wind": 9},
        "The station does not answer.",
        {"wind": 3},
    ]
    assert (said[5]["wind"], said[5]["asked"]) == (5, 1)
    assert said[6:] == [
        "The storm of 2026-03-16 is noted.",
        {"wind": 40, "seen": "2026-03-16T09:00:00Z"},
    ]
