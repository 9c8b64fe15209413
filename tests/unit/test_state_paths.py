"""Paths in placeholders."""

import pytest

from seatrial.state.paths import parse, roots


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("order", ("order",)),
        ("order.lines.0.sku", ("order", "lines", "0", "sku")),
        ("flight.dates[args.date].prices", ("flight", "dates", ("args", "date"), "prices")),
        ("a[b[c.d].e]", ("a", ("b", ("c", "d"), "e"))),
        ("a[b][c]", ("a", ("b",), ("c",))),
        ("a.$x-1_ü", ("a", "$x-1_ü")),
    ],
)
def test_path_is_cut_into_steps(path, steps):
    assert parse(path) == steps


@pytest.mark.parametrize(
    "path",
    ["", ".a", "a.", "a..b", "[a]", "a[", "a[]", "a[b", "a]", "a[b]c", "a b", "a.[b]", "a[[b]]"],
)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ValueError, match="is no path"):
        parse(path)


def test_roots_are_the_names_that_a_path_and_its_brackets_start_from():
    assert list(roots(parse("flight.dates[args.date].x[each]"))) == ["flight", "args", "each"]
