"""Where a JSON value holds a secret, personal data or an id: by the form of a text, and by the key it is under."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from seatrial.redaction import SHORTEST
from seatrial.stand_ins.forms import Code, forms
from seatrial.trace import Json


class Kind(StrEnum):
    """What a value is; of several that fit, the first counts."""

    SECRET = "secret"
    EMAIL = "e-mail address"
    HOST = "host"
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
    number: bool = False
    """It stands there as a number, and not as text."""


SHORTEST_ID, SMALLEST_ID = 5, 10_000
"""Shorter ids, and smaller ones that are numbers, are met by chance too often to be replaced, and say little."""

_SECRET = re.compile(
    "|".join(
        (
            # What begins anew ends what began before: else every beginning of many is followed to the end of a text.
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S])*?-----END [A-Z ]*PRIVATE KEY-----",
            r"\beyJ(?:(?!-eyJ)[A-Za-z0-9_-]){8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",  # JSON Web Token
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
_STANDS_FOR_ONE = re.compile(r"\[[A-Za-z0-9_-]+\]")
"""What stands for a secret: `[NAME]` of a variable, or a stand-in."""
_URL = re.compile(r"\b[A-Za-z]+://\S*")
_REFERENCE = re.compile(r"\{\{|\$\{|\$[A-Z]|\{[A-Z]")
"""A placeholder, or a variable of the environment."""
_KINDS: dict[Code, Kind] = {
    "mail": Kind.EMAIL,
    "host": Kind.HOST,
    "iban": Kind.ACCOUNT,
    "card": Kind.ACCOUNT,
    "id": Kind.IDENTITY,
    "phone": Kind.PHONE,
    "network": Kind.NETWORK,
    "uuid": Kind.ID,
}


def found(value: Json, place: str, *, ids: bool = True, documents: bool = False) -> Iterator[Found]:
    """All that may not be kept in a JSON value, keys of mappings included.

    Args:
        value: the value.
        place: what its places begin with.
        ids: whether ids may not be kept either.
        documents: it comes from documents: what can be nobody's may stay (numbers and domains that are kept free), and
            so may references to variables and placeholders; hosts may not.
    """
    for one in _inside(value, place, "", documents=documents, person=False):
        if ids or one.kind is not Kind.ID:
            yield one


def secrets_in(text: str) -> Iterator[tuple[int, str]]:
    """Secrets that can be told by their form: where each begins, and itself."""
    for secret in _SECRET.finditer(text):
        yield secret.start(), secret.group()


def may_not_be_kept(key: str, number: int) -> bool:
    """Whether a number is more than one, by the key that it is under."""
    return number >= SMALLEST_ID and _by_key(key, str(number), person=False) is not None


def _inside(value: Json, place: str, key: str, *, documents: bool, person: bool) -> Iterator[Found]:
    match value:
        case dict():
            is_person = _is_person(value)
            for name, item in value.items():
                inside = f"{place}.{name}" if place else name
                named = list(_of_text(name, place, "", documents=documents))
                yield from named
                below = f"{place}.*" if named else inside
                yield from _inside(item, below, name, documents=documents, person=is_person)
        case list() | tuple():
            for item in value:
                yield from _inside(item, f"{place}[*]", key, documents=documents, person=person)
        case str():
            yield from _of_text(value, place, key, documents=documents, person=person)
        case bool():
            return
        case int():
            if value >= SMALLEST_ID and (kind := _by_key(key, str(value), person=False)):
                # What stands for a secret is no number, and a number has to stay one.
                kind = Kind.IDENTITY if kind is Kind.SECRET else kind
                yield Found(kind, str(value), place, number=True)
        case _:
            return


def _of_text(
    text: str, place: str, key: str, *, documents: bool, person: bool = False
) -> Iterator[Found]:
    if text[:1] in ("{", "[") and (written := _read(text)) is not None:
        yield from _inside(written, place, key, documents=documents, person=person)
        return
    whole = text
    for secret in _SECRET.findall(text):
        yield Found(Kind.SECRET, secret, place)
    for hidden in (_SECRET, _STANDS_FOR_ONE):
        text = hidden.sub(lambda found: _CUT * len(found.group()), text)
    rest = list(text)  # without what its form tells
    for form in forms(text):
        rest[form.start : form.start + len(form.value)] = _CUT * len(form.value)
        if not form.free if documents else form.code != "host":
            yield Found(_KINDS[form.code], form.value, place)
    left = _URL.sub(_CUT, "".join(rest))
    by_key = [*_labelled(left)]
    if key and _by_key(key, whole, person=person) is Kind.SECRET:
        if not _STANDS_FOR_ONE.fullmatch(whole):
            by_key.append((Kind.SECRET, whole))
    elif key:
        by_key += _of_key(key, left, person=person)
    for kind, value in by_key:
        if not (documents and _REFERENCE.search(value)):
            yield Found(kind, value, place)


_CUT = "\0"


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
    if not value.strip():
        return None
    digits = sum(c.isdigit() for c in value)
    if _SECRET_KEYS.search(plain) and len(value) >= SHORTEST:
        return Kind.SECRET
    if _IDENTITY_KEYS.match(plain) and digits >= 4:
        return Kind.IDENTITY
    if _PHONE_KEYS.search(plain) and digits >= 5:
        return Kind.PHONE
    if _BIRTH_KEYS.match(plain) and digits >= 4:
        return Kind.BIRTH
    if plain in _NAME_KEYS or (plain == "name" and person):
        return Kind.NAME if len(value) <= 100 else None
    if _ADDRESS_KEYS.match(plain):
        says_something = digits or re.search(r"[^\W\d_]{3}", value)
        return Kind.ADDRESS if len(value) <= 200 and says_something else None
    if plain in _USER_KEYS:
        return Kind.ID if len(value) >= 3 else None
    if _ID_KEY.search(key) and digits and len(value) >= SHORTEST_ID and not re.search(r"\s", value):
        return Kind.ID
    return None


def _of_key(key: str, text: str, *, person: bool) -> Iterator[tuple[Kind, str]]:
    """What a text under a key is, or each part of it that its form does not tell."""
    parts = text.split(_CUT)
    for part in parts if len(parts) == 1 else (part.strip(" \t\n,;") for part in parts):
        if part and (kind := _by_key(key, part, person=person)) is not None:
            yield kind, part


def _labelled(text: str) -> Iterator[tuple[Kind, str]]:
    """Values behind a label, line by line."""
    lines = [(label.strip(), value) for label, value in _LINE.findall(text)]
    person = _is_person(label for label, _ in lines)
    for label, value in lines:
        yield from _of_key(label.replace(" ", "_").lower(), value, person=person)
