"""Mutated and hostile files: a catalog or problems, never a traceback, always a place and a sentence.

`SEATRIAL_FUZZ=50` tries fifty times as many examples.
"""

import json
import os
import re

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import harbour

from seatrial import loading
from seatrial.errors import InvalidDocuments, printable

TIMES = int(os.environ.get("SEATRIAL_FUZZ", "1"))
SNIPPETS = (
    "&a ", "*a", "<<: *a", "!!python/object:os.system ", "!!str ", "!x ", "- ", "? ", ": ", "---\n", "...\n",
    "{", "}", "[", "]", "|\n", ">-\n", "'", '"', "#", "%YAML 1.1\n", "\t", "\r\n", "\ufeff", "\x00", "\x1b[2J",
    "\u202e", "\x85", "\u2028", "🚢", "é", "010", "0x1F", "1e999", ".inf", ".nan", "~", "null", "yes", "true",
    "2026-03-16", "12:30:45", "{{run}}", "{{x}}", "{{", "}}", "\\", "\\u0000", "\n", "  ", "kind: case\n",
    "id: harbour\n", "type: world\n", "check: end_state\n", "[" * 50, "&a [*a]", "9" * 200, "x" * 2000,
    "{matches: '('}", "{schema: {type: 3}}", "{schema: {$ref: '#/x'}}", "{equals: 1, x: 2}", "{between: [1]}",
    "(" * 2000, "a{99999999999}", "id: 010\n", "id: 🚢\n", "id: null\n", "id: 2026-03-16\n", "id: ../../x\n",
    "../../etc/passwd", "~/x", "a\\b", "<<: [*a, *b]", "!!binary aGk=", "!!timestamp 2026-03-16", "!!set {a}",
    "!!float 1", "%TAG ! x:\n",
    "%YAML 9.9\n", "\U0010ffff", "\ufffe", "\ud800", "@", "`", "1" * 5000, "0o" + "7" * 300, "1_000", "+.inf", "-0",
    "extends: take-a-berth\n", "abstract: true\n", "matrix: {a: [1, 2]}\n", "{{matrix.a}}", "matrix: {a: &x [*x]}\n",
)  # fmt: skip

FILES = harbour.FILES | {
    "arms/priced.yaml": harbour.ARM.replace("id: released", "id: priced")
    + "model: {name: gull-1}\nprices: of-march\n",
    "cases/defaults.yaml": "kind: defaults\ncase: {role: clerk, limits: {calls: 3}}\n",
    "cases/base.yaml": "kind: case\nid: base\nabstract: true\nextends: take-a-berth\n",
    "cases/more.yaml": """\
kind: case
id: more
extends: base
title: A berth for the {{matrix.boat}}
matrix:
  boat: [gull, heron]
  berth: {first: {id: b-1}, second: {id: b-2}}
  exclude: [{boat: heron, berth: second}]
task: Berth {{matrix.berth.id}} for the {{matrix.boat}}.
checks:
  - {check: tool_called, tool: take_berth, arguments: {berth_id: "{{matrix.berth.id}}"}}
""",
    "fixtures/prices.yaml": "kind: fixture\ntype: prices\nid: of-march\ncurrency: EUR\n"
    "models: {gull-1: {input: 1.0, output: 2.0}}\n",
    "suites/nightly.yaml": "kind: suite\nid: nightly\ncases: [more--berth.first--boat.gull, {suite: all}]\n",
}
PATHS = st.sampled_from(sorted(FILES))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8), st.sampled_from(["clerk", "harbour", "b-1", "end_state", "{{now}}", "{{x}}", "("]),
)  # fmt: skip
KEYS = st.one_of(
    st.text(max_size=6),
    st.sampled_from([
        "kind", "id", "check", "tool", "arguments", "matches", "schema", "equals", "type", "properties",
        "from", "when", "severity", "turn", "$ref", "[0]", "a.b", "",
    ]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


def holds(files: dict[str, bytes]) -> None:
    """Load them: everything that is said has a place in a file and reads as a sentence."""
    try:
        catalog = loading.load(files)
    except InvalidDocuments as error:
        problems = error.problems
    else:
        for kind, id in catalog.sources:
            assert re.fullmatch(r"\S+:\d+:\d+", catalog.place(kind, id))
        return
    assert problems
    assert len(problems) <= 102 * len(files)
    for problem in problems:
        assert problem.path in files
        lines = len(re.split("\r\n|[\n\r\x85\u2028\u2029]", _text(files[problem.path])))
        assert 1 <= problem.line <= lines + 1
        assert problem.column >= 1
        assert problem.code
        assert 5 < len(problem.message) < 1000
        assert not re.search("Value error|Input should|Extra inputs|Traceback", problem.message)
        assert printable(problem.render()) == problem.render()


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


@st.composite
def mutations(draw: st.DrawFn) -> dict[str, bytes]:
    """The right repository with a few edits in one file."""
    path = draw(PATHS)
    text = FILES[path]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.sampled_from([0, 0, 1, 3, 10, 80]))
        insert = draw(st.sampled_from(SNIPPETS) | st.text(max_size=5))
        text = text[:start] + insert + text[start + length :]
    encoding = draw(st.sampled_from(["utf-8"] * 8 + ["utf-16", "latin-1", "utf-8-sig"]))
    return harbour.contents(FILES) | {path: text.encode(encoding, errors="replace")}


@st.composite
def graftings(draw: st.DrawFn) -> dict[str, bytes]:
    """The right repository with any values in the place of some of its parts."""
    path = draw(PATHS)
    document = yaml.safe_load(FILES[path].replace("2026-03-16T09:00:00Z", "'2026-03-16T09:00:00Z'"))
    for _ in range(draw(st.integers(1, 3))):
        here = document
        while True:
            steps = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not steps:
                break
            step = draw(st.sampled_from(steps))
            if not isinstance(here[step], dict | list) or draw(st.integers(0, 3)) == 0:
                action = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
                if action == "replace":
                    here[step] = draw(VALUES)
                elif action == "remove":
                    del here[step]
                elif isinstance(here, dict):
                    here[draw(KEYS)] = draw(VALUES)
                else:
                    here.append(draw(VALUES))
                break
            here = here[step]
    return harbour.contents(FILES) | {
        path: json.dumps(document, ensure_ascii=draw(st.booleans())).encode(
            "utf-8", errors="replace"
        )
    }


@given(mutations())
@settings(max_examples=200 * TIMES, deadline=None)
def test_edited_files_are_read_or_told(files: dict[str, bytes]):
    holds(files)


@given(graftings())
@settings(max_examples=200 * TIMES, deadline=None)
def test_documents_with_any_values_in_them_are_read_or_told(files: dict[str, bytes]):
    holds(files)


@given(st.lists(st.sampled_from(SNIPPETS), max_size=40).map("".join))
@settings(max_examples=200 * TIMES, deadline=None)
def test_texts_of_what_yaml_is_made_of_are_read_or_told(text: str):
    holds({"cases/a.yaml": text.encode("utf-8", errors="replace")})


@given(st.binary(max_size=300))
@settings(max_examples=200 * TIMES, deadline=None)
def test_any_bytes_are_read_or_told(data: bytes):
    holds({"cases/a.yaml": data})
