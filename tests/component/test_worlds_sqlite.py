"""A world of kind `sqlite`: real databases, copied for each trial and compared row by row."""

import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import practice

from seatrial.errors import ToolServerError, WorldError
from seatrial.state import apply, difference, state_from_json
from seatrial.state.validate import world_problems
from seatrial.trace import Change
from seatrial.worlds import WorldCopy, file_problems, staged

SCRIPT = """
CREATE TABLE member (id TEXT PRIMARY KEY, name TEXT NOT NULL, balance REAL NOT NULL DEFAULT 0);
CREATE TABLE loan (
  number INTEGER PRIMARY KEY,
  member TEXT NOT NULL REFERENCES member (id) ON DELETE CASCADE,
  at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE copy (title TEXT, shelf INTEGER, lent INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (title, shelf));
CREATE TABLE note (text TEXT, picture BLOB);
INSERT INTO member VALUES ('m-1', 'Ada Berg', 20), ('m-2', 'Tom Vik', 3.5);
INSERT INTO loan VALUES (1, 'm-1', '2026-05-01 10:00:00');
INSERT INTO copy VALUES ('Tides', 1, 0), ('Tides', 2, 1);
INSERT INTO note VALUES ('first', x'00FF');
CREATE TRIGGER noted AFTER INSERT ON loan
  BEGIN INSERT INTO note VALUES ('lent to ' || NEW.member, NULL); END;
"""
LIBRARY = """
kind: fixture
type: world
world: sqlite
id: library
now: 2026-05-04T11:30:00Z
script: fixtures/library.sql
by_rowid: [note]
tools:
  list_members:
    description: All members.
    read_only: true
    sql: SELECT id, name, balance FROM member ORDER BY id
  lend:
    description: Lend a book.
    parameters:
      type: object
      properties: {member: {type: string}, days: {type: integer, default: 14}}
      required: [member]
    answer: row
    statements:
      - sql: SELECT 1 FROM member WHERE id = :member AND balance >= 5
        otherwise: "{{args.member}} cannot borrow for {{args.days}} days."
      - sql: INSERT INTO loan (member) VALUES (:member) RETURNING number, at, date(at, :days || ' days') AS due
  pay:
    description: Pay something in.
    parameters: {type: object, properties: {member: {type: string}, amount: {type: number}}}
    sql: UPDATE member SET balance = balance + :amount WHERE id = :member
    otherwise: There is no such member.
  remove_member:
    description: Remove a member.
    destructive: true
    parameters: {type: object, properties: {member: {type: string}}}
    sql: DELETE FROM member WHERE id = :member
  shelve:
    description: Put a copy on a shelf.
    parameters: {type: object, properties: {title: {type: string}, shelf: {type: integer}, tags: {type: array}}}
    sql: INSERT INTO copy (title, shelf, lent) VALUES (:title, :shelf, coalesce(json_array_length(:tags), 0))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "fixtures"
    folder.mkdir()
    (folder / "library.sql").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


def library(**changes: Any):
    return practice.world(LIBRARY, **changes)


def tool(sql: str, **more: Any) -> dict[str, Any]:
    return {"do": {"description": "Do it.", "sql": sql, **more}}


def problems(root: Path, **changes: Any) -> dict[str, str]:
    fixture = library(**changes)
    return {**dict(world_problems(fixture)), **dict(file_problems(fixture, root))}


# --- tools ---


def test_a_query_gives_rows_as_structured_content(root: Path):
    played = practice.play(library(), root, ("list_members", {}))

    assert played.answers[0].structured == {
        "rows": [
            {"id": "m-1", "name": "Ada Berg", "balance": 20.0},
            {"id": "m-2", "name": "Tom Vik", "balance": 3.5},
        ]
    }
    assert (played.changes, played.versions) == ((), [0])


def test_statements_are_carried_out_all_or_none(root: Path):
    played = practice.play(
        library(), root, ("lend", {"member": "m-2"}), ("lend", {"member": "m-1"})
    )

    assert played.texts[0] == "!m-2 cannot borrow for 14 days."
    assert played.answers[1].structured == {
        "number": 2,
        "at": "2026-05-04 11:30:00",
        "due": "2026-05-18",
    }
    assert played.versions == [0, 1]
    assert played.changes == (
        Change(
            what="created",
            type="loan",
            key="2",
            new={"number": 2, "member": "m-1", "at": "2026-05-04 11:30:00"},
        ),
        Change(what="created", type="note", key="2", new={"text": "lent to m-1", "picture": None}),
    )


def test_rows_are_compared_by_primary_key_and_column(root: Path):
    calls: list[practice.Call] = [
        ("pay", {"member": "m-2", "amount": 1.5}),
        ("shelve", {"title": "Tides", "shelf": 3, "tags": ["old", "torn"]}),
        ("remove_member", {"member": "m-1"}),
    ]
    played = practice.play(library(), root, *calls)

    assert played.changes == (
        Change(
            what="created",
            type="copy",
            key='["Tides", 3]',
            new={"title": "Tides", "shelf": 3, "lent": 2},
        ),
        Change(
            what="deleted",
            type="loan",
            key="1",
            old={"number": 1, "member": "m-1", "at": "2026-05-01 10:00:00"},
        ),
        Change(
            what="deleted",
            type="member",
            key="m-1",
            old={"id": "m-1", "name": "Ada Berg", "balance": 20.0},
        ),
        Change(what="changed", type="member", key="m-2", property="balance", old=3.5, new=5.0),
    )


def test_what_the_database_refuses_is_told_to_the_agent_and_changes_nothing(root: Path):
    calls: list[practice.Call] = [
        ("shelve", {"title": "Tides", "shelf": 1}),
        ("pay", {"member": "m-9", "amount": 1}),
        ("shelve", {"title": "Tides", "shelf": 2**70}),
    ]
    played = practice.play(library(), root, *calls)

    assert played.texts == [
        "!shelve: UNIQUE constraint failed: copy.title, copy.shelf.",
        "!There is no such member.",
        "!shelve: a number is too large.",
    ]
    assert (played.changes, played.versions) == ((), [0, 0, 0])


def test_a_write_that_leaves_everything_as_it_was_is_no_change(root: Path):
    played = practice.play(
        library(), root, ("pay", {"member": "m-1", "amount": 0}), ("pay", {"member": "m-1"})
    )

    assert played.versions[0] == 0
    assert played.texts[1] == "!pay: NOT NULL constraint failed: member.balance."


def test_binary_content_and_what_no_text_can_hold_are_compared_too(root: Path):
    fixture = library(
        tools=tool(
            "UPDATE note SET picture = :n, text = CAST(x'C328' AS TEXT)",
            parameters={"type": "object", "properties": {"n": {"type": "integer"}}},
        )
    )
    played = practice.play(fixture, root, ("do", {"n": 5}))

    assert {(c.property, str(c.old), str(c.new)) for c in played.changes} == {
        ("picture", "{'base64': 'AP8='}", "5"),
        ("text", "first", "{'base64': 'wyg='}"),
    }


def test_moments_are_the_trials_and_chance_is_its_seeds(root: Path):
    asks = (
        "SELECT datetime() AS a, date('now') AS b, strftime('%Y', 'now') AS c, CURRENT_DATE AS d, "
        "random() AS e, :now AS f, :today AS g, :run AS h, datetime('2026-01-01', '+1 day') AS i"
    )
    fixture = library(tools=tool(asks, read_only=True, answer="row"))
    first, again, other = (
        practice.play(fixture, root, ("do", {}), seed=seed).answers[0].structured
        for seed in (1, 1, 2)
    )

    assert first == again
    assert first["e"] != other["e"]
    del first["e"]
    assert first == {
        "a": "2026-05-04 11:30:00",
        "b": "2026-05-04",
        "c": "2026",
        "d": "2026-05-04",
        "f": "2026-05-04T11:30:00Z",
        "g": "2026-05-04",
        "h": "r-1",
        "i": "2026-01-02 00:00:00",
    }


def test_two_rows_that_cannot_be_told_apart_are_the_worlds_fault(root: Path):
    """A column without a type takes 1 and '1' for different keys; as keys of objects they are one."""
    table = "CREATE TABLE odd (id PRIMARY KEY, n INTEGER); INSERT INTO odd VALUES (1, 0);"
    text = LIBRARY.replace("script: fixtures/library.sql", "start: BEGIN")
    add = tool("INSERT INTO odd VALUES ('1', 1)")

    with pytest.raises(WorldError, match="two rows of table 'odd' have the key '1'"):
        practice.play(practice.world(text, start=table, by_rowid=[], tools=add), root, ("do", {}))
    start = table + "INSERT INTO odd VALUES ('1', 1);"
    with pytest.raises(WorldError, match="two rows of table 'odd' have the key '1'"):
        practice.play(practice.world(text, start=start, by_rowid=[], tools=add), root)


# --- copies ---


def test_a_database_file_of_the_repository_is_copied_and_never_written(root: Path):
    file = root / "fixtures" / "library.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript("PRAGMA journal_mode = WAL;" + SCRIPT)
    connection.close()
    before = file.read_bytes()
    fixture = practice.world(
        LIBRARY.replace("script: fixtures/library.sql", "database: fixtures/library.sqlite")
    )
    played = practice.play(fixture, root, ("remove_member", {"member": "m-1"}))

    assert {(c.what, c.type) for c in played.changes} == {
        ("deleted", "loan"),
        ("deleted", "member"),
    }
    assert file.read_bytes() == before
    assert sorted(f.name for f in file.parent.iterdir()) == ["library.sql", "library.sqlite"]


def test_trials_side_by_side_never_see_each_other_and_leave_no_file(root: Path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(root))
    fixture, found = library(), {}

    async def trial(stage, number: int) -> None:
        async with stage.open(fixture, run_token=f"r-{number}", seed=number) as copy:
            for _ in range(number):
                await copy.call("lend", {"member": "m-1"})
            found[number] = len([c for c in await copy.difference() if c.type == "loan"])

    async def main() -> None:
        with anyio.fail_after(60):
            async with staged(root) as stage, anyio.create_task_group() as trials:
                for number in range(8):
                    trials.start_soon(trial, stage, number)

    anyio.run(main)

    assert found == {number: number for number in range(8)}
    assert [f.name for f in root.iterdir()] == ["fixtures"]


WRITES = st.lists(
    st.one_of(
        st.tuples(
            st.just("pay"),
            st.fixed_dictionaries(
                {
                    "member": st.sampled_from(["m-1", "m-2", "m-3"]),
                    "amount": st.sampled_from([0, -1, 9]),
                }
            ),
        ),
        st.tuples(
            st.just("shelve"),
            st.fixed_dictionaries(
                {"title": st.sampled_from(["Tides", "1", ""]), "shelf": st.integers(1, 3)}
            ),
        ),
        st.tuples(
            st.sampled_from(["lend", "remove_member"]),
            st.fixed_dictionaries({"member": st.sampled_from(["m-1", "m-2"])}),
        ),
    ),
    max_size=5,
)


@given(WRITES)
def test_carrying_out_the_difference_on_the_start_gives_the_end(calls):
    fixture = practice.world(
        LIBRARY.replace("script: fixtures/library.sql", "start: BEGIN"), start=SCRIPT
    )
    played = practice.play(fixture, Path("nowhere"), *calls)
    raw = state_from_json(played.end.to_json())

    assert difference(played.start, played.start) == ()
    assert apply(played.changes, played.start) == raw
    assert difference(played.start, raw) == played.changes
    changed = [b - a for a, b in zip([0, *played.versions], played.versions, strict=False)]
    assert all(not a.is_error or not step for a, step in zip(played.answers, changed, strict=True))


def test_what_was_read_of_tables_that_were_written_is_all_there_is(root: Path):
    """Only tables that SQLite says a statement writes are read again: nothing else may have changed."""

    async def use(copy: Any) -> tuple[Any, Any]:
        for member in ("m-1", "m-1", "m-2"):
            await copy.call("lend", {"member": member})
            await copy.call("remove_member", {"member": member})
        whole = copy._start.tables.state(copy._start.tables.read(copy._connection))
        return whole, await copy.captured()

    whole, kept = practice.opened(library(), root, use)

    assert whole == kept


# --- what is wrong with it ---


@pytest.mark.parametrize(
    ("tools", "where", "message"),
    [
        (tool("SELEC 1"), "tools.do.sql", 'SQLite does not take it: near "SELEC": syntax error'),
        (
            tool("SELECT 1; SELECT 2"),
            "tools.do.sql",
            "SQLite does not take it: You can only execute one statement at a time.",
        ),
        (
            tool("DELETE FROM note", read_only=True),
            "tools.do.sql",
            "a `read_only` tool may not DELETE note",
        ),
        (tool("DROP TABLE note"), "tools.do.sql", "a tool may not DROP TABLE note"),
        (tool("ATTACH 'x.db' AS x"), "tools.do.sql", "a tool may not ATTACH x.db"),
        (tool("PRAGMA query_only = 0"), "tools.do.sql", "a tool may not PRAGMA query_only"),
        (tool("COMMIT"), "tools.do.sql", "a tool may not TRANSACTION COMMIT"),
        (
            tool(
                "SELECT :mebmer",
                read_only=True,
                parameters={"type": "object", "properties": {"member": {}}},
            ),
            "tools.do.sql",
            ":mebmer is no argument; did you mean 'member'?",
        ),
        (
            tool("SELECT 1", otherwise="No {{args.member}}.", read_only=True),
            "tools.do.otherwise",
            '"member" is no argument',
        ),
        (
            tool("SELECT 1", otherwise="No {{member}}."),
            "tools.do.otherwise",
            '"member" stands for nothing; write `args.…`, `now`, `today` or `run`',
        ),
        (
            tool("SELECT 1", parameters={"type": "list"}),
            "tools.do.parameters",
            "is no JSON Schema: 'list' is not valid under any of the given schemas (at type)",
        ),
    ],
)
def test_a_tool_that_cannot_work_is_found_before_anything_runs(root: Path, tools, where, message):
    assert problems(root, tools=tools) == {where: message}


def test_a_table_without_a_primary_key_is_refused_until_the_fixture_says_how(root: Path):
    assert problems(root, by_rowid=()) == {
        "by_rowid": "table 'note' has no primary key: give it one, or name it under `by_rowid` (its "
        "rows are then told apart by their rowid) or `leave_out`"
    }
    assert problems(root, by_rowid=(), leave_out=["note"]) == {}
    assert problems(root, leave_out=["notes"]) == {
        "leave_out[0]": "there is no table 'notes'; did you mean 'note'?"
    }


def test_a_file_that_is_no_database_and_a_script_that_fails_are_told(root: Path):
    (root / "fixtures" / "broken.sql").write_text("CREATE TABLE a (id PRIMARY KEY); NONSENSE")
    (root / "fixtures" / "reach.sql").write_text("ATTACH 'elsewhere.db' AS e")
    (root / "fixtures" / "odd.sqlite").write_text("no database at all" * 100)

    assert problems(root, script="fixtures/broken.sql") == {
        "script": 'fixtures/broken.sql cannot be carried out: near "NONSENSE": syntax error'
    }
    assert problems(root, script="fixtures/reach.sql") == {
        "script": "fixtures/reach.sql cannot be carried out: not authorized"
    }
    fixture = practice.world(
        LIBRARY.replace("script: fixtures/library.sql", "database: fixtures/odd.sqlite")
    )
    assert dict(file_problems(fixture, root)) == {
        "database": "fixtures/odd.sqlite is no database that SQLite can read: file is not a database"
    }


def test_changes_that_stand_in_the_write_ahead_log_only_are_not_lost_in_silence(root: Path):
    file = root / "fixtures" / "live.sqlite"
    connection = sqlite3.connect(file)
    connection.executescript("PRAGMA journal_mode = WAL;" + SCRIPT)
    fixture = practice.world(
        LIBRARY.replace("script: fixtures/library.sql", "database: fixtures/live.sqlite")
    )
    try:
        with pytest.raises(WorldError, match=r"stand in fixtures/live\.sqlite-wal only") as caught:
            practice.play(fixture, root)
    finally:
        connection.close()
    assert "wal_checkpoint" in caught.value.hint


def test_a_database_in_the_middle_of_a_change_is_not_read_as_it_stands(root: Path):
    file = root / "live.sqlite"
    connection = sqlite3.connect(file, isolation_level=None)
    connection.executescript(SCRIPT + "; CREATE TABLE filler (id INTEGER PRIMARY KEY, text)")
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN")
    for number in range(200):  # more than fits the cache, so that parts are written before the end
        connection.execute("INSERT INTO filler VALUES (?, ?)", (number, "x" * 2000))
    # What another process would find if this one were killed now.
    for name in ("live.sqlite", "live.sqlite-journal"):
        shutil.copy(root / name, root / "fixtures" / name)
    connection.execute("ROLLBACK")
    connection.close()
    fixture = practice.world(
        LIBRARY.replace("script: fixtures/library.sql", "database: fixtures/live.sqlite")
    )

    with pytest.raises(WorldError, match=r"fixtures/live\.sqlite is in the middle of a change"):
        practice.play(fixture, root)
    with sqlite3.connect(root / "fixtures" / "live.sqlite") as other:
        other.execute("PRAGMA user_version").fetchone()  # as the hint says
    assert "filler" not in practice.play(fixture, root).start.types()


def test_a_statement_that_goes_on_for_ever_is_the_worlds_fault(root: Path, monkeypatch):
    monkeypatch.setattr("seatrial.worlds.sqlite.copy.CALL_SECONDS", 0.05)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    with pytest.raises(ToolServerError, match=r"tools\.do.sql cannot be carried out: interrupted"):
        practice.play(library(tools=tool(endless, read_only=True)), root, ("do", {}))


def test_an_answer_that_does_not_fit_its_output_is_the_worlds_fault(root: Path):
    output = {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
    }
    fixture = library(tools=tool("SELECT 'x' AS number", answer="row", output=output))

    with pytest.raises(WorldError, match=r"the answer of tools\.do does not fit its `output`"):
        practice.play(fixture, root, ("do", {}))


def test_a_world_of_this_kind_is_a_tool_server(root: Path):
    async def use(copy: WorldCopy) -> Any:
        return copy.name, copy.instructions, [t.as_mcp() for t in copy.tools()]

    name, instructions, tools = practice.opened(library(), root, use)

    assert (name, instructions) == ("library", "")
    assert [t["name"] for t in tools] == ["list_members", "lend", "pay", "remove_member", "shelve"]
    assert tools[3]["annotations"] == {"readOnlyHint": False, "destructiveHint": True}
    assert tools[3]["inputSchema"]["additionalProperties"] is False
