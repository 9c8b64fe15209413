"""The forms in which a text can be passed on without being written out, each undone.

A form is undone in whatever surrounds it: nothing is known of where the passage begins, so that hexadecimal
digits are paired both ways and base64 is read from each of its four alignments. What stands around the
passage becomes noise.
"""

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from seatrial.state import Unjudged

LONGEST = 1_000_000
"""Characters of a text that is looked through; of a longer one there is no telling."""
LONGEST_TWICE = 100_000
"""Characters of a text in which one form inside another is looked for."""

_BLANK = dict.fromkeys([*range(33), 127])
_PUNCTUATION = {code: None for code in range(128) if not chr(code).isalnum()}
_HEX = re.compile(r"[0-9a-f]{2,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{2,}")
_MARKED = re.compile(r"(?:0x|\\x)(?=[0-9a-f]{2})")
_ESCAPE = re.compile(
    r"\\u\{([0-9a-fA-F]{1,6})\}|(?:\\u|%u|U\+)([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\U([0-9a-fA-F]{8})"
)
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{8,}")
_CODES = re.compile(r"(?<![\w.])\d{2,3}(?:[\s,;]+\d{2,3}){4,}(?!\w)")
_BITS = re.compile(r"(?<!\d)[01]{8}(?:[\s,;]*[01]{8}){2,}(?!\d)")
_NUMBER = re.compile(r"\d+")
_TAGS = range(0xE0020, 0xE007F)
_LOOKALIKES = str.maketrans(
    "авекмнорстухіјѕһԁԛԝαβεζηικμνορτυχ", "abekmhopctyxijshdqwabezhikmnoptyx"
)
"""Letters of other alphabets that are drawn as Latin ones, small or capital."""
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def folded(text: str) -> str:
    """`text` as it is compared: compatible characters alike, no case, accents, spaces or invisible characters.

    Digits of other scripts are plain ones, and letters of other alphabets that look like Latin ones are those.

    Each character is folded by itself, so that a part of a text folds to a part of the folded text.
    """
    if text.isascii():
        return text.lower().translate(_BLANK)
    return "".join(map(_folded, text))


def bare(folded_text: str) -> str:
    """A folded text's letters and digits alone."""
    if folded_text.isascii():
        return folded_text.translate(_PUNCTUATION)
    return "".join(filter(str.isalnum, folded_text))


def turned(text: str) -> Iterator[tuple[str, str]]:
    """The forms that are undone by doing them again, each with its name: they are looked for as they are."""
    yield "reversed", text[::-1]
    yield "in rot13", codecs.encode(text, "rot13")


def undone(text: str) -> Iterator[tuple[str, str]]:
    """What a text comes to when a form is undone in all of it: the form's name, and the text.

    Of some forms several readings; none where nothing in the text looks like it.
    """
    if tags := "".join(chr(ord(c) - 0xE0000) for c in text if ord(c) in _TAGS):
        yield "in invisible tags", tags
    # Where these begin and end is told by the blanks around them.
    for name, spaced in (("in base32", _from_base32), ("in character codes", _from_codes)):
        found = spaced(text)
        if found != text:
            yield name, found
    whole = "".join(map(_compatible, text))
    for name, read in (
        ("in HTML entities", html.unescape),
        ("in percent encoding", _unquoted),
        ("in escapes", _unescaped),
        ("in binary digits", _from_bits),
    ):
        found = read(whole)
        if found != whole:
            yield name, found
    # `0x41, 0x42` has marks in it, `…30, xyz` only seems to.
    digits = whole.lower()
    for marks in {digits, _MARKED.sub("", digits)}:
        runs = _HEX.findall("".join(filter(str.isalnum, marks)))
        for start in (0, 1):
            data = b"".join(_from_hex(run[start:]) for run in runs)
            yield "in hexadecimal", data.decode("utf-8", "ignore")
    runs = _BASE64.findall(whole)
    for start in range(4):
        data = b"".join(_from_base64(run[start:]) for run in runs)
        yield "in base64", data.decode("utf-8", "ignore")


def readings(text: str) -> Iterator[tuple[str, str]]:
    """A text, and all that it comes to when one form is undone, or one inside another; with what was undone.

    Raises:
        Unjudged: it is longer than `LONGEST`.
    """
    if len(text) > LONGEST:
        raise Unjudged(f"a text of {len(text)} characters is too long to be looked through")
    yield "", text
    seen = {text}
    first = list(_new(undone(text), seen))
    yield from first
    for name, reading in first:
        if len(reading) <= LONGEST_TWICE:
            for inner, twice in _new(undone(reading), seen):
                yield name if inner == name else f"{inner}, {name}", twice


def _new(found: Iterator[tuple[str, str]], seen: set[str]) -> Iterator[tuple[str, str]]:
    for name, reading in found:
        if reading and reading not in seen:
            seen.add(reading)
            yield name, reading


@lru_cache(maxsize=65_536)
def _folded(character: str) -> str:
    # Some letters have no way back from their capital: `ı`, `ſ`.
    plain = unicodedata.normalize("NFKD", character).upper().casefold()
    seen = "".join(c for c in unicodedata.normalize("NFKD", plain) if not _unseen(c))
    return "".join(map(_digit, seen)).translate(_LOOKALIKES)


def _digit(character: str) -> str:
    return str(unicodedata.decimal(character, character))


@lru_cache(maxsize=65_536)
def _compatible(character: str) -> str:
    if _unseen(character) and unicodedata.category(character) != "Mn":
        return ""
    return unicodedata.normalize("NFKC", character)


def _unseen(character: str) -> bool:
    """Whether a character is blank, invisible, or a mark on another."""
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf", "Mn", "Me"}


def _unquoted(text: str) -> str:
    return unquote(text, errors="ignore")


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(_character, text)
    return _PAIR.sub(lambda pair: _joined(pair.group()), plain)


def _from_base32(text: str) -> str:
    return _BASE32.sub(lambda run: _read(_whole_base32(run.group())), text)


def _whole_base32(run: str) -> bytes:
    # A last group of one, three or six letters holds no whole byte more than one letter less.
    whole = run[: len(run) - (len(run) % 8 in (1, 3, 6))]
    return base64.b32decode(whole + "=" * (-len(whole) % 8))


def _from_codes(text: str) -> str:
    return _CODES.sub(lambda run: "".join(map(chr, map(int, _NUMBER.findall(run.group())))), text)


def _from_bits(text: str) -> str:
    def character(run: re.Match[str]) -> str:
        bits = "".join(_NUMBER.findall(run.group()))
        return _read(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)))

    return _BITS.sub(character, text)


def _read(data: bytes) -> str:
    return data.decode("utf-8", "ignore")


def _character(found: re.Match[str]) -> str:
    number = int(next(filter(None, found.groups())), 16)
    return chr(number) if number <= 0x10FFFF else found.group()


def _joined(pair: str) -> str:
    return pair.encode("utf-16", "surrogatepass").decode("utf-16")


def _from_hex(digits: str) -> bytes:
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _from_base64(run: str) -> bytes:
    over = len(run) % 4
    whole = run[:-1] if over == 1 else run + "=" * (-len(run) % 4)
    return base64.b64decode(whole.replace("-", "+").replace("_", "/"))
