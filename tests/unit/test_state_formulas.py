"""Formulas, reckoned in decimals."""

import math

import pytest

from seatrial.state.formulas import calculated
from seatrial.state.values import MISSING


@pytest.mark.parametrize(
    ("formula", "numbers", "result"),
    [
        ("$sum", [0.1, 0.2], 0.3),
        ("$sum", [], 0),
        ("$sum", [10**40, 1], 1e40),
        ("$minus", [10, 0.1, 0.2], 9.7),
        ("$minus", [], MISSING),
        ("$product", [3, 0.9], 2.7),
        ("$product", [], 1),
        ("$product", [1e200, 1e200], MISSING),
        ("$product", [1e300] * 5000, MISSING),
        ("$min", [3, 0.5], 0.5),
        ("$max", [3, 0.5], 3),
        ("$max", [], MISSING),
        ("$round", [2.345, 2], 2.35),
        ("$round", [2.5, 0], 3),
        ("$round", [1e300, 2], MISSING),
        ("$round", [2.5], MISSING),
        ("$round", [2.5, -1], MISSING),
        ("$sum", [1, "2"], MISSING),
        ("$sum", [1, True], MISSING),
        ("$sum", [math.nan], MISSING),
    ],
)
def test_formula_gives_a_json_number_or_nothing(formula, numbers, result):
    found = calculated(formula, numbers)

    assert found == result
    assert type(found) is not bool


def test_whole_results_are_whole_numbers():
    assert isinstance(calculated("$sum", [1.5, 1.5]), int)
