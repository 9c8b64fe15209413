"""Worlds of all kinds in one repository, run, graded and looked at by the real commands."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests import world_kinds
from tests.shell import ROOT, seatrial

from seatrial import store
from seatrial.records import TrialRecord
from seatrial.trace import Trace

KINDS = tuple(world_kinds.WORLDS)
SERVICE = ROOT / "tests" / "servers" / "order_service.py"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root: Path = tmp_path_factory.mktemp("kinds")
    with subprocess.Popen(
        [sys.executable, str(SERVICE)], stdout=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        world_kinds.write_repository(root, port=int(service.stdout.readline()))
        try:
            yield root
        finally:
            service.kill()


@pytest.fixture(scope="module")
def stored(repository: Path) -> dict[str, list[tuple[TrialRecord, Trace]]]:
    """By case, the trials of one run over everything."""
    code, _, err = seatrial(repository, "run", "-s", "all", "-a", "obedient", "--seed", "1")
    assert code == 0, err
    run = store.Run.open(store.find(repository, "latest"))
    found: dict[str, list[tuple[TrialRecord, Trace]]] = {}
    for record in run.records():
        found.setdefault(record.case, []).append((record, run.trace(record)))
    return found


def test_the_documents_are_right(repository: Path):
    code, out, err = seatrial(repository, "check")

    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == (
        "checked 30 cases, 1 suite, 1 arm, 6 fixtures: no problems, 1 warning"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_is_graded_by_what_changed_in_a_world_of_any_kind(stored: Any, kind: str):
    right, wrong = stored[f"{kind}-write"], stored[f"{kind}-nothing"]

    assert [record.verdict for record, _ in right] == ["passed", "passed"]
    assert [len(trace.changes or ()) for _, trace in right] == [1, 1]
    assert [call.changed for _, trace in right for call in trace.calls] == [True, True]
    assert [record.verdict for record, _ in wrong] == ["failed", "failed"]
    assert [trace.changes for _, trace in wrong] == [(), ()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["refused", "beyond"])
def test_rights_hold_in_a_world_of_any_kind(stored: Any, kind: str, name: str):
    for record, trace in stored[f"{kind}-{name}"]:
        (call,) = trace.calls
        assert (record.verdict, record.violations, trace.changes) == ("failed", 1, ())
        assert call.answered_by == "gateway"
        assert "may not call" in call.refused
        assert ("when" in call.refused) == (name == "beyond")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "fault" in world_kinds.CALLS[kind]])
def test_a_world_that_fails_makes_its_trials_invalid_and_never_the_agent_fail(
    stored: Any, kind: str
):
    for record, trace in stored[f"{kind}-fault"]:
        assert (record.verdict, record.cause) == ("invalid", "tool_server")
        assert record.detail.startswith(f"world '{kind}-desk': ")
        assert trace.ended == "broken"
    others = [
        record for case in stored for record, _ in stored[case] if not case.endswith("-fault")
    ]
    assert {record.cause for record in others} == {None}


def test_what_a_server_says_when_it_fails_does_not_keep_its_trial_from_being_stored(stored: Any):
    assert [(record.cause, record.detail) for record, _ in stored["half-fault"]] == [
        ("tool_server", "world 'half-desk': its server failed in do: half \\ud800")
    ] * 2


def test_nothing_of_a_run_is_left_behind(repository: Path, stored: Any):
    run = store.Run.open(store.find(repository, "latest")).manifest.run

    assert list(Path(os.environ.get("TMPDIR", "/tmp")).glob(f"seatrial-{run}-*")) == []
    assert (repository / "fixtures" / "desk" / "b-1").read_text() == "in"


# --- seatrial world show ---


@pytest.mark.parametrize("kind", KINDS)
def test_a_world_of_any_kind_can_be_looked_at(repository: Path, kind: str):
    code, out, err = seatrial(repository, "world", "show", f"{kind}-desk")
    as_json = json.loads(
        seatrial(repository, "world", "show", f"{kind}-desk", "--format", "json")[1]
    )

    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [f"{kind}-desk ({kind})", "clock  2026-05-04T11:30:00Z"]
    assert as_json["roles"].keys() == {"clerk"}
    assert {tool["name"] for tool in as_json["tools"]} >= {
        call.split()[0] for call in world_kinds.CALLS[kind].values()
    }


def test_a_world_is_shown_as_a_trial_finds_it(repository: Path):
    _, out, _ = seatrial(repository, "world", "show", "sqlite-desk")

    assert out == (
        "sqlite-desk (sqlite)\n"
        "clock  2026-05-04T11:30:00Z\n"
        "role   clerk: look, lend, fall_over\n"
        "\n"
        "look       reads     Look a book up.\n"
        "lend       writes    Lend a book.\n"
        "scrap      destroys  Scrap a book.\n"
        "fall_over  writes    Fail.\n"
        "\n"
        "book: 2\n"
        '  b-1  {"id": "b-1", "state": "in"}\n'
        '  b-2  {"id": "b-2", "state": "in"}\n'
    )


def test_a_world_that_is_not_there_is_told(repository: Path):
    code, out, err = seatrial(repository, "world", "show", "sqlite-dsk")

    assert (code, out) == (2, "")
    assert err == "Error: there is no world 'sqlite-dsk'\n  → there are sqlite-desk\n"


# --- seatrial world diff ---


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("sqlite", ["~ book b-1", '    state: "in" → "lent"']),
        ("directory", ["~ file b-1", '    text: "in" → "lent"']),
        ("mcp", ["+ thing t-1", "    value: 1"]),
    ],
)
def test_what_a_trial_changed_is_told(repository: Path, stored: Any, kind: str, lines: list[str]):
    code, out, err = seatrial(repository, "world", "diff", "latest", f"{kind}-write", "2")

    assert (code, err) == (0, "")
    assert out.splitlines() == [f"{kind}-write, trial 2 of obedient: passed", *lines]


def test_a_trial_without_a_difference_and_one_without_an_end_are_told_apart(
    repository: Path, stored: Any
):
    nothing = seatrial(repository, "world", "diff", "latest", "sqlite-nothing", "1")
    broken = seatrial(repository, "world", "diff", "latest", "mcp-fault", "1")

    assert nothing[:2] == (0, "sqlite-nothing, trial 1 of obedient: failed\nNothing changed.\n")
    assert broken[0] == 3
    assert (
        broken[1].splitlines()[1].startswith("The end state was not captured: world 'mcp-desk': ")
    )
    as_json = seatrial(
        repository, "world", "diff", "latest", "python-write", "1", "--format", "json"
    )
    assert json.loads(as_json[1]) == [
        {
            "what": "changed",
            "type": "book",
            "key": "b-1",
            "property": "state",
            "old": "in",
            "new": "lent",
        }
    ]


def test_a_trial_that_is_not_there_is_told(repository: Path, stored: Any):
    code, _, err = seatrial(repository, "world", "diff", "latest", "sqlite-write", "9")

    assert (code, err) == (
        2,
        "Error: case sqlite-write has no trial 9 in this run\n  → it has 1, 2\n",
    )


# --- seatrial world serve ---


def _serve(repository: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "seatrial", "world", "serve", *words],
        cwd=repository,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _config(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or lines[-1] != "}\n":
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        lines.append(line)
    server: dict[str, Any] = json.loads("".join(lines))["mcpServers"]
    return server


def test_a_world_can_be_played_with_by_hand_until_ctrl_c(repository: Path):
    with _serve(repository, "sqlite-desk", "--role", "clerk") as process:
        try:
            server = _config(process)["sqlite-desk"]
            assert server["url"].startswith("http://127.0.0.1:")
            texts = []
            for number, (tool, id) in enumerate(
                [("lend", "b-1"), ("lend", "b-2"), ("scrap", "b-1")]
            ):
                params = {"name": tool, "arguments": {"id": id}}
                answer = httpx.post(
                    server["url"],
                    json={"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params},
                    headers=server["headers"] | {"accept": "application/json, text/event-stream"},
                    timeout=30,
                    trust_env=False,
                )
                texts.append(answer.json()["result"]["content"][0]["text"])
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()

    assert process.returncode == 0, err
    assert texts[0] == "done"
    assert all("Not allowed" in text for text in texts[1:])
    assert out == '~ book b-1\n    state: "in" → "lent"\n'
    assert err.splitlines() == [
        "Serving sqlite-desk. Ctrl-C ends it.",
        '1. lend {"id": "b-1"}: ok, changed the world',
        '2. lend {"id": "b-2"}: refused',
        '3. scrap {"id": "b-1"}: refused',
    ]


def test_who_acts_must_be_said_where_a_world_has_roles(repository: Path):
    code, _, err = seatrial(repository, "world", "serve", "sqlite-desk")
    wrong = seatrial(repository, "world", "serve", "sqlite-desk", "--role", "boss")

    assert (code, err) == (
        2,
        "Error: which role?\n  → seatrial world serve sqlite-desk --role NAME, one of clerk\n",
    )
    assert wrong[2].startswith("Error: world sqlite-desk has no role 'boss'\n")


def test_a_purpose_that_the_role_may_not_act_under_is_told(repository: Path):
    words = ("world", "serve", "sqlite-desk", "--role", "clerk", "--purpose", "billing")

    assert seatrial(repository, *words)[::2] == (
        2,
        "Error: role 'clerk' may not act under the purpose 'billing'\n  → leave --purpose out\n",
    )
