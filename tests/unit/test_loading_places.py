"""Paths inside a document lead to lines and columns."""

import pytest

from seatrial.documents import Source
from seatrial.loading.bounds import MAX_DEPTH
from seatrial.loading.places import FilePlaces, Places, written
from seatrial.loading.reading import read

TEXT = b"""\
kind: case
arguments:
  address.city: here
  items[0]: there
  a: {b: 1, "c d": [x, {y: z}]}
text: >-
  folded
  text
list:
- one
- - two
---
kind: &k case
again: {kind: *k, of: &m {n: 1}}
more: *m
"""


@pytest.fixture(scope="module")
def file() -> FilePlaces:
    return FilePlaces(TEXT)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("", (1, 1)),
        ("kind", (1, 7)),
        ("arguments", (2, 1)),
        ("arguments.address.city", (3, 17)),
        ("arguments.items[0]", (4, 13)),
        ("arguments.a.b", (5, 10)),
        ("arguments.a.c d[1].y", (5, 28)),
        ("text", (6, 7)),
        ("list", (9, 1)),
        ("list[1][0]", (11, 5)),
    ],
)
def test_a_path_leads_to_its_value_or_to_its_key_when_that_is_on_another_line(
    file: FilePlaces, path: str, place: tuple[int, int]
):
    assert Places(file, 0)[path] == place


@pytest.mark.parametrize("path", ["nothing", "list[2]", "list[x]", "kind.deeper", "[0]"])
def test_a_path_that_is_not_there_has_no_place(file: FilePlaces, path: str):
    with pytest.raises(KeyError):
        Places(file, 0)[path]


@pytest.mark.parametrize(
    ("path", "place"),
    [("list[1][7].x", "a.yaml:11:3"), ("arguments.a.q", "a.yaml:5:6"), ("q", "a.yaml:1:1")],
)
def test_a_source_falls_back_to_the_nearest_part_around(file: FilePlaces, path: str, place: str):
    assert Source("a.yaml", Places(file, 0)).place(path) == place


def test_steps_lead_to_keys_and_values(file: FilePlaces):
    places = Places(file, 0)

    assert places.of_key(("arguments", "address.city")) == ("", 3, 3)
    assert places.at(("arguments", "address.city")) == ("", 3, 17)
    assert places.of_key(("arguments", "missing")) == ("", 2, 1)
    assert places.at(("list", 1, 9, "x")) == ("", 11, 3)
    assert places.of_key(("list", 1)) == ("", 11, 3)


def test_what_an_alias_stands_for_has_the_places_of_its_anchor(file: FilePlaces):
    places = Places(file, 1)

    assert places["again.kind"] == (14, 15)
    assert places["more"] == (15, 7)
    assert places["more.n"] == places["again.of.n"] == (14, 30)


def test_places_are_a_mapping_of_written_paths(file: FilePlaces):
    assert dict(Places(file, 1)) == {
        "": (13, 1),
        "kind": (13, 7),
        "again": (14, 8),
        "again.kind": (14, 15),
        "again.of": (14, 23),
        "again.of.n": (14, 30),
        "more": (15, 7),
        "more.n": (14, 30),
    }
    assert len(Places(file, 1)) == 8


def test_documents_before_the_place_where_a_file_breaks_off_have_places():
    assert Places(FilePlaces(b"a: 1\n---\nb: [\n"), 0)["a"] == (1, 4)


def test_documents_before_one_that_is_nested_too_deep_have_places():
    assert Places(FilePlaces(b"a: 1\n---\n" + b"[" * 950), 0)["a"] == (1, 4)


def test_a_document_as_deep_as_the_reader_goes_has_places():
    text = b"a: " * 1 + b"[" * (MAX_DEPTH - 1) + b"x" + b"]" * (MAX_DEPTH - 1)

    assert read("a.yaml", text).problems == ()
    assert Places(FilePlaces(text), 0)["a" + "[0]" * (MAX_DEPTH - 1)] == (1, 3 + MAX_DEPTH)


def test_steps_of_a_written_path_go_as_far_as_there_is_something(file: FilePlaces):
    places = Places(file, 0)

    assert places.steps("arguments.address.city") == ("arguments", "address.city")
    assert places.steps("arguments.items[0]") == ("arguments", "items[0]")
    assert places.steps("list[1][0]") == ("list", 1, 0)
    assert places.steps("list[1].gone.x") == ("list", 1)


def test_steps_are_written_as_people_read_them():
    assert written(("turns", 0, "checks", 1, "tool")) == "turns[0].checks[1].tool"
    assert written((0, "a")) == "[0].a"
