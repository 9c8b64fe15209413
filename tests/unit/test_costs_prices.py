"""Tokens and prices → money."""

import pytest
from pydantic import ValidationError
from tests import bike_shop
from tests.sides import record

from seatrial.costs import Budget, amount, price, trial_costs
from seatrial.documents import Prices
from seatrial.records import Retried
from seatrial.report.trials import ShownTrial
from seatrial.runner import Purse
from seatrial.trace import Usage
from seatrial.verdicts import Cause

PRICES = Prices(currency="EUR", input=3.0, output=15.0)
USED = Usage(input_tokens=2000, output_tokens=400, cached_input_tokens=1500, reasoning_tokens=100)


def test_a_million_tokens_cost_what_the_prices_say():
    assert price(Usage(input_tokens=1_000_000), PRICES) == 3.0
    assert price(Usage(output_tokens=1_000_000), PRICES) == 15.0


def test_cached_and_reasoning_tokens_cost_what_others_do_unless_they_have_a_price():
    dear = PRICES.model_copy(update={"cached_input": 0.3, "reasoning": 30.0})
    free = PRICES.model_copy(update={"cached_input": 0.0})

    assert price(USED, PRICES) == pytest.approx((2000 * 3 + 400 * 15) / 1e6)
    assert price(USED, dear) == pytest.approx((500 * 3 + 1500 * 0.3 + 300 * 15 + 100 * 30) / 1e6)
    assert price(USED, free) == pytest.approx((500 * 3 + 400 * 15) / 1e6)


@pytest.mark.parametrize(
    "wrong", [{"input_tokens": 5, "cached_input_tokens": 6}, {"reasoning_tokens": 1}]
)
def test_a_part_is_not_more_than_the_whole(wrong: dict[str, int]):
    with pytest.raises(ValidationError, match="of which they are a part"):
        Usage(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"currency": "euro"},
        {"input": -1.0},
        {"output": float("nan")},
        {"output": "3"},
        {"cached": 1.0},
    ],
)
def test_prices_are_numbers_in_a_currency(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        Prices.model_validate({"currency": "EUR", "input": 3.0, "output": 15.0, **wrong})


def used(case: str, mark: str, number: int, tokens: int | None):
    usage = None if tokens is None else Usage(input_tokens=tokens)
    return record(case, "released", number, mark).model_copy(update={"usage": usage})


def test_trial_costs_what_valid_stored_trials_of_its_case_cost_on_average():
    records = [
        used("a", "p", 1, 1_000_000),
        used("a", "f", 2, 2_000_000),
        used("a", "i", 3, 90_000_000),
        used("b", "p", 1, 3_000_000),
        used("c", "p", 1, None),
        used("d", "p", 1, 0),
        used("elsewhere", "p", 1, 7_000_000),
    ]

    costs = trial_costs(records, ("a", "b", "c", "d"), PRICES)

    assert costs is not None
    assert costs.known == {"a": 4.5, "b": 9.0}
    assert costs.unknown == ("c", "d")
    assert costs.of("c") == 6.75
    assert costs.total({"a": 2, "c": 0.5}) == 9 + 6.75 / 2


def test_without_recorded_tokens_no_cost_is_made_up():
    assert trial_costs([used("a", "p", 1, None)], ("a",), PRICES) is None


@pytest.mark.parametrize(
    ("cost", "text"),
    [(0, "0.00"), (1234.5, "1,234.50"), (0.5, "0.50"), (0.0426, "0.043"), (0.00034, "0.00034")],
)
def test_amount_has_two_digits_that_count(cost: float, text: str):
    assert amount(cost) == text


@pytest.mark.parametrize(
    ("text", "limit", "unit"),
    [("5 EUR", 5.0, "EUR"), ("0.50USD", 0.5, "USD"), ("200000 tokens", 200_000.0, "tokens")],
)
def test_a_budget_is_money_or_tokens(text: str, limit: float, unit: str):
    budget = Budget.read(text)

    assert (budget.limit, budget.unit) == (limit, unit)
    assert Budget.read(str(budget).replace(",", "")) == budget


@pytest.mark.parametrize("text", ["5", "EUR 5", "-1 EUR", "5 euro", "1e3 tokens", ""])
def test_other_words_are_no_budget(text: str):
    with pytest.raises(ValueError, match="no budget"):
        Budget.read(text)


def test_tokens_count_for_what_they_are_or_what_they_cost():
    assert Budget.read("9 tokens").worth(USED, None) == 2400
    assert Budget.read("9 EUR").worth(USED, PRICES) == price(USED, PRICES)


SPOKEN = {
    "simulator_usage": Usage(input_tokens=300, output_tokens=20),
    "simulator_cost": 0.5,
    "simulator_currency": "EUR",
}


def test_what_a_trial_costs_includes_its_people_where_they_are_paid_in_the_same_currency():
    spoken = used("a", "p", 1, 1_000_000).model_copy(update=SPOKEN)
    abroad = spoken.model_copy(update={"simulator_currency": "USD"})

    found = [trial_costs([record], ["a"], PRICES) for record in (spoken, abroad)]

    assert [costs and costs.of("a") for costs in found] == [3.5, 3.0]


def test_budget_of_a_run_that_goes_on_counts_the_people_of_all_attempts():
    arms = {"released": bike_shop.arm("released", prices=PRICES.model_dump())}
    again = Retried(cause=Cause.SIMULATOR, detail="", simulator_usage=Usage(input_tokens=80))
    stored = used("a", "p", 1, 1_000).model_copy(update={**SPOKEN, "retried": (again,)})

    spent = [Purse(Budget.read(limit), arms, [stored]).spent for limit in ("9 EUR", "9000 tokens")]

    assert spent == [pytest.approx(0.503), 1_400]


def test_report_tells_what_people_took_and_cost_apart_from_the_agent():
    record = used("a", "p", 1, 1_000).model_copy(update=SPOKEN)
    unpriced = record.model_copy(update={"simulator_cost": None})

    told = [ShownTrial(one, None).data() for one in (record, unpriced, used("a", "p", 1, 5))]

    assert [one["people"] for one in told] == [
        "300+20 tokens, 0.50 EUR",
        "300+20 tokens",
        None,
    ]
    assert told[0]["tokens"] == [1_000, 0]
