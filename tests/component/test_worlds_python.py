"""A world of kind `python`: functions of a repository over a trial's state."""

import sys
import textwrap
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests import practice

from seatrial.errors import WorldError
from seatrial.state import apply, difference, state_from_json
from seatrial.state.validate import world_problems
from seatrial.trace import Change
from seatrial.worlds import WorldCopy, file_problems, staged
from seatrial.worlds.python.drafts import WorkingCopy

MODULE = '''
import asyncio
import datetime as dt
import time
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict


class Refused(Exception):
    pass


class Receipt(TypedDict):
    balance: float


def balance(state, account: Annotated[str, Field(description="Its number")]) -> Receipt:
    """Look a balance up."""
    if account not in state["account"]:
        raise ValueError(f"There is no account {account}.")
    return {"balance": state["account"][account]["balance"]}


def transfer(state, source: str, target: str, amount: float, note: Literal["gift", "rent"] = "gift"):
    """Transfer money.

    It goes from source to target at once.
    """
    state["account"][source]["balance"] -= amount
    if state["account"][source]["balance"] < 0:
        raise Refused("That is more than there is.")
    state["account"][target]["balance"] += amount


async def open_account(state, owner: str, *, trial):
    """Open an account."""
    await asyncio.sleep(0)
    key = trial.new_id("account")
    state["account"][key] = {"owner": owner, "balance": 0, "since": trial.now.date().isoformat()}
    print("\\x1b]0;owned\\x07")
    return key


def close(state, account: str):
    del state["account"][account]


def close_account(state, account: str):
    """Close an account."""
    close(state, account)


def book(state, day: dt.date) -> str:
    """Book a day."""
    state.setdefault("booking", {})[day.isoformat()] = {"weekday": day.strftime("%a")}
    return day.strftime("%a")


def peek(state):
    """Only look, it says."""
    state["account"]["a-1"]["balance"] = 1


def fail(state):
    """Fail."""
    return 1 / 0


def spoil(state, how: str):
    """Leave something that is no state."""
    if how == "object":
        state["account"]["a-1"] = ["x"]
    elif how == "value":
        state["account"]["a-1"]["since"] = dt.date(2026, 1, 1)
    elif how == "type":
        state["account"] = 3
    elif how == "answer":
        return object()
    elif how == "half":
        state["account"]["a-1"]["owner"] = "half \\ud800"
    elif how == "half-answer":
        return "half \\ud800"
    elif how == "number":
        state["account"]["a-1"]["balance"] = float("nan")


def hang(state):
    """Hang."""
    state["account"]["a-1"]["balance"] = -1
    while True:
        time.sleep(0.01)
        state["account"]["a-1"]["balance"] -= 1
'''
LEDGER = """
kind: fixture
type: world
world: python
id: ledger
now: 2026-05-04T11:30:00Z
module: {module}
start:
  account:
    a-1: {{owner: Ada, balance: 20}}
    a-2: {{owner: Tom, balance: 3.5}}
refusals: [ValueError, "{module}:Refused"]
tools:
  balance: {{read_only: true}}
  transfer: {{}}
  open_account: {{}}
  close_account: {{destructive: true}}
  book: {{}}
  peek: {{read_only: true}}
  fail: {{}}
  spoil: {{}}
  hang: {{}}
"""


@pytest.fixture
def module(tmp_path: Path, request: Any) -> str:
    """A module in a folder of its own, under a name that no other test imports."""
    name = f"ledger_{abs(hash(request.node.nodeid))}"
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    return name


@pytest.fixture(autouse=True)
def _forget_modules():
    before, paths = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = paths
    for name in set(sys.modules) - before:
        if name.startswith(("ledger_", "worlds_")):
            del sys.modules[name]


def ledger(module: str, **changes: Any):
    return practice.world(LEDGER.format(module=module), **changes)


# --- tools ---


def test_tools_come_from_signatures_and_docstrings(tmp_path: Path, module: str):
    async def use(copy: WorldCopy) -> Any:
        return copy.name, {tool.name: tool.as_mcp() for tool in copy.tools()}

    name, tools = practice.opened(ledger(module), tmp_path, use)

    assert name == "ledger"
    assert tools["balance"] == {
        "name": "balance",
        "description": "Look a balance up.",
        "inputSchema": {
            "type": "object",
            "properties": {"account": {"type": "string", "description": "Its number"}},
            "required": ["account"],
            "additionalProperties": False,
        },
        "outputSchema": {
            "properties": {"balance": {"type": "number"}},
            "required": ["balance"],
            "title": "Receipt",
            "type": "object",
        },
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
    }
    assert tools["transfer"]["description"] == (
        "Transfer money.\n\nIt goes from source to target at once."
    )
    assert tools["transfer"]["inputSchema"]["properties"]["note"] == {
        "type": "string",
        "enum": ["gift", "rent"],
        "default": "gift",
    }
    assert tools["transfer"]["inputSchema"]["required"] == ["source", "target", "amount"]
    assert list(tools["open_account"]["inputSchema"]["properties"]) == ["owner"]
    assert tools["close_account"]["annotations"]["destructiveHint"] is True


def test_functions_change_the_state_in_place(tmp_path: Path, module: str):
    played = practice.play(
        ledger(module),
        tmp_path,
        ("balance", {"account": "a-1"}),
        ("transfer", {"source": "a-1", "target": "a-2", "amount": 5}),
        ("open_account", {"owner": "Eva"}),
        ("close_account", {"account": "a-2"}),
        ("book", {"day": "2026-05-04"}),
    )
    key = played.texts[2]

    assert played.answers[0].structured == {"balance": 20}
    assert played.texts[1:] == ["done", key, "done", "Mon"]
    assert played.versions == [0, 1, 2, 3, 4]
    assert played.changes == (
        Change(what="changed", type="account", key="a-1", property="balance", old=20, new=15),
        Change(what="deleted", type="account", key="a-2", old={"owner": "Tom", "balance": 3.5}),
        Change(
            what="created",
            type="account",
            key=key,
            new={"owner": "Eva", "balance": 0, "since": "2026-05-04"},
        ),
        Change(what="created", type="booking", key="2026-05-04", new={"weekday": "Mon"}),
    )


def test_a_type_of_the_start_is_there_when_it_has_no_object_or_none_any_more(
    tmp_path: Path, module: str
):
    nobody = practice.play(
        ledger(module, start={"account": {}}), tmp_path, ("balance", {"account": "a-1"})
    )
    closed = practice.play(
        ledger(module, start={"account": {"a-1": {"balance": 0}}}),
        tmp_path,
        ("close_account", {"account": "a-1"}),
        ("balance", {"account": "a-1"}),
        ("open_account", {"owner": "Eva"}),
    )

    assert nobody.texts == ["!There is no account a-1."]
    assert closed.texts[:2] == ["done", "!There is no account a-1."]
    assert [(c.what, c.type) for c in closed.changes] == [
        ("deleted", "account"),
        ("created", "account"),
    ]


def test_what_a_function_refuses_leaves_the_state_as_it_was(tmp_path: Path, module: str):
    played = practice.play(
        ledger(module),
        tmp_path,
        ("balance", {"account": "a-9"}),
        ("transfer", {"source": "a-1", "target": "a-2", "amount": 50}),
        ("book", {"day": "tomorrow"}),
        ("book", {"day": "2026-05-04", "hour": 3}),
    )

    assert played.texts[:2] == ["!There is no account a-9.", "!That is more than there is."]
    assert played.texts[2].startswith("!book: argument `day`: Input should be a valid date")
    assert played.texts[3] == "!book: argument `hour` is unknown."
    assert (played.changes, played.versions) == ((), [0, 0, 0, 0])


def test_ids_come_from_the_seed_and_prints_never_reach_the_terminal(
    tmp_path: Path, module: str, capsys
):
    ids = [
        practice.play(ledger(module), tmp_path, ("open_account", {"owner": "Eva"}), seed=s).texts[0]
        for s in (1, 1, 2)
    ]

    assert ids[0] == ids[1] != ids[2]
    assert "owned" not in capsys.readouterr().out


def test_the_start_can_be_a_file_and_a_function_can_have_another_name(tmp_path: Path, module: str):
    (tmp_path / "start.json").write_text('{"account": {"a-3": {"balance": 1}}}')
    text = LEDGER.format(module=module).partition("start:")[0]
    fixture = practice.world(
        text + f"start_file: start.json\ntools: {{look: {{function: '{module}:balance'}}}}"
    )

    assert practice.play(fixture, tmp_path, ("look", {"account": "a-3"})).answers[0].structured == {
        "balance": 1
    }


# --- faults of the world ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ("fail", {}),
            r"tools\.fail raised ZeroDivisionError: division by zero \(ledger_.*\.py:\d+\)",
        ),
        (("transfer", {"source": "a-9", "target": "a-1", "amount": 1}), "raised KeyError: 'a-9'"),
        (("peek", {}), "tools.peek is `read_only`, and has changed the state"),
        (("spoil", {"how": "object"}), "account 'a-1' must be a mapping of properties, not list"),
        (("spoil", {"how": "value"}), "account 'a-1' holds what is no JSON: date is no JSON value"),
        (("spoil", {"how": "number"}), "account 'a-1' holds what is no JSON"),
        (("spoil", {"how": "half"}), "account 'a-1' holds what is no JSON: it has half characters"),
        (("spoil", {"how": "half-answer"}), r"the answer of tools\.spoil is no JSON: it has half"),
        (("spoil", {"how": "type"}), "'account' must map keys to objects, not be int"),
        (("spoil", {"how": "answer"}), "object is no JSON value"),
    ],
)
def test_a_function_that_breaks_is_the_worlds_fault(
    tmp_path: Path, module: str, call: practice.Call, message: str
):
    with pytest.raises(WorldError, match=message):
        practice.play(ledger(module), tmp_path, call)


def test_a_function_that_hangs_is_left_behind_and_changes_nothing(tmp_path: Path, module: str):
    async def use(copy: Any) -> Any:
        with pytest.raises(WorldError, match=r"tools\.hang took more than 0\.05 s"):
            await copy.call("hang", {})
        return await copy.difference()

    assert practice.opened(ledger(module, seconds=0.05), tmp_path, use) == ()


def test_roles_are_held_against_the_functions(tmp_path: Path, module: str):
    roles = {"clerk": {"allow": ["transfer"], "when": {"transfer": {"amonut": {"lt": 5}}}}}

    with pytest.raises(
        WorldError, match="transfer has no argument 'amonut'; did you mean 'amount'"
    ):
        practice.play(ledger(module, roles=roles), tmp_path)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def f(): 'Doc.'", "the first parameter of .*:f must be the state"),
        ("def f(*, state): 'Doc.'", "the first parameter of .*:f must be the state"),
        ("def f(state): pass", "has no docstring: it is what agents read of the tool"),
        ("def f(state, *more): 'Doc.'", r"`\*more` can be no argument of a tool; name each"),
        ("def f(state, **more): 'Doc.'", r"`\*\*more` can be no argument of a tool"),
        ("def f(state, a: 'Nowhere'): 'Doc.'", "the annotations of .*:f cannot be read: NameError"),
        (
            "class C: pass\ndef f(state, a: C): 'Doc.'",
            "`a` is of a type that arguments and answers cannot have",
        ),
        ("x = 1", "has no function 'f'"),
        ("def f(state): 'Doc.'\n1/0", "cannot be imported: ZeroDivisionError"),
    ],
)
def test_a_function_that_is_no_tool_is_told(tmp_path: Path, request, code: str, message: str):
    name = f"worlds_{abs(hash(request.node.nodeid))}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(code))
    fixture = ledger(name, tools={"f": {}}, refusals=[])

    with pytest.raises(WorldError, match=message):
        practice.play(fixture, tmp_path)


# --- what the files show without being run ---


def test_what_is_not_in_the_module_is_found_without_running_it(tmp_path: Path):
    (tmp_path / "worlds_a.py").write_text(
        "raise SystemExit('never run')\nimport os.path as paths\nfrom x import imported\n"
        "def balance(state): 'Doc.'\ndef bare(): 'Doc.'\ndef silent(state): pass\n"
    )
    (tmp_path / "worlds_b.py").write_text("from elsewhere import *\n")
    (tmp_path / "worlds_c.py").write_text("def (")
    tools: dict[str, Any] = {
        "balance": {},
        "balence": {},
        "imported": {},
        "paths": {},
        "bare": {},
        "silent": {},
        "anything": {"function": "worlds_b:anything"},
        "broken": {"function": "worlds_c:f"},
    }
    found = dict(file_problems(ledger("worlds_a", tools=tools), tmp_path))

    assert found.pop("tools.broken").startswith("module worlds_c is no Python: invalid syntax")
    assert found == {
        "tools.balence": "module worlds_a has no function 'balence'; did you mean 'balance'?",
        "tools.bare": "the first parameter of bare must be the state",
        "tools.silent": "silent has no docstring: it is what agents read of the tool",
    }
    assert "worlds_a" not in sys.modules


def test_a_start_that_is_no_state_is_told(tmp_path: Path, module: str):
    text = LEDGER.format(module=module).partition("start:")[0] + "start_file: s.json\n"
    fixture = practice.world(text + "tools: {balance: {}}")

    (tmp_path / "s.json").write_text("{")
    assert "s.json is no JSON" in dict(file_problems(fixture, tmp_path))["start_file"]
    (tmp_path / "s.json").write_text('{"account": [1]}')
    assert dict(file_problems(fixture, tmp_path)) == {
        "start_file": "the starting state: 'account' must map keys to objects, not be a list"
    }


def test_documents_that_cannot_be_meant_are_refused(module: str):
    with pytest.raises(ValidationError, match="write `start`"):
        ledger(module, start_file="x.json")
    with pytest.raises(ValidationError, match="module"):
        ledger("../x")
    assert world_problems(
        ledger(module, tools={"f": {"read_only": True, "destructive": True}})
    ) == [("tools.f.destructive", "a `read_only` action destroys nothing")]


def test_the_module_is_among_the_files_of_the_world(module: str):
    fixture = ledger("worlds.ledger", tools={"f": {"function": "elsewhere:f"}})

    assert fixture.files() == {
        "module": ("worlds/ledger.py", "worlds/ledger/**/*.py", "worlds/__init__.py"),
        "tools.f.function": ("elsewhere.py", "elsewhere/**/*.py"),
    }


# --- copies ---


def test_trials_side_by_side_never_see_each_other(tmp_path: Path, module: str):
    fixture, found = ledger(module), {}

    async def trial(stage: Any, number: int) -> None:
        async with stage.open(fixture, run_token="r", seed=number) as copy:
            for _ in range(number):
                await copy.call("transfer", {"source": "a-1", "target": "a-2", "amount": 1})
            found[number] = [c.new for c in await copy.difference()]

    async def main() -> None:
        with anyio.fail_after(60):
            async with staged(tmp_path) as stage, anyio.create_task_group() as trials:
                for number in range(6):
                    trials.start_soon(trial, stage, number)

    anyio.run(main)

    assert found == {n: [20 - n, 3.5 + n] if n else [] for n in range(6)}


KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)
RAW = st.dictionaries(
    KEYS, st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=2), max_size=3), max_size=3
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["set", "del", "pop", "popitem", "setdefault", "update", "values", "items", "clear",
             "replace", "type", "copy", "get"]
        ),
        KEYS,
        KEYS,
        VALUES,
    ),
    max_size=8,
)  # fmt: skip


def work(state: dict[str, Any], steps: Any) -> None:
    """What a function may do to a mapping of mappings of mappings."""
    for step, type, key, value in steps:
        keyed = state.get(type)
        if step == "type":
            state.pop(type, None)
        elif keyed is None:
            state[type] = {key: {"v": value}}
        elif step == "set":
            keyed[key] = {"v": value}
        elif step == "del" and key in keyed:
            del keyed[key]
        elif step == "pop":
            popped = keyed.pop(key, None)
            if popped is not None:
                popped["v"] = value
                keyed["c"] = popped
        elif step == "popitem" and keyed:
            keyed.popitem()[1].clear()
        elif step == "setdefault":
            keyed.setdefault(key, {})["v"] = value
        elif step == "update":
            keyed.update({key: {"v": value}})
        elif step == "values":
            for properties in keyed.values():
                properties["v"] = value
        elif step == "items":
            for name, properties in keyed.items():
                if name == key:
                    properties.clear()
        elif step == "clear":
            keyed.clear()
        elif step == "replace":
            state[type] = {**keyed, key: {"v": value}}
        elif step == "copy":
            state[type] = dict(keyed)
            state[type].setdefault(key, {})["w"] = value
        elif step == "get":
            found = keyed.get(key)
            if found is not None:
                found["v"] = value


@given(RAW, STEPS)
def test_a_working_copy_is_like_a_deep_copy_and_never_touches_its_source(raw, steps):
    state = state_from_json(raw)
    before = state.to_json()
    lazy, plain = WorkingCopy(state), state.to_json()
    work(lazy.state, steps)
    work(plain, steps)
    after = lazy.collected()

    assert after.to_json() == {type: keyed for type, keyed in plain.items() if keyed}
    assert state.to_json() == before
    assert apply(difference(state, after), state) == after
    assert difference(after, after) == ()
