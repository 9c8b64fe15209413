"""What stands in for a value: invented from a key and the value, in the value's own form, and nobody's."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import string
from collections.abc import Callable

from seatrial.stand_ins.finding import Found, Kind
from seatrial.stand_ins.forms import is_national_id, is_nobodys_account

_PREFIX = re.compile(r"^(?:[A-Za-z]+[-_:/.#])+")
_UUID = re.compile(r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_WORD = re.compile(r"[^\W\d_]+")
_SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]
_INVENTED = re.compile(r"(?:[bdfgklmnprstvz][aeiou]){4}")
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
    draws = _Draws(key, f"{kind}\0{same(kind, value)}\0{attempt}", attempt)
    return _INVENTORS[kind](value, draws)


def is_invented(key: bytes, found: Found) -> bool:
    """Whether a value is a stand-in already, drawn with this key.

    What is real is taken for one in fewer than one of some thousand cases: words by their syllables, of which the last
    follows from the others, and numbers by their zeros.
    """
    zeros = _is_invented_number(key, found)
    match found.kind:
        case Kind.NAME | Kind.ADDRESS | Kind.SECRET:
            if zeros and not re.search(r"\s", found.value.strip()):
                return True
            words = [w for w in _WORD.findall(found.value) if len(w) >= SHORTEST_WORD]
            return all(is_invented_word(key, one) for one in words) if words else zeros
        case Kind.ACCOUNT | Kind.IDENTITY | Kind.PHONE:
            return zeros
        case Kind.BIRTH:
            return zeros or _birth(found.value, _Draws(key, "")) == found.value
        case _:
            return False


def _is_invented_number(key: bytes, found: Found) -> bool:
    digits = re.sub(r"\D", "", found.value)
    if found.number:
        ended = len(digits) < SHORTEST_ENDED or digits.endswith(_ending(key, digits))
        return digits.startswith("100") and ended
    # How many digits tell the country, only tables know.
    abroad = range(1, 4) if found.value.lstrip().startswith("+") else ()
    for own in (digits, *(digits[length:] for length in abroad)):
        if (
            own
            and not own[:3].strip("0")
            and (len(own) < SHORTEST_ENDED or own.endswith(_ending(key, own)))
        ):
            return True
    return len(digits) > 12 and digits.startswith("0000") and _is_card(digits)


def _is_card(digits: str) -> bool:
    from stdnum import luhn  # noqa: PLC0415 - it is not needed before

    return bool(luhn.is_valid(digits))


SHORTEST_ENDED = 6
"""Digits from which on the last two of an invented number follow from the others."""


def _ending(key: bytes, digits: str) -> str:
    told = hmac.digest(key, digits[1:-2].encode(), hashlib.sha256)
    return f"{told[0] % 100:02}"


def is_invented_word(key: bytes, value: str) -> bool:
    """Whether a word of a name is a stand-in already."""
    plain = value.lower()
    return _INVENTED.fullmatch(plain) is not None and plain == plain[:6] + _last(key, plain[:6])


def word(key: bytes, value: str, attempt: int = 0) -> str:
    """What stands in for one word of a name, with its capitals."""
    made = _Draws(key, f"word\0{value.casefold()}\0{attempt}").word()
    if value.isupper():
        return made.upper()
    return made.capitalize() if value[0].isupper() else made


class _Draws:
    """Numbers drawn from a key and a name, always the same ones."""

    def __init__(self, key: bytes, name: str, attempt: int = 0) -> None:
        self._key, self._name, self._at, self._left = key, name, 0, b""
        self.attempt = attempt

    def below(self, most: int) -> int:
        """A number from 0, smaller than this one."""
        if len(self._left) < 4:
            data = f"{self._name}\0{self._at}".encode("utf-8", "surrogatepass")
            self._left, self._at = hmac.digest(self._key, data, hashlib.sha256), self._at + 1
        number, self._left = int.from_bytes(self._left[:4]), self._left[4:]
        return number % most

    def one_of(self, letters: str) -> str:
        return letters[self.below(len(letters))]

    def ending(self, digits: str) -> str:
        """The last two digits of an invented number."""
        return _ending(self._key, digits)

    def word(self) -> str:
        """A word that nobody is called by, and that is known again."""
        begun = "".join(_SYLLABLES[self.below(len(_SYLLABLES))] for _ in range(3))
        return begun + _last(self._key, begun)


def _last(key: bytes, begun: str) -> str:
    """The last syllable of an invented word, which follows from the others."""
    return _SYLLABLES[hmac.digest(key, begun.encode(), hashlib.sha256)[0] % len(_SYLLABLES)]


def as_number(made: str) -> int:
    """A stand-in as a number of as many digits, which begins with 100 where it would begin with zeros."""
    return int("1" + made[1:] if made.startswith("0") else made)


def same(kind: Kind, value: str) -> str:
    """Values that are the same one, written otherwise."""
    if kind is Kind.EMAIL:
        return value.casefold()
    if kind in (Kind.PHONE, Kind.ACCOUNT, Kind.IDENTITY):
        return re.sub(r"[^0-9A-Za-z]", "", value)
    return value


def _shaped(value: str, draws: _Draws, zeros: int = 0, *, ended: bool = False) -> str:
    """Letters for letters, digits for digits, and the first digits as zeros; everything else as it is.

    `ended`: the last two digits follow from the others, so that it is known again.
    """
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
    places = [place for place, letter in enumerate(made) if letter.isdigit()]
    if ended and len(places) >= SHORTEST_ENDED:
        ending = draws.ending("".join(made[place] for place in places))
        made[places[-2]], made[places[-1]] = ending[0], ending[1]
    return "".join(made)


def _secret(_: str, draws: _Draws) -> str:
    return "[secret-" + "".join(draws.one_of(string.digits + "abcdef") for _ in range(8)) + "]"


def _email(_: str, draws: _Draws) -> str:
    return f"{draws.word()}.{draws.word()}@example.com"


def _host(_: str, draws: _Draws) -> str:
    return f"{draws.word()}.example.com"


def _id(value: str, draws: _Draws) -> str:
    if _UUID.match(value):
        digits = "0123456789ABCDEF" if value.upper() == value else "0123456789abcdef"
        made = "".join(c if c == "-" else draws.one_of(digits) for c in value)
        return made[:14] + value[14] + made[15:19] + value[19] + made[20:]  # version and variant
    prefix = _PREFIX.match(value)
    kept = prefix.group() if prefix else ""
    return kept + _shaped(value[len(kept) :], draws)


FICTION = {
    "1": [f"{area}55501" for area in (202, 305, 312, 415, 503, 617, 702, 808)],
    "33": ["19900"],
    "44": ["2079460"],
    "49": ["3023125"],
}
"""Country → how numbers begin there that are kept free for fiction (see `forms`)."""
_LENGTHS = {"1": 10, "33": 9, "44": 10, "49": 10}


def _phone(value: str, draws: _Draws) -> str:
    """A number that is kept free for fiction, or one that cannot be dialled: none begins with three zeros."""
    import phonenumbers  # noqa: PLC0415 - its tables are not needed before

    kept = code = ""
    try:
        code = str(phonenumbers.parse(value).country_code)
        if (match := re.match(rf"\D*{code}", value)) is not None:
            kept = match.group()
    except phonenumbers.NumberParseException:
        pass  # without a country: then all of its digits are replaced
    if kept and code in FICTION and draws.attempt < MOST_OF_FICTION:
        begun = FICTION[code][draws.below(len(FICTION[code]))]
        made = begun + "".join(
            draws.one_of(string.digits) for _ in range(_LENGTHS[code] - len(begun))
        )
        return kept + _spaced(value[len(kept) :], made)
    return kept + _shaped(value[len(kept) :], draws, zeros=3, ended=True)


MOST_OF_FICTION = 20
"""Attempts after which the few numbers for fiction are taken to be used up."""


def _spaced(pattern: str, digits: str) -> str:
    """Digits with the separators of another number, where it has as many; else with the first of them, once."""
    if sum(letter.isdigit() for letter in pattern) == len(digits):
        left = iter(digits)
        return "".join(next(left) if letter.isdigit() else letter for letter in pattern)
    separator = re.match(r"[ .-]", pattern)
    return (separator.group() if separator else "") + digits


def _account(value: str, draws: _Draws) -> str:
    """An IBAN of a bank that there is not, or a card of no issuer, with check digits that are right."""
    from stdnum import iban, luhn  # noqa: PLC0415 - they read tables

    plain = re.sub(r"[^0-9A-Za-z]", "", value)
    if plain[:1].isdigit():
        made = "0000" + _shaped(plain[4:-1], draws)
        made += luhn.calc_check_digit(made)
    else:
        while True:
            inner = re.sub("[A-Za-z]", "X", _shaped(plain[4:], draws, zeros=4))
            made = plain[:2] + iban.calc_check_digits(f"{plain[:2]}00{inner}") + inner
            if is_nobodys_account(made):
                break
    letters = iter(made)
    return "".join(next(letters) if c.isalnum() else c for c in value)


def _identity(value: str, draws: _Draws) -> str:
    """A number in the same shape that begins with zeros; none of a country whose check digits would be right."""
    while True:
        made = _shaped(value, draws, zeros=3, ended=True)
        if not is_national_id(made):
            return made


def _network(value: str, draws: _Draws) -> str:
    """From the ranges that are for examples and measurements."""
    if ":" in value:
        return str(ipaddress.IPv6Address((0x20010DB8 << 96) + draws.below(2**32)))
    return str(ipaddress.IPv4Address(int(ipaddress.IPv4Address("198.18.0.0")) + draws.below(2**17)))


def _birth(value: str, _: _Draws) -> str:
    """The first of January of the year, however it is written: the day is what tells one from another."""
    return re.sub(r"\d+", lambda part: _part_of_date(part.group()), value)


def _part_of_date(part: str) -> str:
    return f"{part[:4]}0101"[: len(part)] if len(part) in (4, 8) else "1".zfill(len(part))


def _words(value: str, draws: _Draws) -> str:
    """Other words and other digits; where there is no word, a number that is known again."""
    if not any(len(found) >= SHORTEST_WORD for found in _WORD.findall(value)):
        return _shaped(value, draws, zeros=3, ended=True)

    def other(found: re.Match[str]) -> str:
        if found.group()[0].isdigit() or len(found.group()) < SHORTEST_WORD:
            return _shaped(found.group(), draws)
        made = draws.word()
        return made.upper() if found.group().isupper() else made.capitalize()

    # One pass over words and digits: what was invented must not be replaced again.
    return re.sub(rf"{_WORD.pattern}|\d+", other, value)


_INVENTORS: dict[Kind, Callable[[str, _Draws], str]] = {
    Kind.SECRET: _secret,
    Kind.EMAIL: _email,
    Kind.HOST: _host,
    Kind.ACCOUNT: _account,
    Kind.IDENTITY: _identity,
    Kind.PHONE: _phone,
    Kind.NETWORK: _network,
    Kind.BIRTH: _birth,
    Kind.NAME: _words,
    Kind.ADDRESS: _words,
    Kind.ID: _id,
}
