"""What a run may spend, set aside and accounted."""

import anyio
from tests import bike_shop
from tests.sides import record

from seatrial.costs import Budget
from seatrial.plan import Trial
from seatrial.runner import Purse
from seatrial.runner.purse import Allotment
from seatrial.trace import Usage


def usage(tokens: int) -> Usage:
    return Usage(input_tokens=tokens)


def purse(limit: int, *stored: int) -> Purse:
    arm = bike_shop.arm("x")
    ended = [
        record("a", "x", number, "p").model_copy(update={"usage": usage(tokens)})
        for number, tokens in enumerate(stored, 1)
    ]
    return Purse(Budget(limit, "tokens"), {arm.id: arm}, ended)


def admitted(one: Purse, number: int = 9) -> Allotment | None:
    async def main() -> Allotment | None:
        with anyio.fail_after(5):
            return await one.admit(Trial("a", "x", number))

    return anyio.run(main)


def test_a_run_that_goes_on_has_spent_what_its_stored_trials_took():
    one = purse(1000, 300, 400)

    assert one.spent == 700
    assert one.left == 300
    assert admitted(one) is None
    assert (
        one.refused
        == "of the budget of 1,000 tokens, 700 tokens are spent, and a trial may take 400 tokens"
    )


def test_what_a_trial_sets_aside_and_does_not_take_is_there_for_others():
    one = purse(1000, 300)

    first, second = admitted(one), admitted(one)
    assert first
    assert second
    assert one.left == 100
    one.close(first, (usage(100),))
    assert (one.spent, one.left) == (400, 300)
    assert admitted(one) is not None


def test_after_one_trial_was_refused_no_cheaper_one_is_begun():
    one = purse(500, 300)

    assert admitted(one) is None
    one.spent = 0.0
    assert admitted(one) is None


def test_earlier_attempts_are_spent_as_well():
    one = purse(1000, 300)
    allotment = admitted(one)
    assert allotment is not None

    one.close(allotment, (usage(100), usage(50)))

    assert one.spent == 450


def test_a_request_that_does_not_fit_is_told_with_what_others_have_set_aside():
    one = purse(1000, 300)
    first, second = admitted(one), admitted(one)
    assert first
    assert second

    assert first.afford(usage(350)) == ""
    assert second.afford(usage(450)) == (
        "the budget of 1,000 tokens does not suffice for another request, which may take 450 tokens "
        "(300 tokens are spent, 350 tokens set aside by trials beside it)"
    )
