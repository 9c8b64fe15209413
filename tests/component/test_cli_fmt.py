"""`seatrial fmt`: keys in order, comments where they belong, the same documents."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import harbour

from seatrial import loading
from seatrial.cli import main
from seatrial.loading.layout import formatted

ROOT = Path(__file__).parents[2]

WRITTEN = """\
# yaml-language-server: $schema=../site/schema/case.json
id: take-a-berth # beside the id
kind: case

# Who is asked.
agent: harbour-desk
title: A berth
tags: [a,   b]
checks:
# What it did.
- severity: warning
  because: It has to.
  # The tool itself.
  tool: take_berth
  check: tool_called
  arguments: {boat_id: null, berth_id: "b-1"}   # both
task: |
  # no comment
  Give me a berth.
group: task
# the end
"""
FORMATTED = """\
# yaml-language-server: $schema=../site/schema/case.json
kind: case

id: take-a-berth # beside the id
title: A berth
group: task
# Who is asked.
agent: harbour-desk
task: |
  # no comment
  Give me a berth.
checks:
# What it did.
  - check: tool_called
  # The tool itself.
    tool: take_berth
    arguments: {boat_id: null, berth_id: "b-1"} # both
    severity: warning
    because: It has to.
tags: [a, b]
# the end
"""


def test_keys_are_put_in_order_and_comments_go_with_them():
    assert formatted("cases/a.yaml", WRITTEN.encode()).decode() == FORMATTED


def _documents():
    folders = [ROOT, *(p for p in (ROOT / "examples").iterdir() if (p / "cases").is_dir())]
    return [
        p for f in folders for kind in loading.FOLDERS for p in sorted((f / kind).rglob("*.yaml"))
    ]


def test_every_document_of_this_repository_is_in_its_usual_form():
    paths = _documents()
    assert len(paths) > 80
    odd = [path for path in paths if formatted(path.name, path.read_bytes()) != path.read_bytes()]
    assert odd == [], "seatrial fmt, here and in each folder of examples"


def test_what_is_written_with_its_keys_the_other_way_round_is_in_its_form_after_once():
    for path in _documents()[::5]:
        other = _backwards(path).encode()
        once = formatted(path.name, other)
        assert formatted(path.name, once) == once != other, path


def _backwards(path: Path) -> str:
    import yaml

    read = list(yaml.load_all(path.read_text(encoding="utf-8"), yaml.CBaseLoader))
    written = json.loads(json.dumps(read))  # no two parts are one, for what has an anchor stays
    turned = [dict(reversed(document.items())) for document in written]
    return str(yaml.dump_all(turned, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True))


def test_a_rule_of_mocked_answers_says_first_when_it_holds():
    rule = "    - answer: 1\n      state: {open: true}\n      when: {id: a}\n"
    written = f"kind: fixture\ntype: answers\nid: a\ntools:\n  look:\n    rules:\n{rule}"

    new = formatted("a.yaml", written.encode()).decode()

    assert new.endswith("  - when: {id: a}\n        state: {open: true}\n        answer: 1\n")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("kind: suite\r\nid: a\r\ncases: [b]\r\n", "kind: suite\nid: a\ncases: [b]\n"),
        ("\ufeffkind: suite\nid: a\ncases: [b]\n", "kind: suite\nid: a\ncases: [b]\n"),
        # An alias stands behind its anchor, whatever the order of keys.
        ("id: a\ncases: &c [b]\nkind: suite\nmust_tie: *c\n", None),
        # A line that its writer broke stays broken.
        ("kind: suite\nid: a\ncases: [b,\n  c]\n", None),
        ("kind: suite\nid: a\ntitle: one\n  two\ncases: [b]\n", None),
        ("kind: case\nid: a\ntrials: 0o10\nreviewed: 2026-03-16\n", None),
        ("kind: arm\nid: a\nversion: '1.0'\n---\nkind: arm\nid: b\n", None),
        ("kind: strange\nid: a\n", None),
        ("kind: case\nid: a\ntask: |+\n  x\n\n\ntitle: y\n", "kind: case\nid: a\ntitle: y\ntask: |+\n  x\n\n\n"),
    ],
)  # fmt: skip
def test_odd_files_say_the_same(text: str, kept: str | None):
    new = formatted("a.yaml", text.encode()).decode()

    assert new == (text if kept is None else kept)


def seatrial(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def test_check_writes_nothing_and_says_what_would_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    harbour.write(tmp_path, {"cases/take.yaml": "id: x\nkind: case\n"})

    told = seatrial("fmt", "--check", "cases")

    assert told.exit_code == 2
    assert "would write cases/take.yaml\n" in told.output
    assert "2 not in their usual form (`seatrial fmt` writes them)" in told.output
    assert Path("cases/take.yaml").read_text(encoding="utf-8") == "id: x\nkind: case\n"

    assert "wrote cases/take.yaml\n" in seatrial("fmt", "cases/take.yaml").output
    assert Path("cases/take.yaml").read_text(encoding="utf-8") == "kind: case\nid: x\n"
    assert seatrial("fmt", "--check", "cases/take.yaml").exit_code == 0


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    harbour.write(tmp_path, {"cases/take.yaml": "id: x\nkind: case\n", "cases/talk.yaml": "a: [\n"})

    told = seatrial("fmt", "cases")

    assert told.exit_code == 2
    assert "cases/talk.yaml:2:1:" in told.output
    assert Path("cases/take.yaml").read_text(encoding="utf-8") == "kind: case\nid: x\n"


def test_the_hooks_for_pre_commit_name_commands_that_are_there():
    import yaml

    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

    assert [hook["id"] for hook in hooks] == ["seatrial-check", "seatrial-fmt"]
    for hook in hooks:
        command, *words = hook["entry"].split()
        assert command == "seatrial"
        assert seatrial(*words, "--help").exit_code == 0
