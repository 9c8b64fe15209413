"""`{{name}}` in texts."""

import datetime as dt

import pytest

from seatrial.documents.placeholders import fill, moved, names, of_trial, whole

NOON = dt.datetime(2026, 5, 4, 12, tzinfo=dt.UTC)


def test_a_text_that_is_one_placeholder_takes_the_value_with_its_type():
    assert fill({"a": " {{ x }} ", "b": ["{{x}}!"]}, {"x": 5}.__getitem__) == {"a": 5, "b": ["5!"]}


def test_what_is_put_in_is_not_looked_at_again():
    assert fill("{{x}}", {"x": "{{y}}"}.__getitem__) == "{{y}}"
    assert fill("a {{x}}", {"x": "{{y}}"}.__getitem__) == "a {{y}}"


def test_names_are_found_in_keys_and_items():
    assert list(names({"{{a}}": ["{{ b }} and {{c}}"]})) == ["a", "b", "c"]


def test_only_one_placeholder_and_nothing_else_is_whole():
    assert whole("{{ a.b }}") == "a.b"
    assert whole("{{a}} {{b}}") is None
    assert whole("a") is None


def test_a_long_text_of_white_space_is_read_in_one_pass():
    assert list(names("{{" + " " * 200_000)) == []


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("now", "2026-05-04T12:00:00Z"),
        ("today", "2026-05-04"),
        ("now - 90 minutes", "2026-05-04T10:30:00Z"),
        ("now+1 hour", "2026-05-04T13:00:00Z"),
        ("today - 30 days", "2026-04-04"),
        ("today + 2 weeks", "2026-05-18"),
        ("now - 12 hours", "2026-05-04T00:00:00Z"),
        ("now - 3 fortnights", None),
        ("now - 1234567 days", None),
        ("tomorrow", None),
    ],
)
def test_the_clock_can_be_moved_by_minutes_hours_days_and_weeks(name, moment):
    assert moved(name, NOON) == moment


def test_a_moment_beyond_the_calendar_stands_for_nothing():
    assert moved("now - 99999 weeks", NOON.replace(year=1900)) is None


def test_moments_are_written_alike_in_cases_and_in_worlds():
    berlin = NOON.astimezone(dt.timezone(dt.timedelta(hours=2)))

    assert of_trial("r-1", berlin) == {
        "run": "r-1",
        "now": moved("now", berlin),
        "today": moved("today", berlin),
    }
