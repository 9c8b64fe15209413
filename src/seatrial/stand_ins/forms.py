"""What is told by its form, wherever it stands: mail addresses, hosts, numbers of accounts, cards, persons and phones.

The one recogniser of personal data: `seatrial check` tells what of it can be somebody's, and stand-ins replace it. What
is validated by a check digit or a numbering plan is left to libraries: python-stdnum and phonenumbers. Their tables
are read when they are first needed.
"""

from __future__ import annotations

import importlib
import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

Code = Literal["mail", "host", "iban", "card", "id", "phone", "network", "uuid"]


@dataclass(frozen=True, slots=True)
class Form:
    """A part of a text that is in the form of somebody's data."""

    start: int
    """Where it begins, from 0."""
    value: str
    """Itself; of an address of the web the host."""
    code: Code
    what: str
    """What it looks like, for people."""
    free: bool
    """It can be nobody's: kept free for examples, tests and fiction, or no number that was ever given out."""


MAIL = re.compile(r"(?<![\w%+])[\w%+][\w.%+'-]{0,63}@((?:[\w-]+\.)+[A-Za-z]{2,24})\b")
_URL = re.compile(r"\b(?:https?|wss?|ftp)://[^\s\"'`<>{}\[\]()]+")
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_NATIONAL = frozenset(("BE", "ES", "ME", "NO"))
"""Countries whose own check digits are known too: where these are wrong, the number is nobody's."""
_CARD = re.compile(r"(?<![\d.-])[2-6](?:[ -]?\d){12,18}(?![\d.-])")
_CARD_BEGINS = re.compile(r"4|5[1-5]|2[2-7]|3[47]|6011|65")
_TEST_CARDS = frozenset((
    "4111111111111111", "4242424242424242", "4000056655665556", "4012888888881881", "5555555555554444",
    "5105105105105100", "378282246310005", "371449635398431", "6011111111111117", "6011000990139424",
))  # fmt: skip
"""Numbers that payment providers give out for tests."""
_RESERVED_DOMAINS = (
    "example",
    "test",
    "invalid",
    "localhost",
    "example.com",
    "example.net",
    "example.org",
)
_RESERVED_PHONES = re.compile(
    r"\+1\d{3}55501\d\d|\+447700900\d{3}|\+442079460\d{3}|\+44808157\d{4}|\+493023125\d{3}|\+3319900\d{4}"
)
"""Kept free for fiction: by the North American Numbering Plan (555-01xx), Ofcom, the Bundesnetzagentur and Arcep."""
_IDS = (
    ("stdnum.us.ssn", "US social security number", re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")),
    ("stdnum.it.codicefiscale", "Italian tax code",
     re.compile(r"\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b")),
    ("stdnum.es.dni", "Spanish identity number", re.compile(r"\b\d{8}-?[A-Z]\b")),
    ("stdnum.es.nie", "Spanish identity number", re.compile(r"\b[XYZ]-?\d{7}-?[A-Z]\b")),
    ("stdnum.fi.hetu", "Finnish identity code", re.compile(r"\b\d{6}[-+A]\d{3}[0-9A-Z]\b")),
    ("stdnum.se.personnummer", "Swedish identity number",
     re.compile(r"(?<![\d-])(?:\d\d)?\d{6}[-+]\d{4}(?![\d-])")),
    ("stdnum.fr.nir", "French social security number",
     re.compile(r"(?<!\d)[12] ?\d\d ?\d\d ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d(?!\d)")),
    ("stdnum.br.cpf", "Brazilian tax number", re.compile(r"(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)")),
    ("stdnum.de.idnr", "German tax number", re.compile(r"(?<!\d)\d{2} ?\d{3} ?\d{3} ?\d{3}(?!\d)")),
)  # fmt: skip
_PHONE = re.compile(r"\+\d")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:.])")
_UUID = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")


def forms(text: str) -> Iterator[Form]:
    """All parts of a text that are in such a form, kind by kind; of numbers that overlap the first."""
    for match in MAIL.finditer(text):
        yield Form(match.start(), match[0], "mail", "a mail address of somebody", _free(match[1]))
    for match in _URL.finditer(text):
        if host := _host(match[0]):
            start = match.start() + match[0].lower().index(host)
            there = text[start : start + len(host)]
            yield Form(start, there, "host", "a host that there may be", _free(host))
    taken: list[tuple[int, int]] = []
    for match, code, what, free in _numbers(text):
        if all(match.end() <= start or end <= match.start() for start, end in taken):
            taken.append(match.span())
            yield Form(match.start(), match[0], code, what, free)
    if _PHONE.search(text):
        yield from _phones(text)
    for pattern in (_IPV4, _IPV6):
        for match in pattern.finditer(text):
            if _is_public(match[0]):
                yield Form(match.start(), match[0], "network", "a public network address", False)
    for match in _UUID.finditer(text):
        yield Form(match.start(), match[0], "uuid", "an id", True)


def is_nobodys_account(number: str) -> bool:
    """Whether a right account number (IBAN) can be nobody's: of no bank, or with wrong digits of its country."""
    from stdnum import iban  # noqa: PLC0415 - it reads tables

    plain = re.sub(r"[^0-9A-Za-z]", "", number)
    if not iban.is_valid(plain):
        return True
    inner = plain[4:]
    letters = {letter for letter in inner if letter.isalpha()}
    digits = re.sub(r"\D", "", inner)
    return plain[:2] not in _NATIONAL and digits.startswith("0000") and letters <= {"X"}


def is_national_id(number: str) -> bool:
    """Whether a number is a right one of any country whose ids are known."""
    return any(pattern.fullmatch(number) and _valid(module, number) for module, _, pattern in _IDS)


def _numbers(text: str) -> Iterator[tuple[re.Match[str], Code, str, bool]]:
    for match in _IBAN.finditer(text):
        if _is_iban(match[0]):
            yield match, "iban", "an account number (IBAN)", is_nobodys_account(match[0])
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _valid("stdnum.luhn", digits):
            free = digits in _TEST_CARDS or _CARD_BEGINS.match(digits) is None
            yield match, "card", "a card number", free
    for module, what, pattern in _IDS:
        for match in pattern.finditer(text):
            if _valid(module, match[0]):
                yield match, "id", f"a {what}", False


def _phones(text: str) -> Iterator[Form]:
    import phonenumbers  # noqa: PLC0415 - its tables cost more than most trees of documents

    for match in phonenumbers.PhoneNumberMatcher(text, None):
        number = phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
        free = _RESERVED_PHONES.fullmatch(number) is not None
        yield Form(match.start, match.raw_string, "phone", "a telephone number", free)


def _is_iban(number: str) -> bool:
    from stdnum import iban  # noqa: PLC0415 - it reads tables

    return bool(iban.is_valid(number, check_country=False))


def _valid(module: str, value: str) -> bool:
    return bool(importlib.import_module(module).is_valid(value))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # no address at all
        return ""


def _free(host: str) -> bool:
    """Whether a name or address can be nobody's: RFC 2606, RFC 6761, RFC 5737, RFC 3849, and what is private."""
    host = host.lower().rstrip(".")
    if any(host == name or host.endswith(f".{name}") for name in _RESERVED_DOMAINS):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host


def _is_public(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False
