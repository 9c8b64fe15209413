"""The examples for agent frameworks, as a user copies them: the real framework, a scripted model, no key."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import frameworks
from tests.frameworks import librarian
from tests.servers import openai_chat
from tests.servers.openai_chat import Fails, Step

from seatrial import store
from seatrial.trace import Called, Listed

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("example", ["pydantic-ai", "openai-agents", "langgraph"])
def test_an_agent_of_a_framework_plays_the_cases_through_the_gateway(example: str, tmp_path: Path):
    python = frameworks.python()
    shutil.copytree(EXAMPLES / example, tmp_path, dirs_exist_ok=True)
    (arm,) = (tmp_path / "arms").iterdir()
    run, requests = played(python, tmp_path, arm.stem)

    records = {record.case: record for record in run.records()}
    detail = [(record.case, record.verdict, record.detail) for record in records.values()]
    assert [verdict for _, verdict, _ in detail] == ["passed", "passed"], detail
    lent = run.trace(records["lend-a-free-book"])
    calls = [event for event in lent.events if isinstance(event, Called)]
    assert sorted((call.tool, str(call.arguments), call.answered_by) for call in calls) == [
        ("find_book", "{'word': 'Tides'}", "world"),
        ("find_book", "{'word': 'tides'}", "world"),
        ("lend_book", "{'book_id': 'b-1', 'member_id': 'm-3'}", "world"),
    ]
    listed = {event.tools for event in lent.events if isinstance(event, Listed)}
    assert listed == {("find_book", "lend_book", "remove_book")}
    (usage,) = [reply.usage for reply in lent.replies]
    assert usage
    assert (usage.input_tokens, usage.output_tokens) == (300, 60)
    if example != "openai-agents":
        assert records["lend-a-free-book"].served_model == openai_chat.MODEL
    assert {request["model"] for request in requests} == {"gpt-4.1-mini-2025-04-14"}


def test_a_command_line_agent_is_started_for_each_turn_and_goes_on_under_its_session(
    tmp_path: Path,
):
    python = frameworks.python()
    shutil.copytree(EXAMPLES / "cli-agent", tmp_path, dirs_exist_ok=True)

    run, requests = played(
        python,
        tmp_path,
        "library-cli",
        "--case",
        "member-is-asked-for",
        "--case",
        "book-is-lent-out",
    )

    records = {record.case: record for record in run.records()}
    detail = [(record.case, record.verdict, record.detail) for record in records.values()]
    assert [verdict for _, verdict, _ in detail] == ["passed", "passed"], detail
    lent = run.trace(records["member-is-asked-for"])
    assert [reply.text for reply in lent.replies] == ["Which member is it for?", "Here is Tides."]
    assert [(call.turn, call.tool) for call in lent.calls] == [
        (2, "find_book"),
        (2, "find_book"),
        (2, "lend_book"),
    ]
    first, second = (reply.usage for reply in lent.replies)
    assert first
    assert second
    assert (first.input_tokens, second.input_tokens) == (100, 300)
    assert second.cached_input_tokens == 40
    assert {record.served_model for record in records.values()} == {openai_chat.MODEL}
    told = [[m["role"] for m in r["messages"]] for r in requests]
    assert ["system", "user", "assistant", "user"] in told  # nothing of a turn is told twice


def test_an_agent_of_a_framework_reaches_its_tools_over_stdio(tmp_path: Path):
    python = frameworks.python()
    shutil.copytree(EXAMPLES / "langgraph", tmp_path, dirs_exist_ok=True)
    (arm,) = (tmp_path / "arms").iterdir()
    given = arm.read_text("utf-8")
    added = given.replace("  pass_env:", "  config_transport: stdio\n  pass_env:")
    arm.write_text(added, encoding="utf-8")
    assert added != given

    run, _ = played(python, tmp_path, arm.stem, "--case", "lend-a-free-book")

    (record,) = run.records()
    assert (record.verdict, record.detail) == ("passed", "")
    assert record.calls == 3


def played(
    python: Path, root: Path, arm: str, *options: str
) -> tuple[store.Run, list[dict[str, Any]]]:
    """The run of an example with the librarian behind it, busy at first, and what it was asked."""
    busy = openai_chat.in_turn(Fails(retry_after="0"))

    def model(body: dict[str, Any]) -> Step:
        first = busy(body)
        return first if isinstance(first, Fails) and first.status == 429 else librarian(body)

    with openai_chat.serving(model, key="no-key") as endpoint:
        done = subprocess.run(
            [
                sys.executable, "-m", "seatrial", "run", "--suite", "library", "--arm", arm,
                "--trials", "1", "--at-once", "2", "--out", "run", *options,
            ],
            cwd=root,
            env={
                **os.environ,
                "PYTHONPATH": str(EXAMPLES.parent / "src"),
                "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
                "OPENAI_BASE_URL": endpoint.url,
                "OPENAI_API_KEY": "no-key",
            },
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    return store.Run.open(root / "run"), endpoint.requests
