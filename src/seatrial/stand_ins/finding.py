"""Where a JSON value holds a secret, personal data or an id: by the form of a text, and by the key it is under."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import phonenumbers
from stdnum import iban, luhn
from stdnum.us import ssn

from seatrial.redaction import SHORTEST
from seatrial.trace import Json


class Kind(StrEnum):
    """What a value is; of several that fit, the first counts."""

    SECRET = "secret"
    EMAIL = "e-mail address"
    ACCOUNT = "account number"
    IDENTITY = "identity number"
    PHONE = "phone number"
    NETWORK = "network address"
    BIRTH = "date of birth"
    NAME = "name"
    ADDRESS = "address"
    ID = "id"


@dataclass(frozen=True, slots=True)
class Found:
    """A value that may not be kept."""

    kind: Kind
    value: str
    place: str
    """Keys joined by dots, every position in a list as `[*]`."""


SHORTEST_ID, SMALLEST_ID = 5, 10_000
"""Shorter ids, and smaller ones that are numbers, are met by chance too often to be replaced, and say little."""

_SECRET = re.compile(
    "|".join(
        (
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----",
            r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # JSON Web Token
            r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
            r"\bgh[pousr]_[A-Za-z0-9]{30,}\b",
            r"\bgithub_pat_[A-Za-z0-9_]{30,}\b",
            r"\bglpat-[A-Za-z0-9_-]{20,}",
            r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
            r"\bAIza[0-9A-Za-z_-]{35}",
            r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b",
            r"\bsk-[A-Za-z0-9_-]{20,}",
            r"\bnpm_[A-Za-z0-9]{36}\b",
            r"\bpypi-[A-Za-z0-9_-]{50,}",
            r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)",
            r"(?<=\b[Bb]earer )[A-Za-z0-9._~+/=-]{12,}",
        )
    )
)
"""Scanners of repositories tell *that* a secret is in a line; here it must be known where it ends."""
_EMAIL = re.compile(r"[A-Za-z0-9._%+'-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_CARD = re.compile(r"(?<![\w.-])[3-6](?:[ -]?\d){13,18}(?![\w-])")
_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:.])")
_UUID = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")
_LINE = re.compile(
    r"^[\s>*#|_-]*([A-Za-z][A-Za-z _-]{1,40}?)[*_ ]*[:=][*_ \t]*(\S.*?)[\s,;*_|]*$", re.MULTILINE
)
"""`Customer name: …` in a text for people."""

_SECRET_KEYS = re.compile(
    r"(password|passwd|passphrase|secret|apikey|accesskey|privatekey|authorization|credential|cookie|sessionid|"
    r"^auth|token)s?$"
)
_NAME_KEYS = frozenset({
    "firstname", "lastname", "surname", "givenname", "familyname", "middlename", "maidenname", "fullname",
    "customername", "contactname", "patientname", "employeename", "personname", "ownername", "recipientname",
    "cardholder", "cardholdername", "displayname",
})  # fmt: skip
_PERSON_KEYS = re.compile(
    r"^(e?mail|emailaddress|phone|phonenumber|mobile|birth.*|dateofbirth|dob|surname|firstname)$"
)
"""Who has one of these is a person, so that a plain `name` beside it is a person's."""
_PHONE_KEYS = re.compile(r"(phone|telephone|mobile|fax|cell)(number|no)?$")
_BIRTH_KEYS = re.compile(r"^(dob|.*birth(date|day)?)$")
_ADDRESS_KEYS = re.compile(
    r"^(.*street.*|address|addressline\d?|address\d|zip|zipcode|postcode|postalcode)$"
)
_IDENTITY_KEYS = re.compile(
    r"^(ssn|socialsecurity(number)?|tax(id|number)|passport(number|no)?|nationalid|driver.*licen[cs]e.*|"
    r"insurance(number|no)|medicalrecord(number)?|mrn|iban|account(number|no)|card(number|no))$"
)
_USER_KEYS = frozenset({"username", "login", "handle", "nickname", "userlogin"})
_ID_KEY = re.compile(
    r"(^|[_-])(id|ids|uuid|guid)$|[a-z](Id|Ids|ID|IDs|Uuid|UUID|Guid)$|"
    r"(order|customer|member|invoice|contract|policy|case|ticket|patient|employee|booking)[ _-]?(number|no|nr)$",
)
_REDACTED = re.compile(r"^\[[A-Za-z0-9_]+\]$")


def found(value: Json, place: str, *, ids: bool) -> Iterator[Found]:
    """All that may not be kept in a JSON value, keys of mappings included.

    Args:
        value: the value.
        place: what its places begin with.
        ids: whether ids may not be kept either.
    """
    for one in _inside(value, place, "", person=False):
        if ids or one.kind is not Kind.ID:
            yield one


def secrets_in(text: str) -> Iterator[tuple[int, str]]:
    """Secrets that can be told by their form: where each begins, and itself."""
    for secret in _SECRET.finditer(text):
        yield secret.start(), secret.group()


def may_not_be_kept(key: str, number: int) -> bool:
    """Whether a number is more than one, by the key that it is under."""
    return number >= SMALLEST_ID and _by_key(key, str(number), person=False) is not None


def _inside(value: Json, place: str, key: str, *, person: bool) -> Iterator[Found]:
    match value:
        case dict():
            is_person = _is_person(value)
            for name, item in value.items():
                inside = f"{place}.{name}" if place else name
                named = list(_of_text(name, place, ""))
                yield from named
                yield from _inside(item, f"{place}.*" if named else inside, name, person=is_person)
        case list() | tuple():
            for item in value:
                yield from _inside(item, f"{place}[*]", key, person=person)
        case str():
            yield from _of_text(value, place, key, person=person)
        case bool():
            return
        case int():
            if value >= SMALLEST_ID and (kind := _by_key(key, str(value), person=False)):
                yield Found(kind, str(value), place)
        case _:
            return


def _of_text(text: str, place: str, key: str, *, person: bool = False) -> Iterator[Found]:
    if text[:1] in ("{", "[") and (written := _read(text)) is not None:
        yield from _inside(written, place, key, person=person)
        return
    for kind, value in (*_forms(text), *_labelled(text)):
        yield Found(kind, value, place)
    if key and (whole := _by_key(key, text, person=person)) is not None:
        yield Found(whole, text, place)


def _read(text: str) -> dict[str, Json] | list[Json] | None:
    """The object or list that a text is, as many servers answer."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _is_person(keys: Iterable[str]) -> bool:
    return any(_PERSON_KEYS.match(_plain(key)) for key in keys)


def _plain(key: str) -> str:
    return re.sub(r"[^a-z0-9]", "", key.lower())


def _by_key(key: str, value: str, *, person: bool) -> Kind | None:
    """What a value is that stands alone under a key."""
    plain = _plain(key)
    if not value.strip() or _REDACTED.match(value):
        return None
    digits = sum(c.isdigit() for c in value)
    if _SECRET_KEYS.search(plain) and len(value) >= SHORTEST:
        return Kind.SECRET
    if _EMAIL.fullmatch(value):
        return Kind.EMAIL
    if _IDENTITY_KEYS.match(plain) and digits >= 4:
        return Kind.IDENTITY
    if _PHONE_KEYS.search(plain) and digits >= 5:
        return Kind.PHONE
    if _BIRTH_KEYS.match(plain) and digits >= 4:
        return Kind.BIRTH
    if plain in _NAME_KEYS or (plain == "name" and person):
        return Kind.NAME if len(value) <= 100 else None
    if _ADDRESS_KEYS.match(plain):
        return Kind.ADDRESS if len(value) <= 200 else None
    if plain in _USER_KEYS:
        return Kind.ID if len(value) >= 3 else None
    if _ID_KEY.search(key) and digits and len(value) >= SHORTEST_ID and not re.search(r"\s", value):
        return Kind.ID
    return None


def _labelled(text: str) -> Iterator[tuple[Kind, str]]:
    """Values behind a label, line by line."""
    lines = [(label.strip(), value) for label, value in _LINE.findall(text)]
    person = _is_person(label for label, _ in lines)
    for label, value in lines:
        kind = _by_key(label.replace(" ", "_").lower(), value, person=person)
        if kind is not None:
            yield kind, value


def _forms(text: str) -> Iterator[tuple[Kind, str]]:
    """What can be told by its form, wherever it stands."""
    for secret in _SECRET.finditer(text):
        yield Kind.SECRET, secret.group()
    text = _SECRET.sub(" ", text)  # what comes before an @ may be a password
    for email in _EMAIL.finditer(text):
        yield Kind.EMAIL, email.group()
    for number in _IBAN.finditer(text):
        if iban.is_valid(number.group(), check_country=False):
            yield Kind.ACCOUNT, number.group()
    for card in _CARD.finditer(text):
        if luhn.is_valid(re.sub(r"\D", "", card.group())):
            yield Kind.ACCOUNT, card.group()
    for security in _SSN.finditer(text):
        if ssn.is_valid(security.group()):
            yield Kind.IDENTITY, security.group()
    if "+" in text:
        for phone in phonenumbers.PhoneNumberMatcher(text, None):
            yield Kind.PHONE, phone.raw_string
    for address in (*_IPV4.findall(text), *_IPV6.findall(text)):
        if _is_public(address):
            yield Kind.NETWORK, address
    for uuid in _UUID.finditer(text):
        yield Kind.ID, uuid.group()


def _is_public(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False
