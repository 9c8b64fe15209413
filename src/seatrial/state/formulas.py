"""Formulas in the values of an action: of numbers, and of the items of lists.

{$sum: [1, 2]}  {$minus: [10, 3, 1]}  {$product: ["{{each.price}}", 2]}  {$round: [2.345, 2]}
{$each: args.lines, $value: {sku: "{{each.sku}}"}}
{$find: order.lines, $where: {sku: "{{args.sku}}"}, $get: price}  {$first: [list or values]}
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from seatrial.state.values import EXACTLY, MISSING, Missing, as_decimal, as_number, is_number
from seatrial.trace import Json

NUMBERS = ("$sum", "$minus", "$product", "$min", "$max", "$round")
"""The formulas that take a list of numbers."""

OF_ITEMS = (
    frozenset({"$each", "$value"}),
    frozenset({"$find", "$where"}),
    frozenset({"$find", "$where", "$get"}),
    frozenset({"$first"}),
)
"""The keys of the formulas over lists of anything."""

FORMULAS = frozenset({*OF_ITEMS, *(frozenset({name}) for name in NUMBERS)})
"""The keys of each formula; any other mapping is a plain value."""


def calculated(formula: str, numbers: Sequence[Json]) -> int | float | Missing:
    """What a formula gives, reckoned in decimals as the numbers are written.

    MISSING when something is no number, when there are too few or too many, or for a huge result.
    """
    if not all(map(is_number, numbers)):
        return MISSING
    try:
        number = _calculated(formula, numbers)
    except ArithmeticError:
        return MISSING
    return number if is_number(number) else MISSING


def _calculated(formula: str, numbers: Sequence[Json]) -> int | float | Missing:
    if formula == "$sum":
        result = Decimal(0)
        for number in numbers:
            result = EXACTLY.add(result, as_decimal(number))
    elif formula == "$product":
        result = Decimal(1)
        for number in numbers:
            result = EXACTLY.multiply(result, as_decimal(number))
    elif formula == "$minus" and numbers:
        result = as_decimal(numbers[0])
        for number in numbers[1:]:
            result = EXACTLY.subtract(result, as_decimal(number))
    elif formula in ("$min", "$max") and numbers:
        result = (min if formula == "$min" else max)(map(as_decimal, numbers))
    elif formula == "$round" and len(numbers) == 2 and numbers[1] in range(13):
        digits = Decimal(1).scaleb(-int(numbers[1]))
        result = as_decimal(numbers[0]).quantize(digits, ROUND_HALF_UP, EXACTLY)
    else:
        return MISSING
    return as_number(result)
