"""`seatrial record`: what a real server answers becomes a fixture, without what may not be kept, and is replayed."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import harbour
from tests.shell import seatrial

from seatrial import loading, store

SCRIPT = Path(__file__).parents[1] / "servers" / "customers.py"
KEY = {"SEATRIAL_STAND_INS_KEY": "a key of the tests, long enough"}
SERVER = """\
kind: fixture
type: server
id: customers
command: ["{python}", "{root}/customers.py"]
targets: {test: pass_through, staging: real, offline: mock}
"""
CASE = """\
kind: case
id: where-is-it
title: Somebody asks for their order
group: task
agent: harbour-desk
world: harbour
role: clerk
servers: [customers]
task: Where is the order of Maria López?
solution:
  calls:
    - {tool: find_customer, arguments: {word: López}}
    - {tool: find_customer, arguments: {word: byron.org}}
    - tool: show_order
      arguments: {order_id: "{{calls.1.customers.0.order_ids.0}}", of: "{{calls.1.customers.0.id}}"}
    - tool: show_order
      arguments: {order_id: "{{calls.1.customers.0.order_ids.0}}", of: "{{calls.1.customers.0.id}}"}
    - {tool: show_order, arguments: {order_id: 7654321}}
    - {tool: remark, arguments: {about: it}}
    - {tool: cancel_order, arguments: {order_id: 1}}
  reply: It is sent.
checks:
  - {check: tool_called, tool: show_order}
"""
REAL = (
    "maria.lopez@harbourmail.org", "901820", "tok-4711-abcdef", "1029384", "cus_8Hk29xAb", "ada@byron.org", "Ada",
    "cus_1Zz00yBc", "00000000-0000-0000-0000-000000000007",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copy(SCRIPT, tmp_path / "customers.py")
    files = {"fixtures/customers.yaml": SERVER, "cases/where.yaml": CASE}
    return harbour.write(tmp_path, files)


def record(root: Path, *words: str) -> tuple[int, str, str]:
    return seatrial(root, "record", "where-is-it", *words, environment=KEY)


def written(root: Path, id: str = "where-is-it-recorded") -> tuple[str, dict[str, Any]]:
    text = (root / "fixtures" / f"{id}.yaml").read_text("utf-8")
    return text, yaml.safe_load(text)


def rules(fixture: dict[str, Any], tool: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = fixture["tools"][tool]["rules"]
    return found


ANSWERED = "role: clerk\nanswers: where-is-it-recorded"
OBEYS = """\
kind: arm
id: released
agent: harbour-desk
version: 1.4.0
adapter: {type: python, target: "obedient:obey"}
"""


def named(root: Path) -> None:
    """Let the case be answered by the recording."""
    case = CASE.replace("role: clerk", ANSWERED)
    (root / "cases" / "where.yaml").write_text(case, encoding="utf-8")


def test_what_a_server_answered_is_written_without_what_may_not_be_kept_and_passes_check(
    root: Path,
):
    code, out, err = record(root)

    assert code == 0, err
    text, fixture = written(root)
    assert [real for real in REAL if real in text or real in out + err] == []
    assert fixture["replay"] == "strict"
    first, second = rules(fixture, "find_customer")
    (maria,) = first["answer"]["customers"]
    assert first["when"] == {"word": "López"}
    assert maria["name"].endswith(" López"), "what the case says itself is kept"
    shown, missing = rules(fixture, "show_order")
    assert shown["when"] == {"order_id": maria["order_ids"][0], "of": maria["id"]}
    assert [step["answer"].split(". ")[0] for step in shown["sequence"]] == [
        f"Order {maria['order_ids'][0]} of {maria['id']} is packed",
        f"Order {maria['order_ids'][0]} of {maria['id']} is sent",
    ]
    assert missing["when"] == {"order_id": 7654321, "of": {"absent": True}}, "as the case says it"
    assert missing["error"] == "no order 7654321"
    assert second["when"] == {"word": "byron.org"}
    assert (
        "# Replaced: find_customer: answer.customers[*].email, e-mail address (2 values).\n" in text
    )
    assert "  replaced: find_customer: answer.customers[*].api_token, secret\n" in out
    assert "call 6, remark: the tool does not say that it only reads" in err
    assert "call 7, cancel_order: the tool does not say that it only reads" in err
    assert "→ write `answers: where-is-it-recorded` in case where-is-it\n" in out

    named(root)
    assert seatrial(root, "check", "--live")[0] == 0


def test_the_same_value_has_the_same_stand_in_in_every_recording(root: Path):
    assert record(root)[0] == 0
    before = written(root)[0]

    refused = record(root)
    assert (refused[0], "--again" in refused[2]) == (2, True)
    assert record(root, "--again")[0] == 0
    assert written(root)[0] == before

    assert record(root, "--id", "kept", "--ids", "keep")[0] == 0
    text = written(root, "kept")[0]
    assert "cus_8Hk29xAb" in text
    assert "maria.lopez" not in text


def test_a_key_is_made_once_and_kept_out_of_git(root: Path):
    assert seatrial(root, "record", "where-is-it")[0] == 0
    first = written(root)[0]
    assert seatrial(root, "record", "where-is-it", "--again")[0] == 0

    key = root / ".seatrial" / "stand-ins.key"
    assert written(root)[0] == first
    assert key.stat().st_mode & 0o777 == 0o600
    assert (root / ".seatrial" / ".gitignore").read_text("utf-8") == "*\n"
    assert key.read_text("utf-8") not in first


def replayed(root: Path, replay: str, *calls: str) -> list[Any]:
    """By whom and by which rule calls are answered when the case is replayed, and with what."""
    assert record(root, "--replay", replay)[0] == 0
    head = CASE[: CASE.index("task: ")].replace("role: clerk", ANSWERED)
    checks = CASE[CASE.index("checks:") :].replace("show_order", "find_customer")
    task = "task: |\n" + "".join(f"  {call}\n" for call in calls)
    suite = "kind: suite\nid: one\ncases: [where-is-it]\ntrials: 1\n"
    files = {
        "cases/where.yaml": head + task + checks,
        "arms/released.yaml": OBEYS,
        "suites/one.yaml": suite,
    }
    harbour.write(root, files)
    shutil.copy(SCRIPT.parents[1] / "agents" / "obedient.py", root)
    code, _, err = seatrial(root, "run", "--suite", "one", "--arm", "released", "--out", "run")
    assert code == 0, err
    run = store.Run.open(root / "run")
    (told,) = run.records()
    return [(call.answered_by, call.rule, call.answer.text) for call in run.trace(told).calls]


def test_a_strict_replay_refuses_what_was_not_recorded_and_names_the_nearest_rule(root: Path):
    found = replayed(
        root, "strict", 'find_customer {"word": "López"}', 'find_customer {"word": "Grace"}'
    )

    assert [one[:2] for one in found] == [("mock", "rules[0]"), ("mock", None)]
    assert found[1][2].startswith(
        "No mocked answer of find_customer fits these arguments; the nearest is rules[0]: expected word"
    )


def test_where_it_falls_through_the_real_server_answers_what_was_not_recorded(root: Path):
    found = replayed(
        root,
        "fall_through",
        'find_customer {"word": "López"}',
        'find_customer {"word": "tok-4711"}',
    )

    assert [one[:2] for one in found] == [("mock", "rules[0]"), ("server", "pass_through")]
    assert "maria.lopez@harbourmail.org" in found[1][2]
    assert "maria.lopez@harbourmail.org" not in found[0][2]


def test_a_recording_for_another_schema_is_stale_by_check_and_in_the_run(root: Path):
    assert record(root)[0] == 0
    named(root)
    server = root / "fixtures" / "customers.yaml"
    server.write_text(SERVER.replace('customers.py"]', 'customers.py", "1"]'), encoding="utf-8")

    code, out, err = seatrial(root, "check", "--live")
    told = "stale: word is gone; customer is new, and required"
    assert code == 2
    assert f"`find_customer`: {told}" in out + err

    code, out, err = seatrial(root, "check", "--prove", "--case", "where-is-it")
    assert "(tool_server)" in out + err
    assert told in out + err


def test_what_no_client_would_take_and_what_declares_nothing_can_be_said(root: Path):
    call = "    - {tool: find_customer, arguments: {word: misfit}}\n"
    case = CASE.replace("    - {tool: cancel_order", f"{call}    - {{tool: cancel_order")
    (root / "cases" / "where.yaml").write_text(case, encoding="utf-8")

    code, _, err = record(root, "--allow-undeclared", "The vendor's page says so.")

    assert code == 0, err
    _, fixture = written(root)
    assert fixture["tools"]["remark"]["reason"] == "The vendor's page says so."
    assert "cancel_order" not in fixture["tools"]
    assert "left out: an answer of find_customer does not fit its output schema" in err
    assert len(rules(fixture, "find_customer")) == 2


def test_nothing_is_recorded_where_nothing_real_answers(root: Path):
    offline = record(root, "--environment", "offline")
    assert offline[0] == 2
    assert "server 'customers' is `mock` in environment 'offline'" in offline[2]

    no_server = seatrial(root, "record", "take-a-berth")
    assert no_server[0] == 2
    assert "no real server stands behind case 'take-a-berth'" in no_server[2]

    live = record(root, "--environment", "production")
    assert live[0] == 2
    assert "nothing is tried there" in live[2]

    for words, why in (
        (["--id", "../Elsewhere"], "'../Elsewhere' is no id"),
        (["--arm", "nobody"], "there is no arm 'nobody'"),
    ):
        code, _, err = record(root, *words)
        assert (code, why in err) == (2, True)
    assert not (root / "fixtures" / "where-is-it-recorded.yaml").exists()


def test_what_was_recorded_answers_without_any_server_once_its_tools_are_declared(root: Path):
    code, out, err = record(root, "--declare")
    assert code == 0, err
    declared = out.split("# For fixture `customers`:\n")[1]
    case = CASE.replace("role: clerk", f"{ANSWERED}\nenvironment: offline")
    calls = case[case.index("    - tool: show_order") : case.index("  reply:")]
    case = case.replace("tool_called, tool: show_order", "tool_called, tool: find_customer")
    (root / "customers.py").write_text("open('started', 'w')", encoding="utf-8")
    harbour.write(
        root,
        {
            "fixtures/customers.yaml": SERVER + declared,
            "cases/where.yaml": case.replace(
                calls, "    - {tool: show_order, arguments: {order_id: 7654321}}\n"
            ),
        },
    )

    code, out, err = seatrial(root, "check", "--prove", "--case", "where-is-it")

    assert (code, err) == (0, ""), out
    assert re.search(r"where-is-it +failed +passed", out)
    assert not (root / "started").exists()


def test_an_arm_may_carry_the_case_out_and_secrets_of_the_server_stay_out(root: Path):
    harbour.write(root, {
        "arms/released.yaml": OBEYS,
        "cases/where.yaml": CASE[: CASE.index("task:")] + """\
task: 'show_order {"order_id": 7654321, "of": "s3cret-of-the-server"}'
checks:
  - {check: tool_called, tool: find_customer}
""",
        "fixtures/customers.yaml": SERVER + "pass_env: [CUSTOMERS_TOKEN]\n",
    })  # fmt: skip
    shutil.copy(SCRIPT.parents[1] / "agents" / "obedient.py", root)

    code, out, err = seatrial(
        root, "record", "where-is-it", "--arm", "released",
        environment=KEY | {"CUSTOMERS_TOKEN": "s3cret-of-the-server"},
    )  # fmt: skip

    assert code == 0, err
    assert "was carried out by arm released: failed, 1 calls" in err
    text, fixture = written(root)
    assert "s3cret" not in text + out + err
    (rule,) = rules(fixture, "show_order")
    assert rule["when"] == {"order_id": 7654321, "of": "[CUSTOMERS_TOKEN]"}


def test_an_invalid_trial_leaves_no_recording(root: Path):
    server = root / "fixtures" / "customers.yaml"
    server.write_text(SERVER.replace("customers.py", "gone.py"), encoding="utf-8")

    code, _, err = record(root)

    assert code == 3
    assert "The trial is invalid (tool_server): server 'customers'" in err
    assert not (root / "fixtures" / "where-is-it-recorded.yaml").exists()


def test_the_fixture_of_the_page_is_right(tmp_path: Path):
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "record-and-replay.md").read_text(
        "utf-8"
    )
    ((name, text),) = re.findall(
        r'```yaml title="fixtures/([\w-]+)\.yaml"\n(.*?)```', page, re.DOTALL
    )

    catalog = loading.load(harbour.contents({f"fixtures/{name}.yaml": text}))

    assert catalog.answers(name).answered_here == {"find_order"}


def test_a_world_that_is_a_server_itself_is_recorded_where_there_is_no_other(root: Path):
    shutil.copy(SCRIPT.with_name("notes_mcp.py"), root)
    world = """\
kind: fixture
type: world
world: mcp
id: notes
now: 2026-05-04T11:30:00Z
start: {offer.md: "An offer for ada@byron.org."}
command: ["{python}", "{root}/notes_mcp.py"]
roles: {clerk: {allow: ["*"]}}
"""
    task = CASE.index("task:")
    head = (
        CASE[:task].replace("servers: [customers]\n", "").replace("world: harbour", "world: notes")
    )
    case = f"""\
{head}task: What is in the offer?
solution:
  calls: [{{tool: read_note, arguments: {{name: offer}}}}]
  reply: An offer.
checks:
  - {{check: tool_called, tool: read_note}}
"""
    harbour.write(root, {"fixtures/notes.yaml": world, "cases/where.yaml": case})

    code, _, err = record(root)

    assert code == 0, err
    _, fixture = written(root)
    (rule,) = rules(fixture, "read_note")
    assert rule["when"] == {"name": "offer"}
    assert "An offer for ada@byron.org." in str(rule["answer"]), "the world's document says it"
