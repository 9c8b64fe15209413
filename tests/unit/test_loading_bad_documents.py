"""One mistake at a time in a right repository: the place, the words and the code, each once."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import harbour

from seatrial import loading
from seatrial.errors import InvalidDocuments, Problem

TABLE = Path(__file__).parents[1] / "fixtures" / "bad_documents.yaml"
ROWS: list[dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))


def problems(changes: dict[str, str]) -> list[Problem]:
    with pytest.raises(InvalidDocuments) as caught:
        loading.load(harbour.contents(changes))
    return list(caught.value.problems)


def test_the_documents_that_are_broken_below_are_right():
    catalog = loading.load(harbour.contents())

    assert list(catalog.cases) == ["take-a-berth", "weather-in-turns"]
    assert catalog.place("case", "take-a-berth", "checks[1].changed[0].key") == (
        "cases/take.yaml:17:14"
    )
    assert [c.id for c in catalog.suite_cases(catalog.suites["all"])] == [
        "take-a-berth", "weather-in-turns",
    ]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['file']}: {r['there is']}"[:70] for r in ROWS])
def test_a_mistake_is_told_once_at_its_place(row: dict[str, Any]):
    right = harbour.FILES[row["file"]]
    assert row["instead of"] in right

    found = problems({row["file"]: right.replace(row["instead of"], row["there is"], 1)})

    assert [f"[{p.code}] {p.render()}" for p in found] == row["problems"]


def test_every_mistake_of_every_file_is_told_at_once():
    found = problems(
        {
            "cases/take.yaml": harbour.CASE.replace("title:", "titel:").replace("task\n", "tsk\n"),
            "cases/talk.yaml": harbour.TALK.replace("tool: take_berth", "tool: take"),
            "suites/all.yaml": harbour.SUITE.replace("trials: 3", "trials: [3"),
            "arms/released.yaml": harbour.ARM.replace("id: released", "id: released\nid: two"),
        }
    )

    assert [p.render() for p in found] == [
        "arms/released.yaml:3:1: key `id` stands twice, first at 2:1",
        "cases/take.yaml:3:1: unknown key `titel`; did you mean `title`?",
        "cases/take.yaml:4:8: `group`: `tsk` is unknown; did you mean `task`?",
        "cases/talk.yaml:18:11: world `harbour` offers no tool `take`. "
        "It has `show_berth`, `show_weather`, `take_berth`",
        "suites/all.yaml:7:1: expected `,` or `]` in the list that starts at 6:9",
    ]


def test_documents_before_the_place_where_a_file_breaks_off_are_checked_too():
    text = harbour.CASE.replace("group: task", "group: tsk") + "---\nkind: [\n"

    assert [(p.line, p.code) for p in problems({"cases/take.yaml": text})] == [
        (4, "wrong-value"), (24, "yaml"),
    ]  # fmt: skip


def test_an_id_in_a_file_that_cannot_be_read_is_not_called_dangling_as_well():
    found = problems({"fixtures/harbour.yaml": harbour.WORLD + "oops"})

    assert [p.path for p in found] == ["fixtures/harbour.yaml"]


def test_a_document_that_is_wrong_by_itself_is_not_called_missing_as_well():
    found = problems({"fixtures/harbour.yaml": harbour.WORLD.replace("now:", "new:")})

    assert [p.render() for p in found] == [
        "fixtures/harbour.yaml:4:1: unknown key `new`; did you mean `now`?"
    ]


def test_a_key_that_a_merge_would_have_brought_is_not_called_missing_as_well():
    text = harbour.CASE.replace("title: A free berth is given to a boat", "<<: {title: A berth}")

    assert [p.code for p in problems({"cases/take.yaml": text})] == ["merge-key"]


def test_the_place_behind_an_alias_is_where_its_anchor_stands():
    text = harbour.CASE.replace(
        "  - check: end_state\n", "  - &twice {check: tool_called, tol: take_berth}\n  - *twice\n"
        "  - check: end_state\n"
    )  # fmt: skip

    assert [p.render() for p in problems({"cases/take.yaml": text})] == [
        "cases/take.yaml:14:33: unknown key `tol`; did you mean `tool`?"
    ]


def test_places_hold_with_a_byte_order_mark_and_windows_line_ends():
    text = "\ufeff" + harbour.CASE.replace("group: task", "group: tsk").replace("\n", "\r\n")

    assert [(p.line, p.column) for p in problems({"cases/take.yaml": text})] == [(4, 8)]


def test_columns_count_characters_and_not_bytes():
    text = harbour.CASE.replace("tags: [berth]", "tags: [Ärger, 漢字, 🚢, 4]")

    assert [(p.line, p.column) for p in problems({"cases/take.yaml": text})] == [(8, 22)]


def test_two_documents_of_one_file_have_their_own_places():
    text = harbour.CASE + "---\n" + harbour.CASE.replace("group: task", "group: tsk")

    assert [p.render() for p in problems({"cases/take.yaml": text})] == [
        "cases/take.yaml:24:5: case `take-a-berth` is there already: cases/take.yaml:2:5. "
        "Ids are unique per kind",
        "cases/take.yaml:26:8: `group`: `tsk` is unknown; did you mean `task`?",
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("cases/take.yaml", harbour.CASE.replace("[berth]", f"[{', '.join(['1'] * 5000)}]")),
        ("cases/take.yaml", harbour.CASE + "".join(f"key{n}: 1\n" for n in range(5000))),
        ("cases/take.yaml", harbour.CASE + "key: 1\n" * 5000),
        ("cases/take.yaml", harbour.CASE + "--- 1\n" * 5000),
        ("cases/take.yaml", (harbour.CASE + "---\n") * 300),
        ("cases/take.yaml", harbour.CASE.replace("{{run}}", "{{ruin}}, " * 5000)),
        ("suites/all.yaml", harbour.SUITE.replace("  - tags", "  - nobody\n" * 5000 + "  - tags")),
    ],
)
def test_a_file_with_thousands_of_mistakes_tells_the_first_hundred(path: str, text: str):
    found = [p for p in problems({path: text}) if p.path == path]

    assert len(found) <= 101
    assert [p.message for p in found if p.code == "more"] == [
        "and more: only 100 mistakes of a file are told at once"
    ]


def test_a_quoted_text_cannot_steer_the_terminal():
    text = harbour.CASE.replace("group: task", '"gr\\e[2J\\u202eoup": task')

    (found,) = [p for p in problems({"cases/take.yaml": text}) if p.code == "unknown-key"]

    assert found.render().startswith("cases/take.yaml:4:1: unknown key `gr\\x1b[2J\\u202eoup`")


def test_a_selector_is_not_called_empty_while_the_case_it_would_choose_is_broken():
    found = problems({"cases/talk.yaml": harbour.TALK.replace("title:", "titel:")})

    assert [p.code for p in found] == ["unknown-key"]


@pytest.mark.parametrize(
    "arguments",
    ["{berth_id: b-1, boat_id.name: gull}", "{berth_id: {absent: true}}"],
)
def test_arguments_are_named_by_the_first_part_of_their_path(arguments: str):
    text = harbour.CASE.replace("{berth_id: b-1}", arguments)

    assert loading.load(harbour.contents({"cases/take.yaml": text})).cases


@pytest.mark.parametrize(
    "parameters",
    [
        "{type: object}",
        "{type: object, properties: {berth_id: {type: string}}, additionalProperties: true}",
        "{type: object, properties: {}, patternProperties: {^b: {type: string}}}",
        "{type: object, properties: {}, anyOf: [{properties: {berth: {type: string}}}]}",
    ],
)
def test_a_tool_with_open_arguments_may_be_expected_to_get_any(parameters: str):
    world = harbour.WORLD.replace(
        "parameters:\n      type: object\n      properties: {berth_id: {type: string}, boat_id:"
        " {type: string}}\n      required: [berth_id, boat_id]\n      additionalProperties: false\n",
        f"parameters: {parameters}\n",
    )
    world = world.replace('"{{args.boat_id}}"', "gull").replace('"{{args.berth_id}}"', "b-1")
    assert parameters in world
    text = harbour.CASE.replace("{berth_id: b-1}", "{berth: b-1}")
    changes = {"fixtures/harbour.yaml": world, "cases/take.yaml": text}

    assert loading.load(harbour.contents(changes)).cases


def test_a_tool_may_be_named_with_the_server_that_its_world_is():
    text = harbour.CASE.replace("tool: take_berth", "tool: harbour/take_berth")

    assert loading.load(harbour.contents({"cases/take.yaml": text})).cases


def test_a_key_with_a_placeholder_is_not_looked_for_at_the_start():
    text = harbour.CASE.replace("key: b-1", 'key: "b-{{run}}"')

    assert loading.load(harbour.contents({"cases/take.yaml": text})).cases


def test_a_world_without_roles_needs_none():
    start, _, rest = harbour.WORLD.partition("roles:\n")
    actions, _, _ = rest[rest.index("actions:") :].partition("markings:")
    world = start + actions
    cases = {
        path: harbour.FILES[path].replace("role: clerk\n", "")
        for path in ("cases/take.yaml", "cases/talk.yaml")
    }

    assert loading.load(harbour.contents({"fixtures/harbour.yaml": world} | cases)).cases


def test_every_pattern_of_the_models_has_words():
    from seatrial.documents import schemas
    from seatrial.loading.wording import PATTERNS

    written = "".join(schemas.texts().values())
    patterns = {v for text in schemas.texts().values() for v in _patterns(yaml.safe_load(text))}

    assert written
    assert patterns <= set(PATTERNS)


def _patterns(schema: Any):
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        yield from schema.get("patternProperties", {})
        for value in schema.values():
            yield from _patterns(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _patterns(value)


@pytest.mark.parametrize(
    "schema", ["{type: 3, properties: 7}", "{properties: [x]}", "{required: 5}"]
)
def test_answers_are_not_held_against_what_is_no_schema(schema: str):
    right = "parameters: {type: object, properties: {hour: {type: integer}}},"
    written = "    written_for: {parameters: {type: object, properties: {hour: {type: integer}}}}\n    rules:"

    found = problems(
        {
            "fixtures/harbour.yaml": harbour.WORLD.replace(
                right, f"parameters: {schema}, output: {schema},"
            ),
            "fixtures/storm.yaml": harbour.ANSWERS.replace("    rules:", written),
        }
    )

    assert {p.path for p in found} == {"fixtures/harbour.yaml"}
    assert {p.code for p in found} == {"world"}
