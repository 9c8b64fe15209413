"""The page about reuse says what holds."""

import re
from pathlib import Path

from tests import harbour

from seatrial import loading
from seatrial.documents.defaults import ALLOWED

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "reuse.md").read_text(encoding="utf-8")


def test_the_keys_that_may_have_a_default_are_listed():
    rows = re.findall(r"^\| ([a-z]+) \| ([a-z_, ]+) \|$", PAGE, re.MULTILINE)

    assert {n: tuple(keys.split(", ")) for n, keys in rows if n != "for"} == ALLOWED


def test_the_matrix_of_the_page_has_the_ids_that_it_says():
    written = re.search(r"^matrix:\n(?:  .*\n)+", PAGE, re.MULTILINE)
    assert written is not None
    told = re.search(r"This is three cases: (.*)\.\n", PAGE)
    assert told is not None
    case = harbour.CASE.replace("id: take-a-berth\n", "id: refund\n" + written[0])
    suite = harbour.SUITE.replace("take-a-berth", "refund")

    catalog = loading.load(harbour.contents({"cases/take.yaml": case, "suites/all.yaml": suite}))

    assert sorted(catalog.named("refund")) == re.findall(r"`(\S+)`", told[1])
