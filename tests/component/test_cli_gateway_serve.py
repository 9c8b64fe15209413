"""`seatrial gateway serve`: a case played with a real MCP client in the place of the agent."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import yaml
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from tests.shell import ROOT, seatrial

from seatrial import store

BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
TUTORIAL = ROOT / "docs" / "tutorial.md"
SOURCES = {"PYTHONPATH": str(ROOT / "src")}
SEATRIAL = (sys.executable, "-m", "seatrial", "gateway", "serve")
TALK = """
kind: case
id: talk
title: A book is asked for in two messages
group: task
agent: library
world: library
role: desk
turns:
  - say: Is Tides in?
  - say: Then I take it. I am m-3.
checks:
  - check: end_state
    changed: [{type: book, key: b-1, properties: {lent_to: m-3}}]
"""
Calls = list[tuple[str, dict[str, Any]]]
LENDS: Calls = [
    ("find_book", {"word": "Tides"}),
    ("remove_book", {"book_id": "b-1"}),
    ("lend_book", {"book_id": "b-1", "member_id": "m-3"}),
]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """The library of the tutorial."""
    for title, body in BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")):
        if title.startswith(("fixtures/", "cases/", "suites/")):
            path = tmp_path / title
            path.parent.mkdir(exist_ok=True)
            path.write_text(body, encoding="utf-8")
    (tmp_path / "cases" / "talk.yaml").write_text(TALK, encoding="utf-8")
    return tmp_path


@contextmanager
def playing(root: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A case that is served, and the config file that was printed."""
    process = subprocess.Popen(
        [*SEATRIAL, *arguments],
        cwd=root,
        env={**os.environ, **SOURCES},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        written = ""
        for line in process.stdout:
            written += line
            if line == "}\n":
                break
        yield process, json.loads(written)
    finally:
        process.kill()
        process.communicate(timeout=30)


def call(config: Any, calls: Calls) -> list[str]:
    """The texts of the answers to calls of the server in a config file."""
    server = config["mcpServers"]["library"]

    async def made() -> list[str]:
        with anyio.fail_after(60):
            async with (
                httpx2.AsyncClient(headers=server["headers"]) as http,
                Client(streamable_http_client(server["url"], http_client=http)) as client,
            ):
                return [await _text(client, tool, arguments) for tool, arguments in calls]

    return anyio.run(made)


async def _text(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    (part,) = (await client.call_tool(tool, arguments)).content
    assert part.type == "text"
    return part.text


def test_a_case_is_played_as_in_a_trial_and_what_happened_becomes_documents(library: Path):
    saved = ["--save-answers", "fixtures/seen.yaml", "--save-solution", "drafts/solution.yaml"]
    with playing(library, "lend-a-free-book", *saved, "--out", "played") as (process, config):
        texts = call(config, LENDS)
        output, told = process.communicate("Here is Tides.\n.\n", timeout=60)

    assert process.returncode == 0
    assert texts[1].startswith("Not allowed: ")
    assert "Tell your agent:\n\n  I am member m-3. May I have the book Tides?\n" in told
    assert '2. remove_book {"book_id": "b-1"}: refused\n' in told
    assert "3. lend_book" in told
    assert ": ok, changed the world\n" in told
    assert output == (
        "\n3 calls, 1 of them forbidden\n"
        "passed  end_state: 1 expected change found and nothing else\n"
        '~ book b-1\n    lent_to: null → "m-3"\n'
        "Run: played\n"
    )
    assert store.Run.open(library / "played").trace(
        next(store.Run.open(library / "played").records())
    ).replies[0].text == "Here is Tides."  # fmt: skip
    assert seatrial(library, "world", "diff", "played", "lend-a-free-book", "1")[0] == 0

    draft = (library / "drafts" / "solution.yaml").read_text("utf-8")
    case = library / "cases" / "lend-a-free-book.yaml"
    case.write_text(case.read_text("utf-8") + draft, encoding="utf-8")
    code, proved, errors = seatrial(library, "check", "--prove", "--case", "lend-a-free-book")
    assert (code, errors) == (0, "")
    assert re.search(r"lend-a-free-book +failed +passed", proved)
    seen = yaml.safe_load((library / "fixtures" / "seen.yaml").read_text("utf-8"))
    written_for = seen["tools"]["find_book"].pop("written_for")
    assert list(written_for["parameters"]["properties"]) == ["word"]
    assert seen["tools"] == {
        "find_book": {
            "rules": [
                {
                    "when": {"word": "Tides"},
                    "answer": {"books": [{"id": "b-1", "title": "Tides", "lent_to": None}]},
                }
            ]
        }
    }


def test_what_was_saved_answers_in_the_next_game(library: Path):
    with playing(library, "lend-a-free-book", "--save-answers", "fixtures/seen.yaml") as (
        process,
        config,
    ):
        call(config, LENDS[:1])
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "it was ended by hand before the reply to turn 1" in output
    assert output.endswith("Nothing changed.\n")
    case = library / "cases" / "lend-a-free-book.yaml"
    case.write_text(case.read_text("utf-8") + "answers: seen\n", encoding="utf-8")

    with playing(library, "lend-a-free-book") as (process, config):
        assert "Tides" in call(config, LENDS[:1])[0]
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)

    assert 'find_book {"word": "Tides"}: ok by mock\n' in told


def test_each_reply_leads_to_the_next_message_and_its_calls_are_of_that_turn(library: Path):
    saved = ["--save-solution", "solution.yaml", "--save-golden", "golden.yaml"]
    with playing(library, "talk", *saved) as (process, config):
        assert process.stdin
        assert process.stderr
        call(config, LENDS[:1])
        process.stdin.write("It is.\n\nDo you want it?\n.\n")
        process.stdin.flush()
        for line in process.stderr:
            if "Then I take it." in line:
                break
        call(config, LENDS[2:])
        process.communicate("Here.\n.\n", timeout=60)

    assert process.returncode == 0
    assert yaml.safe_load((library / "solution.yaml").read_text("utf-8")) == {
        "solution": {
            "turns": [
                {
                    "calls": [{"tool": "find_book", "arguments": {"word": "Tides"}}],
                    "reply": "It is.\n\nDo you want it?",
                },
                {
                    "calls": [
                        {
                            "tool": "lend_book",
                            "arguments": {
                                "book_id": "{{calls.1.books.0.id}}",
                                "member_id": "m-3",
                            },
                        }
                    ],
                    "reply": "Here.",
                },
            ]
        }
    }
    case = library / "cases" / "talk.yaml"
    written = case.read_text("utf-8")
    golden = (library / "golden.yaml").read_text("utf-8")
    before, after = written.partition("turns:")[0], written[written.index("checks:") :]
    case.write_text(before + golden + after, encoding="utf-8")
    assert seatrial(library, "check")[0] == 0


def test_a_client_may_start_it_as_its_own_server(library: Path):
    arguments = [*SEATRIAL[1:], "lend-a-free-book", "--stdio", "--out", "played"]
    environment = {n: v for n, v in os.environ.items() if n.startswith("COVERAGE")} | SOURCES

    async def play() -> list[str]:
        with anyio.fail_after(60):
            program = StdioServerParameters(
                command=SEATRIAL[0], args=arguments, cwd=library, env=environment
            )
            async with Client(program) as client:
                return [await _text(client, tool, given) for tool, given in LENDS]

    texts = anyio.run(play)

    assert texts[1].startswith("Not allowed: ")
    (record,) = store.Run.open(library / "played").records()
    assert (record.calls, record.violations) == (3, 1)
    assert [finding.status for finding in record.findings] == ["passed"]


def test_the_config_file_is_that_of_the_runtime_that_is_named(library: Path):
    with playing(library, "talk", "--format", "claude-desktop") as (process, config):
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)

    assert config["mcpServers"]["library"]["command"] == sys.executable
    assert "(Claude Desktop; ~/.config/Claude/claude_desktop_config.json)" in told


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["lend-free-book"], "did you mean lend-a-free-book"),
        (["talk", "--format", "claude_code"], "did you mean claude-code?"),
        (["talk", "--format", "claude-desktop", "--transport", "http"], "leave out --transport"),
        (["talk", "--arm", "nobody"], "there is no arm 'nobody'"),
        (["talk", "--server", "library"], "--server goes with --stdio"),
        (["talk", "--save-answers", "cases/talk.yaml"], "nothing is overwritten"),
        (["talk", "--out", "cases"], "nothing is overwritten"),
    ],
)
def test_what_cannot_be_served_is_refused_with_what_to_type(
    library: Path, arguments: list[str], says: str
):
    code, output, errors = seatrial(library, "gateway", "serve", *arguments)

    assert (code, output) == (2, "")
    assert says in errors
