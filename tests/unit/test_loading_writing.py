"""What is written as YAML is read as the same values, by the stricter rules of 1.2 too."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.loading.reading import read
from seatrial.loading.writing import written

TEXTS = st.text(max_size=12) | st.sampled_from((
    "08", "010", "1e5", "0o7", "+1", ".5", "yes", "no", "~", "null", "True", "1:30", "2026-03-16", "- x", "a: b", "#",
    "",
    " x ", "two\nlines", "two\nlines\n", "ends in blank \nx", "\ttab", "{{run}}", "[x]", "*a", "&a", "!t", "%", "@",
    "`",
    "'", '"', "1" * 200, "é\u2028\x85\x00",
))  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS.filter(bool), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(("kind", "answer", "x")), JSON, min_size=1))
def test_every_json_value_is_read_as_it_was_written(document: dict[str, Any]):
    file = read("new.yaml", written(document).encode("utf-8", "surrogatepass"))

    assert file.problems == ()
    assert [raw.value for raw in file.documents] == [document]


@pytest.mark.parametrize("text", ["08", "1e5", "010", "0x1F"])
def test_digits_that_are_text_stay_text(text: str):
    (raw,) = read("new.yaml", written({"zip": text}).encode()).documents

    assert raw.value == {"zip": text}


def test_dense_items_stand_on_a_line_each():
    document = {
        "id": "w",
        "objects": {"boat": [{"id": "gull", "zip": "08"}, {"id": "tern"}], "berth": []},
    }

    text = written(document, dense=("objects",))

    assert text == (
        'id: w\nobjects:\n  "boat":\n    - {"id": "gull", "zip": "08"}\n    - {"id": "tern"}\n  "berth": []\n'
    )
    assert read("new.yaml", text.encode()).documents[0].value == document
