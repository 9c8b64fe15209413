"""What stands in for a value: invented from a key and the value, in the value's own form, and nobody's."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import ipaddress
import re
import string
from collections.abc import Callable

import phonenumbers
from stdnum import iban, luhn

from seatrial.stand_ins.finding import Kind

_PREFIX = re.compile(r"^(?:[A-Za-z]+[-_:/.#])+")
_UUID = re.compile(r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_WORD = re.compile(r"[^\W\d_]+")
_SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]
SHORTEST_WORD = 3
"""Shorter words of a name are kept: initials, `de`, `of`."""


def invented(key: bytes, kind: Kind, value: str, attempt: int = 0) -> str:
    """What stands in for a value.

    The same for the same key and value; nobody without the key can try values out until one fits.

    Args:
        key: kept beside the repository, never in it.
        kind: what the value is.
        value: the value.
        attempt: counts up while what was invented is taken.
    """
    return _INVENTORS[kind](value, _Draws(key, f"{kind}\0{_same(kind, value)}\0{attempt}"))


def word(key: bytes, value: str, attempt: int = 0) -> str:
    """What stands in for one word of a name, with its capitals."""
    made = _syllables(_Draws(key, f"word\0{value.casefold()}\0{attempt}"))
    if value.isupper():
        return made.upper()
    return made.capitalize() if value[0].isupper() else made


class _Draws:
    """Numbers drawn from a key and a name, always the same ones."""

    def __init__(self, key: bytes, name: str) -> None:
        self._key, self._name, self._at, self._left = key, name, 0, b""

    def below(self, most: int) -> int:
        """A number from 0, smaller than this one."""
        if len(self._left) < 4:
            data = f"{self._name}\0{self._at}".encode("utf-8", "surrogatepass")
            self._left, self._at = hmac.digest(self._key, data, hashlib.sha256), self._at + 1
        number, self._left = int.from_bytes(self._left[:4]), self._left[4:]
        return number % most

    def one_of(self, letters: str) -> str:
        return letters[self.below(len(letters))]


def _same(kind: Kind, value: str) -> str:
    """Values that are the same one, written otherwise."""
    if kind is Kind.EMAIL:
        return value.casefold()
    if kind in (Kind.PHONE, Kind.ACCOUNT, Kind.IDENTITY):
        return re.sub(r"[^0-9A-Za-z]", "", value)
    return value


def _syllables(draws: _Draws) -> str:
    return "".join(_SYLLABLES[draws.below(len(_SYLLABLES))] for _ in range(3))


def _shaped(value: str, draws: _Draws, zeros: int = 0) -> str:
    """Letters for letters, digits for digits, and the first digits as zeros; everything else as it is."""
    made = []
    for letter in value:
        if letter.isdigit() and zeros:
            made.append("0")
            zeros -= 1
        elif letter.isdigit():
            # What begins with a digit other than 0 may be a number, and stays one of the same length.
            first = not made or not made[-1].isalnum()
            made.append(
                draws.one_of(string.digits[1:] if first and letter != "0" else string.digits)
            )
        elif letter.isalpha():
            letters = string.ascii_uppercase if letter.isupper() else string.ascii_lowercase
            made.append(draws.one_of(letters))
        else:
            made.append(letter)
    return "".join(made)


def _secret(_: str, draws: _Draws) -> str:
    return "[secret-" + "".join(draws.one_of(string.digits + "abcdef") for _ in range(8)) + "]"


def _email(_: str, draws: _Draws) -> str:
    return f"{_syllables(draws)}.{_syllables(draws)}@example.com"


def _id(value: str, draws: _Draws) -> str:
    if _UUID.match(value):
        digits = "0123456789ABCDEF" if value.upper() == value else "0123456789abcdef"
        made = "".join(c if c == "-" else draws.one_of(digits) for c in value)
        return made[:14] + value[14] + made[15:19] + value[19] + made[20:]  # version and variant
    prefix = _PREFIX.match(value)
    kept = prefix.group() if prefix else ""
    return kept + _shaped(value[len(kept) :], draws)


def _phone(value: str, draws: _Draws) -> str:
    """No number that can be dialled: none begins with three zeros."""
    kept = ""
    try:
        code = str(phonenumbers.parse(value).country_code)
        if (match := re.match(rf"\D*{code}", value)) is not None:
            kept = match.group()
    except phonenumbers.NumberParseException:
        pass  # without a country: then all of its digits are replaced
    return kept + _shaped(value[len(kept) :], draws, zeros=3)


def _account(value: str, draws: _Draws) -> str:
    """An IBAN of a bank that there is not, or a card of no issuer, with check digits that are right."""
    plain = re.sub(r"[^0-9A-Za-z]", "", value)
    if plain[:1].isdigit():
        made = "0000" + _shaped(plain[4:-1], draws)
        made += luhn.calc_check_digit(made)
    else:
        made = plain[:2] + "00" + _shaped(plain[4:], draws, zeros=4)
        made = plain[:2] + iban.calc_check_digits(made) + made[4:]
    letters = iter(made)
    return "".join(next(letters) if c.isalnum() else c for c in value)


def _network(value: str, draws: _Draws) -> str:
    """From the ranges that are for examples and measurements."""
    if ":" in value:
        return str(ipaddress.IPv6Address((0x20010DB8 << 96) + draws.below(2**32)))
    return str(ipaddress.IPv4Address(int(ipaddress.IPv4Address("198.18.0.0")) + draws.below(2**17)))


def _birth(value: str, draws: _Draws) -> str:
    """Another day, at most a year away where it is written as ISO 8601."""
    days = draws.below(365) + 1
    try:
        moved = dt.date.fromisoformat(value[:10]) - dt.timedelta(days)
    except (ValueError, OverflowError):
        return re.sub(r"\d+", lambda part: _part_of_date(part.group(), draws), value)
    return moved.isoformat() + value[10:]


def _part_of_date(part: str, draws: _Draws) -> str:
    if len(part) == 4:
        return str(int(part) - 1 - draws.below(3)).zfill(4)
    return str(draws.below(12) + 1).zfill(len(part))


def _words(value: str, draws: _Draws) -> str:
    """Other words, and other digits."""

    def other(found: re.Match[str]) -> str:
        if len(found.group()) < SHORTEST_WORD:
            return _shaped(found.group(), draws)
        made = _syllables(draws)
        return made.upper() if found.group().isupper() else made.capitalize()

    # One pass over words and digits: what was invented must not be replaced again.
    return re.sub(
        rf"{_WORD.pattern}|\d+",
        lambda m: _shaped(m.group(), draws) if m.group()[0].isdigit() else other(m),
        value,
    )


_INVENTORS: dict[Kind, Callable[[str, _Draws], str]] = {
    Kind.SECRET: _secret,
    Kind.EMAIL: _email,
    Kind.ACCOUNT: _account,
    Kind.IDENTITY: lambda value, draws: _shaped(value, draws, zeros=3),
    Kind.PHONE: _phone,
    Kind.NETWORK: _network,
    Kind.BIRTH: _birth,
    Kind.NAME: _words,
    Kind.ADDRESS: _words,
    Kind.ID: _id,
}
