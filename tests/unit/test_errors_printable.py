"""What is printed cannot steer the terminal it is printed on."""

import pytest

from seatrial.errors import Problem, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, é, 漢, 🚢", "plain, é, 漢, 🚢"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("one\ntwo\r\tthree", "one\\ntwo\\r\\tthree"),
        ("\x9b31m", "\\x9b31m"),
        ("safe\u202etxt.exe", "safe\\u202etxt.exe"),
        ("a\u2066b\u2069\u200b", "a\\u2066b\\u2069\\u200b"),
        ("half \udcff", "half \\udcff"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_steering_characters_are_written_out(text: str, shown: str):
    assert printable(text) == shown


def test_characters_that_are_asked_for_stay():
    assert printable("one\ntwo\x1b", keep="\n") == "one\ntwo\\x1b"


def test_a_problem_stays_on_one_line_whatever_it_quotes():
    problem = Problem("cases/\x1b]0;.yaml", 3, 5, "unknown key `a\nb`", hint="Known: `c\u202e`")

    assert problem.render() == ("cases/\\x1b]0;.yaml:3:5: unknown key `a\\nb`. Known: `c\\u202e`")
