"""A check that could not fail, or could never be answered, is no check: the document says so."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from tests import bike_shop

from seatrial.documents.checks import EndState, ReplyContains, ReplyNotContains

REPLY = {"check": "reply_contains", "text": "rented"}
TWO_TURNS = [{"say": "Is b-1 free?"}, {"say": "Then lend it to me."}]


def test_an_end_state_that_allows_everything_and_expects_nothing_is_refused():
    with pytest.raises(ValidationError, match="this check cannot fail"):
        EndState.model_validate({"check": "end_state", "others": "allowed"})


@pytest.mark.parametrize("text", ["", " \n", ["rented", ""]])
def test_blank_text_is_refused_because_every_reply_contains_it(text):
    with pytest.raises(ValidationError, match="every reply contains a blank text"):
        ReplyContains.model_validate({"check": "reply_contains", "any_of": text})
    with pytest.raises(ValidationError, match="every reply contains a blank text"):
        ReplyNotContains.model_validate({"check": "reply_not_contains", "text": text})


def test_turns_are_counted_from_one():
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        ReplyContains.model_validate({**REPLY, "turn": 0})


def test_a_turn_that_never_comes_is_refused():
    bike_shop.case(turns=TWO_TURNS, checks=[{**REPLY, "turn": 2}])
    with pytest.raises(ValidationError, match=r"checks\[0\]: there is no turn 3, the last is 2"):
        bike_shop.case(turns=TWO_TURNS, checks=[{**REPLY, "turn": 3}])


def test_a_check_of_a_turn_cannot_ask_for_the_reply_of_another():
    turns = [{**TWO_TURNS[0], "checks": [{**REPLY, "turn": 2}]}, TWO_TURNS[1]]

    with pytest.raises(
        ValidationError, match=r"turns\[0\]\.checks\[0\]: this check sees turn 1 alone"
    ):
        bike_shop.case(turns=turns)
