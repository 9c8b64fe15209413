"""What the placeholders of a trial stand for."""

import datetime as dt

from seatrial.documents import placeholders


def test_clock_is_written_in_the_time_zone_of_the_world():
    late = dt.datetime(2026, 3, 16, 23, 30, tzinfo=dt.timezone(dt.timedelta(hours=-2)))

    assert placeholders.of_trial("k3v9", late) == {
        "run": "k3v9",
        "now": "2026-03-16T23:30:00-02:00",
        "today": "2026-03-16",
    }
    assert placeholders.of_trial("k3v9", late.astimezone(dt.UTC))["now"] == "2026-03-17T01:30:00Z"
    assert placeholders.of_trial("k3v9", late).keys() == placeholders.TRIAL_NAMES
