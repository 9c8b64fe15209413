"""`seatrial import`: small invented tasks in the shapes of others, written as documents that `seatrial check` takes."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.shell import seatrial

TOOL = {
    "type": "function",
    "function": {
        "name": "move_boat",
        "description": "Move a boat.",
        "parameters": {
            "type": "object",
            "properties": {"boat_id": {"type": "string"}, "berth": {"type": "string"}},
        },
    },
    "x_tool_type": "write",
}
BOATS = {"boats": {"gull": {"boat_id": "gull", "berth": "b-1"}}, "log": {"8": {"text": "calm"}}}
MOVE = {"name": "move_boat", "arguments": {"boat_id": "gull", "berth": "b-2"}}
TAU2: dict[str, Any] = {
    "benchmark": "tau2-bench",
    "domain": "harbour",
    "task_id": "7",
    "instruction": {"reason_for_call": "Move the gull.", "known_info": "You are Ann.", "unknown_info": None},
    "description": {"purpose": "A boat is moved."},
    "expected_actions": [MOVE | {"requestor": "assistant"}],
    "communicate_info": ["b-2", "12"],
    "nl_assertions": ["The agent is polite."],
    "reward_basis": ["DB", "COMMUNICATE"],
    "initial_state_patch": [],
    "expected_state_diff": [
        {"op": "replace", "path": ["agent_db", "boats", "gull", "berth"], "old": "b-1", "new": "b-2"},
        {"op": "add", "path": ["agent_db", "log", "9"], "new": {"text": "08"}},
    ],
}  # fmt: skip
DOJO: dict[str, Any] = {
    "suite_version": "v1",
    "domain": "desk",
    "kind": "user_task",
    "task_id": "user_task_0",
    "prompt": "Write to Ann.",
    "expected_output": "ann@harbour.no",
    "expected_actions": [{"name": "send_mail", "arguments": {"to": "ann@harbour.no"}}],
    "initial_state_patch": [],
    "expected_state_diff": [
        {"op": "add", "path": ["mail", "sent", 0],
         "new": {"to": "ann@harbour.no", "text": "Dear Ann, the boat is here."}},
        {"op": "replace", "path": ["mail", "count"], "old": 0, "new": 1},
    ],
}  # fmt: skip
DESK = {"mail": {"count": 0, "sent": [], "box": {"1": {"to": "me", "text": "Hello."}}}}
SEND = {
    "function": {
        "name": "send_mail",
        "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
    }
}
PROMPTFOO = """\
description: The weather desk
prompts:
  - "Weather in {{city}}, {{tone}}?"
  - file://chat.json
providers:
  - openai:chat:gpt-5-2026-01-01
  - openai:gpt-latest
  - anthropic:messages:some-model
defaultTest:
  vars: {tone: short}
  assert:
    - {type: not-icontains, value: sorry}
tests:
  - description: rain
    vars: {city: [Brest, Bergen]}
    metadata: {area: coast}
    assert:
      - {type: contains, value: "{{city}}"}
      - {type: icontains-any, value: [rain, shower]}
      - {type: llm-rubric, value: is friendly}
      - {type: javascript, value: output.length < 10}
  - vars: {city: Oslo, tone: "{% if x %}loud{% endif %}"}
  - file://more.yaml
  - file://tests.py
evaluateOptions: {repeat: 3}
scenarios: [{}]
"""
MORE = """\
- vars: {city: Riga}
  assert:
    - {type: equals, value: "It rains."}
    - {type: equals, value: {rain: true}}
    - {type: starts-with, value: It}
    - {type: regex, value: "^It"}
    - {type: regex, value: "("}
    - {type: is-json}
    - {type: not-contains, value: snow}
    - {type: contains-all, value: [It, rains]}
    - {type: assert-set, assert: []}
"""
CHAT = [
    {"role": "system", "content": "You tell the weather."},
    {"role": "user", "content": "And in {{city}}?"},
]


def packed(path: Path, *lines: Any) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def document(root: Path, path: str) -> Any:
    text = (root / path).read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=../")
    return yaml.safe_load(text)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def of_tau2(source: Path, *tasks: dict[str, Any]) -> None:
    packed(source / "tasks_some.jsonl.gz", *tasks)
    (source / "state_harbour_initial.json").write_text(json.dumps({"agent_db": BOATS}), "utf-8")
    tools = {"domain": "harbour", "tools": [TOOL], "user_tools": []}
    (source / "tools_harbour.json").write_text(json.dumps(tools), "utf-8")


def test_a_task_of_tau2_expects_the_end_that_it_names_and_what_has_to_be_said(
    source: Path, root: Path
):
    of_tau2(
        source, TAU2, TAU2 | {"task_id": "8", "expected_state_diff": [], "communicate_info": []}
    )

    code, out, err = seatrial(root, "import", "tau2", str(source), "--agent", "clerk")

    case = document(root, "cases/tau2-bench-harbour/tau2-bench-harbour-7.yaml")
    world = document(root, "fixtures/tau2-bench-harbour.yaml")
    assert (code, err) == (0, "")
    assert (case["agent"], case["title"]) == ("clerk", "A boat is moved.")
    assert case["task"] == "Move the gull.\n\nYou are Ann."
    assert case["checks"] == [
        {
            "check": "end_state",
            "created": [{"type": "log", "key": "9", "properties": {"text": {"equals": "08"}}}],
            "changed": [{"type": "boats", "key": "gull", "properties": {"berth": {"equals": "b-2"}}}],
        },
        {"check": "reply_contains", "text": "b-2", "turn": "any"},
        {"check": "reply_number", "value": 12.0, "turn": "any"},
    ]  # fmt: skip
    assert case["solution"] == {"calls": [{"tool": "move_boat", "arguments": MOVE["arguments"]}]}
    assert world["objects"] == {
        "boats": [{"boat_id": "gull", "berth": "b-1"}], "log": [{"key": "8", "text": "calm"}]
    }  # fmt: skip
    assert world["types"]["boats"]["key"] == "boat_id"
    assert world["actions"]["move_boat"]["read_only"] is False
    idle = document(root, "cases/tau2-bench-harbour/tau2-bench-harbour-8.yaml")
    assert idle["checks"] == [{"check": "end_state"}]
    assert "  harbour 7: no equivalent of nl_assertions: The agent is polite.\n" in out
    assert "no equivalent of nl_assertions: 2 tasks\n" in out
    assert out.endswith("2 tasks: 2 cases, 1 suite, 1 fixture written\n")
    code, out, err = seatrial(root, "check")
    assert (code, err) == (0, ""), out


def test_the_person_of_a_task_is_played_by_the_model_that_is_named(source: Path, root: Path):
    of_tau2(source, TAU2)
    model = ("--person-url", "http://127.0.0.1:8080/v1", "--person-model", "small-2026-01-01")

    code, out, _ = seatrial(root, "import", "tau2", str(source), *model)

    case = document(root, "cases/tau2-bench-harbour/tau2-bench-harbour-7.yaml")
    persona = document(root, "fixtures/tau2-bench-harbour/tau2-bench-harbour-7.yaml")
    assert (code, "a model that plays the person" in out) == (0, False)
    assert (case["persona"], "task" in case) == (persona["id"], False)
    assert (persona["goal"], persona["facts"]) == ("Move the gull.", {"known info": "You are Ann."})
    assert persona["model"] == {"name": "small-2026-01-01", "url": "http://127.0.0.1:8080/v1"}
    assert seatrial(root, "check")[0] == 0
    for words in (("tau2", *model[:2]), ("agentdojo", *model)):
        assert seatrial(root, "import", words[0], str(source), *words[1:])[0] == 2


def test_tasks_as_the_benchmark_itself_keeps_them_are_graded_by_their_gold_calls(
    source: Path, root: Path
):
    (source / "harbour").mkdir()
    action = {"action_id": "0", **MOVE, "compare_args": ["boat_id"]}
    task = {
        "id": "0",
        "user_scenario": {"persona": "calm", "instructions": "Move the gull."},
        "evaluation_criteria": {
            "actions": [action],
            "communicate_info": [],
            "reward_basis": ["DB"],
        },
    }
    by_words = {
        "id": "1",
        "user_scenario": {"instructions": "Nothing."},
        "evaluation_criteria": {"actions": [], "reward_basis": ["COMMUNICATE"]},
    }
    (source / "harbour" / "tasks.json").write_text(json.dumps([task, by_words]), "utf-8")
    (source / "harbour" / "db.json").write_text(json.dumps(BOATS), "utf-8")
    tools = {"tools": [TOOL], "write_tools": ["move_boat"]}
    (source / "harbour" / "tools_harbour.json").write_text(json.dumps(tools), "utf-8")

    code, out, _ = seatrial(root, "import", "tau2", str(source))

    case = document(root, "cases/tau2-harbour/tau2-harbour-0.yaml")
    assert code == 0
    assert case["checks"] == [
        {"check": "tool_called", "tool": "move_boat", "arguments": {"boat_id": {"equals": "gull"}}}
    ]
    assert "no equivalent of the end state: graded by the gold calls instead" in out
    assert "harbour 1: no equivalent of nothing that can be graded: the task is left out" in out
    assert seatrial(root, "check")[0] == 0


def test_a_task_of_agentdojo_expects_what_its_gold_run_changes_and_leaves_wording_free(
    source: Path, root: Path
):
    goal = DOJO | {"task_id": "injection_task_0", "kind": "injection_task", "expected_output": None}
    packed(source / "tasks_v1.jsonl.gz", DOJO, goal)
    packed(source / "tasks_v2.jsonl.gz", DOJO | {"suite_version": "v2", "expected_state_diff": []})
    (source / "state_desk_initial.json").write_text(json.dumps(DESK), "utf-8")
    tools = {"domain": "desk", "tools": [SEND], "injection_vectors": {"in_a_mail": ""}}
    (source / "tools_desk.json").write_text(json.dumps(tools), "utf-8")

    code, out, err = seatrial(root, "import", "agentdojo", str(source))

    case = document(root, "cases/agentdojo-desk/agentdojo-desk-v1-user-task-0.yaml")
    assert (code, err) == (0, "")
    assert case["checks"] == [
        {
            "check": "end_state",
            "created": [{"type": "mail_sent", "key": "0", "properties": {"to": {"equals": "ann@harbour.no"}}}],
            "changed": [{"type": "mail", "key": "mail", "properties": {"count": {"equals": 1}}}],
        }
    ]  # fmt: skip
    assert case["provenance"]["answer"] == "ann@harbour.no"
    assert "v1 desk user_task_0: no equivalent of a function that grades" in out
    assert "no equivalent of an attack on user tasks: 1 task\n" in out
    assert "no equivalent of 1 places for injections in desk: in_a_mail" in out
    assert "values that look real: 1; allowed in real-data.yaml: invented by the authors" in out
    assert "3 tasks: 3 cases, 1 suite, 1 fixture written" in out
    assert "looks like" not in seatrial(root, "check")[1]


def test_tests_of_promptfoo_become_cases_and_assertions_checks_as_far_as_there_are_some(
    source: Path, root: Path
):
    (source / "promptfooconfig.yaml").write_text(PROMPTFOO, "utf-8")
    (source / "more.yaml").write_text(MORE, "utf-8")
    (source / "chat.json").write_text(json.dumps(CHAT), "utf-8")

    code, out, err = seatrial(
        root, "import", "promptfoo", str(source / "promptfooconfig.yaml"), "--agent", "desk"
    )

    folder = "cases/promptfoo-the-weather-desk"
    rain = document(root, f"{folder}/promptfoo-the-weather-desk-1.1.2.yaml")
    riga = document(root, f"{folder}/promptfoo-the-weather-desk-3.2.yaml")
    assert (code, err) == (0, "")
    assert rain["task"] == "Weather in Bergen, short?"
    assert rain["tags"] == ["promptfoo-the-weather-desk", "area:coast"]
    assert rain["checks"] == [
        {"check": "reply_not_contains", "text": ["sorry"], "turn": "last"},
        {"check": "reply_contains", "text": ["Bergen"], "ignore_case": False},
        {"check": "reply_contains", "any_of": ["rain", "shower"]},
    ]
    assert riga["task"] == "And in Riga?"
    assert [check["check"] for check in riga["checks"]] == [
        "reply_not_contains", "reply_matches", "reply_schema", "reply_matches", "reply_matches", "reply_schema",
        "reply_not_contains", "reply_contains",
    ]  # fmt: skip
    assert riga["checks"][1]["pattern"] == r"\AIt\ rains\.\Z"
    arm = document(root, "arms/gpt-5-2026-01-01.yaml")
    assert (arm["agent"], arm["model"]) == ("desk", {"name": "gpt-5-2026-01-01"})
    assert document(root, "suites/promptfoo-the-weather-desk.yaml")["trials"] == 3
    for told in (
        "rain: no equivalent of assert `llm-rubric`", "rain: no equivalent of assert `javascript`",
        "no equivalent of assert `regex`", "no equivalent of assert `assert-set`", "no equivalent of scenarios",
        "no equivalent of text that cannot be filled in", "no equivalent of messages of the system or the agent",
        "no equivalent of providers: anthropic:messages:some-model: write an arm",
        "no equivalent of providers: openai:gpt-latest: ", "file://tests.py: no equivalent of tests that are no YAML",
        "no equivalent of a world",
    ):  # fmt: skip
        assert told in out, told
    code, out, err = seatrial(root, "check")
    assert (code, err) == (0, ""), out
    assert seatrial(root, "fmt", "--check")[:2] == (0, "10 files: 0 not in their usual form\n")


def test_the_help_has_a_line_for_each_format():
    code, out, _ = seatrial(Path.cwd(), "import", "--help")

    assert code == 0
    for shape in ("tau2", "agentdojo", "promptfoo"):
        assert any(line.startswith(f"  {shape} ") for line in out.splitlines()), shape


def test_nothing_is_written_over_what_is_there_or_with_check(source: Path, root: Path):
    of_tau2(source, TAU2)

    code, out, _ = seatrial(root, "import", "tau2", str(source), "--check", "--quiet")
    assert (code, "harbour 7:" in out) == (0, False)
    assert out.endswith("1 task: 1 case, 1 suite, 1 fixture would be written\n")
    assert list(root.iterdir()) == []
    assert seatrial(root, "import", "tau2", str(source))[0] == 0
    code, _, err = seatrial(root, "import", "tau2", str(source))
    assert code == 2
    assert "there already" in err
    assert "write elsewhere: --root FOLDER" in err


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("tasks.json", b"{", "tasks.json is no JSON"),
        ("tasks.json", b"\xff\xfe", "tasks.json is no text in UTF-8"),
        ("tasks.json.gz", b"no gzip", "tasks.json.gz cannot be read"),
        ("tasks.json", b"[1, null, {}]", "holds no tasks of tau2 that can be imported"),
        (
            "tasks.json",
            b'[{"id": 1, "expected_actions": [5], "domain": "x"}]',
            "is not in the form of tau2: ",
        ),
        ("config.yaml", b"a: [", "config.yaml:2:1: expected a value here"),
    ],
)
def test_what_cannot_be_read_is_told_and_not_a_fault(
    source: Path, root: Path, name: str, data: bytes, told: str
):
    (source / name).write_bytes(data)

    code, _, err = seatrial(root, "import", "tau2", str(source))

    assert code == 2
    assert told in err
    assert list(root.iterdir()) == []


def test_a_title_with_braces_is_no_placeholder(source: Path, root: Path):
    config = (
        "description: 'Of {{{run}} and {{city}}'\nprompts: [Hello]\nproviders: [echo]\ntests:\n"
    )
    config += "  - {description: 'Say {{hello}}', assert: [{type: contains, value: hello}]}\n"
    (source / "promptfooconfig.yaml").write_text(config, "utf-8")

    code, out, err = seatrial(root, "import", "promptfoo", str(source))

    assert (code, err) == (0, ""), out
    suite = document(root, "suites/promptfoo-of-run-and-city.yaml")
    assert suite["title"] == "Of { { {run}} and { {city}}"


@pytest.mark.parametrize("up", ["..", "absolute"])
def test_a_reference_never_leads_out_of_the_folder(source: Path, root: Path, up: str):
    up = up.replace("absolute", source.parent.as_posix())
    (source.parent / "secret.json").write_text('["the secret"]', "utf-8")
    (source / "linked.json").symlink_to(source.parent / "secret.json")
    config = PROMPTFOO.replace("file://chat.json", f"file://{up}/secret.json").replace(
        "file://more.yaml", "file://linked.json"
    )
    (source / "promptfooconfig.yaml").write_text(config, "utf-8")

    code, out, _ = seatrial(root, "import", "promptfoo", str(source / "promptfooconfig.yaml"))

    assert code == 0
    assert "the secret" not in out
    assert not any("the secret" in p.read_text("utf-8") for p in root.rglob("*.yaml"))
