"""`reply_number`: the reply names a number, within a tolerance and with its unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from seatrial.checks import expectations, replies
from seatrial.checks.scope import Found, Scope, failed, passed, skipped
from seatrial.documents.checks import ReplyNumber
from seatrial.state import fulfils
from seatrial.state.values import as_decimal, as_number

_MOST_TOLD = 5
_LONGEST = 40
"""Digits of a number that is read; longer ones are no amounts of anything."""


def find(check: ReplyNumber, scope: Scope) -> Found:
    """Whether one of the numbers in the replies asked about is the one; skipped without a reply."""
    asked = replies.chosen(check.turn, scope)
    if not asked:
        return skipped(
            f"{replies.missing(check.turn, scope)}, so no number can be looked for in it"
        )
    seen: dict[int | float, None] = {}
    for reply in asked:
        text = replies.readable(reply.text, ignore_case=False)
        for number in numbers(text, decimal=check.decimal, units=check.unit):
            if _is_it(check, number):
                return passed(f"the reply of turn {reply.turn} names {number:g}", reply)
            seen[number] = None
    unit = f" in {' or '.join(check.unit)}" if check.unit else ""
    within = f" within {check.tolerance:g}" if check.tolerance else ""
    expected = f"expected {expectations.asked(check.value)}{within}{unit}"
    if not seen:
        return failed(
            f"the reply of turn {asked[-1].turn} names no number{unit}; {expected}", asked[-1]
        )
    told = ", ".join(f"{number:g}" for number in list(seen)[:_MOST_TOLD])
    rest = f" and {len(seen) - _MOST_TOLD} more" if len(seen) > _MOST_TOLD else ""
    return failed(f"the reply of turn {asked[-1].turn} names {told}{rest}; {expected}", asked[-1])


def numbers(text: str, *, decimal: str, units: tuple[str, ...] = ()) -> Iterator[int | float]:
    """The numbers in a text, those with one of the units where any is asked for.

    Thousands may be grouped by the other separator, spaces or apostrophes; what spaces group is also
    read number by number. A number inside a word, a date or a code (`o-1001`, `2026-03-16`) is none.
    """
    grouping = "," if decimal == "." else "."
    for pattern in _patterns(decimal, grouping):
        for found in pattern.finditer(text):
            written = found["number"]
            if len(written) > _LONGEST or not _has_unit(text, found, units):
                continue
            plain = re.sub(rf"[{re.escape(grouping)} ']", "", written).replace(decimal, ".")
            sign = -1 if found["sign"] == "-" or _minus_before_unit(text, found, units) else 1
            yield as_number(sign * Decimal(plain))


def _patterns(decimal: str, grouping: str) -> tuple[re.Pattern[str], ...]:
    begin = r"(?<![\w.,])(?<!\w[-.,/:'\u2044])(?P<sign>[-+]?)"
    point = re.escape(decimal)
    fraction = rf"(?:{point}\d+)?(?![{point}{re.escape(grouping)}/\u2044]?\d)"
    grouped = rf"\d{{1,3}}(?:[{re.escape(grouping)}']\d{{3}})+|\d+"
    spaced = r"\d{1,3}(?: \d{3})+"
    return (
        re.compile(f"{begin}(?P<number>(?:{grouped}){fraction})"),
        re.compile(f"{begin}(?P<number>(?:{spaced}){fraction})"),
    )


def _has_unit(text: str, found: re.Match[str], units: tuple[str, ...]) -> bool:
    return not units or any(
        _unit_after(text, found, u) or _unit_before(text, found, u) for u in units
    )


def _unit_after(text: str, found: re.Match[str], unit: str) -> bool:
    rest = text[found.end() : found.end() + len(unit) + 20].lstrip().casefold()
    return rest.startswith(unit.casefold()) and not (
        unit[-1:].isalpha() and rest[len(unit) : len(unit) + 1].isalpha()
    )


def _unit_before(text: str, found: re.Match[str], unit: str) -> bool:
    start = max(0, found.start() - len(unit) - 20)
    before = text[start : found.start()].rstrip().casefold()
    return before.endswith(unit.casefold()) and not (
        unit[:1].isalpha() and before[-len(unit) - 1 : -len(unit)].isalpha()
    )


def _minus_before_unit(text: str, found: re.Match[str], units: tuple[str, ...]) -> bool:
    """`-$35`."""
    for unit in units:
        # No more than is looked at: of a long reply, for each number, all before it would be too much.
        before = text[max(0, found.start() - len(unit) - 21) : found.start()].rstrip()
        if _unit_before(text, found, unit) and before[: -len(unit)].endswith("-"):
            return True
    return False


def _is_it(check: ReplyNumber, number: int | float) -> bool:
    if check.tolerance:
        wanted = check.value.equals
        assert isinstance(wanted, int | float)
        return abs(as_decimal(number) - as_decimal(wanted)) <= as_decimal(check.tolerance)
    return fulfils(check.value, number)
