"""YAML 1.2 with the core schema, within bounds."""

import math
from typing import Any

import pytest

from seatrial.loading import bounds, reading
from seatrial.loading.reading import read


def value(text: str) -> Any:
    """The value of the one document, which has nothing wrong with it."""
    file = read("a.yaml", text.encode())
    assert file.problems == ()
    (raw,) = file.documents
    return raw.value


def told(data: bytes | str) -> list[str]:
    file = read("a.yaml", data.encode() if isinstance(data, str) else data)
    return [problem.render() for problem in file.problems]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"), ("Yes", "Yes"),
        ("true", True), ("True", True), ("FALSE", False), ("false", False), ("tRUE", "tRUE"),
        ("null", None), ("~", None), ("", None), ("Null", None), ("none", "none"),
        ("0", 0), ("-7", -7), ("+7", 7), ("010", 10), ("0o10", 8), ("0x1F", 31), ("0b11", "0b11"),
        ("1_000", "1_000"), ("1:30", "1:30"), ("190:20:30", "190:20:30"), ("-0o7", "-0o7"),
        ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("-1.5E-3", -0.0015), (".", "."),
        ("1.4.0", "1.4.0"), ("1e", "1e"), ("e3", "e3"), ("-", [None]), ("- -", [[None]]),
        ("2026-03-16", "2026-03-16"), ("2026-03-16T09:00:00Z", "2026-03-16T09:00:00Z"),
        ('"010"', "010"), ("'true'", "true"), ("!!str 010", "010"), ("! true", "true"),
        ("!!int '7'", 7), ("!!float 7", 7), ("!!bool true", True), ("!!null ''", None),
        ("!!map {a: 1}", {"a": 1}), ("!!seq [1]", [1]), ("=", "="), ("|\n true\n", "true\n"),
        (">-\n a\n b\n", "a b"), ("'it''s'", "it's"), ('"\\u00e9\\t"', "é\t"),
    ],
)  # fmt: skip
def test_scalars_are_read_by_the_core_schema(written: str, meant: Any):
    if meant is None:
        written = f"[{written}, a]" if written else "[a: , a]"
        read_value = value(written)[0]
        read_value = read_value["a"] if isinstance(read_value, dict) else read_value
    else:
        read_value = value(written)

    assert read_value == meant
    assert type(read_value) is type(meant)


@pytest.mark.parametrize("written", ["yes", "'3'", "010", "true ", "3", "~", "null"])
def test_quoted_keys_are_text_whatever_they_look_like(written: str):
    key = written.strip("'")

    assert value(f'"{key}": 1') == {key: 1}


def test_text_keys_need_no_quotes_where_another_yaml_reads_truth():
    assert value("{on: 1, no: 2, '<<': 3, 1.4.0: 4}") == {"on": 1, "no": 2, "<<": 3, "1.4.0": 4}


def test_aliases_stand_for_what_is_anchored_last():
    assert value("a: &x [1]\nb: *x\nc: &x 2\nd: *x\n*x : 3\n".replace("*x : 3\n", "")) == {
        "a": [1], "b": [1], "c": 2, "d": 2,
    }  # fmt: skip
    assert value("&k key: 1\nb: {*k : 2}") == {"key": 1, "b": {"key": 2}}


def test_anchors_end_with_their_document():
    assert told("a: &x 1\n---\nb: *x\n") == ["a.yaml:3:4: no anchor `&x` stands before this alias"]


def test_a_file_may_hold_several_documents_and_empty_ones_count_for_places_only():
    file = read("a.yaml", b"---\n---\na: 1\n...\n# between\n---\nb: 2\n---\n")

    assert [(raw.index, raw.value) for raw in file.documents] == [(1, {"a": 1}), (2, {"b": 2})]
    assert file.problems == ()


def test_a_wide_use_of_aliases_is_bounded_and_told_once():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for here, before in zip("bcdefgh", "abcdefg", strict=True):
        bomb += f"{here}: &{here} [{', '.join([f'*{before}'] * 10)}]\n"

    (message,) = told(bomb)

    assert message.startswith("a.yaml:4:")
    assert "the aliases stand for more than 10000 values" in message


def test_many_small_aliases_are_bounded_too():
    assert told("a: &a 1\nb: [" + "*a, " * 10_001 + "]")[0].startswith(
        "a.yaml:2:40005: the aliases"
    )
    assert told("a: &a 1\nb: [" + "*a, " * 10_000 + "]") == []


def test_depth_is_bounded():
    assert told("[" * 40 + "]" * 40) == []
    assert told("[" * 41 + "]" * 41) == ["a.yaml:1:41: nested more than 40 deep"]
    assert told("- " * 500_000) == ["a.yaml:1:81: nested more than 40 deep"]
    assert told("{a: " * 200_000) == ["a.yaml:1:161: nested more than 40 deep"]


@pytest.mark.parametrize("opening", ["[", "- [", "? [", "{a: ["])
def test_an_endless_opening_is_refused_at_once(opening: str):
    assert len(told(opening * 1_000_000)) == 1


def test_the_number_of_values_is_bounded():
    over = told("[" + "1," * bounds.MAX_VALUES + "]")

    assert over == [f"a.yaml:1:{bounds.MAX_VALUES * 2}: more than 250000 values. Split the file"]


def test_the_size_of_a_file_is_bounded():
    assert told(b"a: " + b"x" * bounds.MAX_BYTES) == [
        "a.yaml:1:1: the file has 5.0 MB; at most 5 MB are read. Split it"
    ]
    assert len(value("a: " + "x" * (bounds.MAX_BYTES - 3))["a"]) == bounds.MAX_BYTES - 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: \xff\n", "a.yaml:1:4: the byte 0xff is not UTF-8. Save the file as UTF-8"),
        (b"a: b\nc: \xc3\xa9\xc3(\n", "a.yaml:2:5: the byte 0xc3 is not UTF-8. Save the file as UTF-8"),
        ("a: b".encode("latin-1") + b"\xe9", "a.yaml:1:5: the byte 0xe9 is not UTF-8. "
         "Save the file as UTF-8"),
        ("a: b".encode("utf-16"), "a.yaml:1:1: the file is written in UTF-16. Save it as UTF-8"),
        ("a: b".encode("utf-32"), "a.yaml:1:1: the file is written in UTF-32. Save it as UTF-8"),
        (b"a: b\r\nc: \x00\n", "a.yaml:2:4: the character U+0000 is not allowed in YAML. "
         "Write it as an escape in double quotes"),
        ("é: \x9b".encode(), "a.yaml:1:4: the character U+009B is not allowed in YAML. "
         "Write it as an escape in double quotes"),
        ("a: \ufffe".encode(), "a.yaml:1:4: the character U+FFFE is not allowed in YAML. "
         "Write it as an escape in double quotes"),
        (b"", "a.yaml:1:1: the file holds no document. Write one, or delete the file"),
        (b"\xef\xbb\xbf", "a.yaml:1:1: the file holds no document. Write one, or delete the file"),
        (b'a: "\\ud800"', "a.yaml:1:7: not YAML: found invalid Unicode character escape code"),
        (b"%YAML 1.3\n---\na: b\n", "a.yaml:1:1: another version of YAML than 1.2"),
    ],
)  # fmt: skip
def test_what_is_no_utf_8_text_is_told_with_its_place(data: bytes, message: str):
    assert told(data) == [message]


def test_a_byte_order_mark_and_windows_line_ends_change_nothing():
    file = read("a.yaml", b"\xef\xbb\xbfa: |\r\n  one\r\n  two\r\nb: 3\r\n")

    assert file.documents[0].value == {"a": "one\ntwo\n", "b": 3}


@pytest.mark.parametrize("number", ["9" * 101, "0x" + "f" * 99, "0." + "1" * 99, "-" + "1" * 100])
def test_the_length_of_a_number_is_bounded(number: str):
    assert "at most 100 are read" in told(f"a: {number}")[0]


@pytest.mark.parametrize("number", [".inf", "-.INF", "+.Inf", ".nan", ".NaN", "1e400", "-1e999"])
def test_numbers_that_are_not_finite_are_refused(number: str):
    (message,) = told(f"a: {number}")

    assert message.startswith("a.yaml:1:4: ")
    assert "number" in message


@pytest.mark.parametrize("text", ["nan", "inf", "Infinity", "-inf"])
def test_words_for_what_is_not_finite_are_text(text: str):
    assert value(f"[{text}]") == [text]
    assert not math.isfinite(float(text))


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['true']",
        "!!python/name:os.system ''",
        "!!timestamp 2026-03-16",
        "!!binary aGk=",
        "!!set {a}",
        "!!omap [a: 1]",
        "!mine {a: 1}",
        "!!int x",
        "!!bool 'yes'",
        "!!map [1]",
        "!<tag:example.com,2026:x> 1",
    ],
)
def test_tags_beyond_the_core_schema_are_refused_and_read_no_further(tag: str):
    file = read("a.yaml", f"a: {tag}\nb: 1\n".encode())

    assert [p.code for p in file.problems] == ["tag"]
    assert file.documents[0].value == {"a": reading.REFUSED, "b": 1}
    assert not file.documents[0].sound


def test_all_that_is_refused_in_a_file_is_told():
    text = "a: .inf\na: 2\n3: x\n<<: {b: c}\nd: !x 1\ne: *f\n"

    assert [m.split(":")[1] for m in told(text)] == ["1", "2", "3", "4", "5", "6"]
