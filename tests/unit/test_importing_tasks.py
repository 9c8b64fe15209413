"""Tasks that are odd, or lack what others have, are imported as far as they go, and told where they do not."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial import loading
from seatrial.importing import FORMATS, Imported
from seatrial.importing.model import id_of, line
from seatrial.loading.writing import written

TASK: dict[str, Any] = {"task_id": "1", "domain": "dock", "instruction": "Moor the gull."}
BOATS = {"boats": {"gull": {"id": "gull", "berth": "b-1"}}}
MOOR = {"function": {"name": "moor", "parameters": {"type": "object", "properties": {"id": {}}}}}


def parts(imported: Imported) -> set[str]:
    return {missing.part for missing in imported.missing}


def right(imported: Imported) -> Imported:
    loading.load(
        {
            path: written(doc, dense=("objects",)).encode()
            for path, doc in imported.documents.items()
        }
    )
    return imported


def test_a_domain_without_a_start_and_tools_is_graded_by_what_is_said():
    tasks = [TASK | {"communicate_info": ["moored"]}, TASK | {"task_id": "2"}]

    imported = right(FORMATS["tau2"]({"tasks_dock.jsonl": tasks}, "clerk"))

    assert imported.documents["cases/tau2-dock/tau2-dock-1.yaml"]["checks"] == [
        {"check": "reply_contains", "text": "moored", "turn": "any"}
    ]
    assert {"the start of dock", "nothing that can be graded"} <= parts(imported)


def test_what_a_task_has_beside_is_told_and_so_is_one_with_braces():
    odd = TASK | {
        "ticket": "No. 9", "persona": "calm", "gold_action_errors": ["x"], "env_assertions": ["moored"],
        "initial_state_patch": [{"op": "replace", "path": ["boats", "gull", "berth"], "new": "b-2"}],
        "expected_actions": [{"name": "moor", "requestor": "user"}, {"name": "moor", "arguments": {"id": "gull"}}],
        "expected_state_diff": [{"op": "remove", "path": ["boats", "gull"]}],
    }  # fmt: skip
    files = {
        "tasks_dock.json": {
            "tasks": [odd, TASK | {"task_id": "2", "instruction": "{{secret}}", "communicate_info": ["x"]}]
        },
        "state_dock_initial.json": BOATS,
        "tools_dock.json": {"tools": [MOOR], "write_tools": ["moor"]},
    }  # fmt: skip

    imported = right(FORMATS["tau2"](files, "clerk"))

    case = imported.documents["cases/tau2-dock/tau2-dock-1.yaml"]
    assert case["checks"] == [{"check": "end_state", "deleted": [{"type": "boats", "key": "gull"}]}]
    assert case["solution"] == {"calls": [{"tool": "moor", "arguments": {"id": "gull"}}]}
    assert {
        "ticket", "persona", "env_assertions", "gold actions that fail", "actions of the person", "a start of its own",
        "text in double braces",
    } <= parts(imported)  # fmt: skip
    assert dict(imported.counted)["ticket"] == 1


def test_a_suite_of_agentdojo_may_hold_lists_texts_and_names_that_are_none():
    state = {
        "web": {"pages": {"a.example": "text", "b.example": "more"}, "seen": [], "an odd name": 1},
        "bank": {"balance": 5.0, "moves": [{"id": 1, "text": "x"}], "9x": {"y": {"an odd key": 1}}},
    }
    task = {
        "domain": "town", "task_id": "user_task_0", "prompt": "Pay.", "kind": "user_task",
        "initial_state_patch": [{"op": "replace", "path": ["bank", "balance"], "new": 6.0}],
        "expected_state_diff": [
            {"op": "add", "path": ["bank", "moves", 1], "new": {"id": 2, "text": "a b c d e"}},
            {"op": "remove", "path": ["web", "pages", "b.example"]},
        ],
        "gold_action_errors": ["x"],
    }  # fmt: skip
    braces = task | {"task_id": "user_task_1", "prompt": "{{pay}}"}
    files = {
        "tasks.jsonl": [task, braces, 5, {}],
        "state_town_initial.json": state,
        "tools_town.json": {"tools": [MOOR]},
    }

    imported = right(FORMATS["agentdojo"](files, "clerk"))

    (check,) = imported.documents["cases/agentdojo-town/agentdojo-town-user-task-0.yaml"]["checks"]
    assert check["created"] == [
        {"type": "bank_moves", "key": "1", "properties": {"id": {"equals": 2}}}
    ]
    assert check["deleted"] == [{"type": "web_pages", "key": "b.example"}]
    assert {"a start of its own", "text in double braces", "gold actions that fail"} <= parts(
        imported
    )
    assert imported.tasks == 2


def test_a_configuration_of_promptfoo_may_be_as_small_as_it_gets_or_made_by_code():
    small = {
        "prompts": "Say {{word.of_day}}",
        "tests": [
            {"vars": {"word": {"of_day": "ahoi"}}, "assert": [{"type": "contains", "value": 4}]}
        ],
    }
    coded = {
        "prompts": [
            {"raw": '[{"role": "user", "content": "Hi"}]', "label": "chat"},
            {"id": 5},
            "[no json",
        ],
        "tests": [
            {
                "assert": [
                    {"type": "equals", "value": "x"},
                    "odd",
                    {"type": "regex", "value": "("},
                ],
                "threshold": 1,
            }
        ],
        "providers": [
            {
                "id": "openai:o-2026-01-01",
                "label": "One",
                "config": {"temperature": 1, "max_tokens": 9},
            },
            {"exec:x": {}},
        ],
        "redteam": {"x": 1},
    }

    one = right(FORMATS["promptfoo"]({"a/promptfooconfig.yaml": small}, "desk"))
    two = right(FORMATS["promptfoo"]({"promptfooconfig.yaml": coded}, "desk"))

    assert one.documents["cases/promptfoo-a/promptfoo-a-1.yaml"]["task"] == "Say ahoi"
    arm = two.documents["arms/one.yaml"]
    assert (arm["adapter"]["temperature"], arm["adapter"]["max_tokens"]) == (1.0, 9)
    assert [doc["title"] for doc in two.documents.values() if doc["kind"] == "case"] == [
        "test 1.1 (chat): Hi", "test 1.2: [no json",
    ]  # fmt: skip
    assert {
        "prompts made by code",
        "assert `assert-set`",
        "assert `regex`",
        "redteam",
        "providers",
    } <= parts(two)
    assert "`threshold` of a test" in parts(two)


def test_ids_and_titles_are_made_of_whatever_there_is():
    assert id_of("Tau 2", "Dock/9", None) == "tau-2-dock-9-none"
    assert id_of("ü" * 9) == "imported"
    assert len(id_of("x" * 200)) == 80
    assert line("a\n b  c") == "a b c"
    assert line("x " * 200, 10) == "x x x x x…"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "name"),
    [("tau2", "tasks.json"), ("agentdojo", "tasks.json"), ("promptfoo", "promptfooconfig.yaml")],
)
@settings(max_examples=30, derandomize=True)
@given(value=JSON)
def test_what_is_no_task_at_all_comes_to_nothing(shape: str, name: str, value: Any):
    assert FORMATS[shape]({name: value}, "clerk").documents == {}
