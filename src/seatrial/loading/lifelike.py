"""What looks like data of real people and places in documents, which hold invented data only.

Texts are looked at line by line, comments as well. What is validated by a check digit or a numbering plan is left to
libraries: python-stdnum (IBANs, card numbers, national ids) and phonenumbers.
"""

from __future__ import annotations

import importlib
import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from seatrial.errors import InvalidDocuments, Problem
from seatrial.loading.reading import read

ALLOWED = "real-data.yaml"
"""A file beside the folders of documents: a list of `value` (`*` stands for anything) and `reason`."""

_MARKS = re.compile(rb"@|://|\+\d")
_NUMBERS = re.compile(
    rb"[\dA-Z](?:(?<=\d)(?:(?:[ -]?\d){8}|\d\d\.\d{3}|\d{6}-?[A-Z]|\d{5}[-+A]\d{3})"
    rb"|(?<=[A-Z])[A-Z]\d\d|(?<=[AB]) ?\d{3} ?\d{3} ?\d\d)"
)
"""With `_MARKS`, what a line holds that can hold anything of interest. A day (`2026-03-16`) is nothing of the kind.

All begin with one set of characters: the rest of a text is passed over at a fifth of the cost.
"""
_MAY_BE_SECRET = re.compile(
    rb"PRIVATE KEY|eyJ|A[KS]IA|gh[pousr]_(?<!\w.{4})|github_pat_|glpat-|xox[abeprs]-|AIza|_(?:live|test)_|"
    rb"sk-(?<!\w...)|npm_|pypi-|://[^\s/@]+:[^\s/@]+@|earer "
)
"""What a file holds that can hold a secret; the forms themselves are those of `stand_ins`."""
_MAIL = re.compile(r"[\w.%+-]+@((?:[\w-]+\.)+[A-Za-z]{2,24})\b")
_URL = re.compile(r"\b(?:https?|wss?|ftp)://[^\s\"'`<>{}\[\]()]+")
_OWN_URL = re.compile(r"""^\s*(?:- )?["']?(?:url|\$schema|\$id|\$ref)["']?:""")
"""A key that says where something is reached or defined: no data of anybody."""
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(r"(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d.-])")
_CARD_BEGINS = re.compile(r"4|5[1-5]|2[2-7]|3[47]|6011|65")
_TEST_CARDS = frozenset((
    "4111111111111111", "4242424242424242", "4000056655665556", "4012888888881881", "5555555555554444",
    "5105105105105100", "378282246310005", "371449635398431", "6011111111111117", "6011000990139424",
))  # fmt: skip
"""Numbers that payment providers give out for tests."""
_PHONE = re.compile(r"\+\d")
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
    r"\+1\d{3}55501\d\d|\+447700900\d{3}|\+442079460\d{3}|\+44808157\d{4}"
)
"""Kept free for fiction: by the North American Numbering Plan (555-01xx) and by Ofcom."""
_IDS = (
    ("stdnum.us.ssn", "US social security number", re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")),
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


@dataclass(slots=True)
class Allowed:
    """Values that look real and may stay."""

    values: dict[str, int] = field(default_factory=dict)
    """Each with its line."""
    used: set[str] = field(default_factory=set)

    def holds(self, value: str) -> bool:
        """Whether a value may stay."""
        for pattern in self.values:
            if fnmatchcase(value.lower(), pattern.lower()):
                self.used.add(pattern)
                return True
        return False


def allowed(data: bytes | None) -> Allowed:
    """What the file `ALLOWED` allows; nothing where there is none.

    Raises:
        InvalidDocuments: it is no list of `value` and `reason`.
    """
    found = Allowed()
    if data is None:
        return found
    file = read(ALLOWED, data)
    if file.problems:
        raise InvalidDocuments(file.problems)
    hint = "Write a list: `- {value: help@shop.de, reason: The public address of the product}`"
    entries = [entry for raw in file.documents for entry in _entries(raw.value)]
    problems = []
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or entry.keys() != {"value", "reason"}:
            problems.append(f"entry {number} is no `value` with a `reason`")
        elif not all(isinstance(v, str) and v.strip() for v in entry.values()):
            problems.append(f"entry {number}: `value` and `reason` are texts, and neither is empty")
        elif not entry["value"].strip("*?[]!. @"):
            problems.append(f"entry {number}: `{entry['value']}` would allow everything")
        else:
            found.values[entry["value"]] = number
    if problems:
        raise InvalidDocuments(Problem(ALLOWED, 1, 1, m, hint, "real-data") for m in problems)
    return found


def _entries(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def lifelike(files: Mapping[str, bytes], may_stay: Allowed) -> tuple[Problem, ...]:
    """What looks real, in the order of the files, and what is allowed in vain.

    Args:
        files: path → content, all of them files of documents that can be read.
        may_stay: what may look real; what of it is met is noted there.
    """
    found: list[Problem] = []
    for path, data in files.items():
        if _MAY_BE_SECRET.search(data):
            found += _secrets(path, data.decode("utf-8", "replace"), may_stay)
        for number, raw in _lines_of_interest(data):
            line = raw.decode("utf-8", "replace")
            for start, value, what, code in _in_line(line, hosts=not path.startswith("arms/")):
                if not may_stay.holds(value):
                    message = f"`{value}` looks like {what}"
                    hint = f"Invent one that cannot be real, or allow it with a reason in {ALLOWED}"
                    found.append(Problem(path, number, start + 1, message, hint, code, "warning"))
    for value in may_stay.values:
        if value not in may_stay.used:
            message = f"`{value}` is allowed, and nothing here is so"
            found.append(Problem(ALLOWED, 1, 1, message, "Remove it", "real-data", "warning"))
    return tuple(sorted(found))


def _lines_of_interest(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that can hold anything of interest, each with its number."""
    if _MARKS.search(data) is not None or _NUMBERS.search(data) is not None:
        for number, line in enumerate(data.splitlines(), 1):
            if _MARKS.search(line) is not None or _NUMBERS.search(line) is not None:
                yield number, line


def _secrets(path: str, text: str, may_stay: Allowed) -> Iterator[Problem]:
    """An error each: a secret in a file is known to all who read the repository. It is not repeated here."""
    from seatrial.stand_ins.finding import secrets_in  # noqa: PLC0415 - it loads phonenumbers

    for start, secret in secrets_in(text):
        if not may_stay.holds(secret):
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            message = f"`{secret[:4]}…` looks like a secret"
            hint = f"Take it out, and exchange it where it is in use; or allow it with a reason in {ALLOWED}"
            yield Problem(path, line, column, message, hint, "secret")


def _in_line(line: str, *, hosts: bool) -> Iterator[tuple[int, str, str, str]]:
    """Column from 0, value, what it looks like, and the code."""
    for match in _MAIL.finditer(line):
        if not _is_reserved(match[1]):
            yield match.start(), match[0], "a mail address of somebody", "real-mail"
    if hosts and not _OWN_URL.match(line):
        for match in _URL.finditer(line):
            host = _host(match[0])
            if host and not _is_reserved(host):
                yield match.start(), host, "a host that there may be", "real-host"
    taken: list[tuple[int, int]] = []
    for match in _IBAN.finditer(line):
        if _valid("stdnum.iban", match[0]):
            taken.append(match.span())
            yield match.start(), match[0], "an account number (IBAN)", "real-iban"
    for match in _CARD.finditer(line):
        digits = re.sub(r"\D", "", match[0])
        if (
            _CARD_BEGINS.match(digits)
            and digits not in _TEST_CARDS
            and _free(match, taken)
            and _valid("stdnum.luhn", digits)
        ):
            taken.append(match.span())
            yield match.start(), match[0], "a card number", "real-card"
    for module, what, pattern in _IDS:
        for match in pattern.finditer(line):
            if _free(match, taken) and _valid(module, match[0]):
                taken.append(match.span())
                yield match.start(), match[0], f"a {what}", "real-id"
    if _PHONE.search(line):
        yield from _phones(line)


def _phones(line: str) -> Iterator[tuple[int, str, str, str]]:
    import phonenumbers  # noqa: PLC0415 - its tables cost more than most trees of documents

    for match in phonenumbers.PhoneNumberMatcher(line, None):
        number = phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
        if _RESERVED_PHONES.fullmatch(number) is None:
            yield match.start, match.raw_string, "a telephone number", "real-phone"


def _valid(module: str, value: str) -> bool:
    return bool(importlib.import_module(module).is_valid(value))


def _free(match: re.Match[str], taken: Iterable[tuple[int, int]]) -> bool:
    return all(match.end() <= start or end <= match.start() for start, end in taken)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # no address at all
        return ""


def _is_reserved(host: str) -> bool:
    """Whether a name or address can be nobody's: RFC 2606, RFC 6761, RFC 5737, RFC 3849, and what is private."""
    host = host.lower().rstrip(".")
    if any(host == name or host.endswith(f".{name}") for name in _RESERVED_DOMAINS):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host
