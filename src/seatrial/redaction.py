"""Keeping secrets out of what is stored: each value, in the forms it is met in, becomes `[NAME]`.

Forms: as it is; JSON-encoded up to three times over, URL-encoded in all its spellings, escaped character by character;
hexadecimal; base32; base64 in both alphabets, alone or in the middle of something longer (`user:password`), where the
characters that depend on the neighbours stay.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

SHORTEST = 6
"""Shorter values are no secrets: `true` or `info` stands in every other text."""

LISTED = "SEATRIAL_SECRETS"
"""The environment variable that names, with blanks between them, variables which hold secrets."""
ALWAYS = ("GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
"""Variables that hold one wherever they are set."""

_PERCENT = re.compile("%[0-9A-F]{2}")

Redactor = Callable[[Any], Any]
"""Gives a JSON value with every secret in its texts replaced."""


def redactor(secrets: Mapping[str, str]) -> Redactor | None:
    """A function that gives a JSON value with every secret in its texts replaced.

    Args:
        secrets: name → value; values that are too short to be a secret are left alone.

    Returns:
        None where there is nothing to replace.
    """
    names: dict[str, str] = {}
    for name, value in secrets.items():
        if len(value) >= SHORTEST:
            for form in forms(value):
                names.setdefault(form, name)
    if not names:
        return None
    # The longest first, so that no secret that begins another one leaves its end behind.
    longest_first = sorted(names, key=lambda form: (-len(form), form))
    pattern = re.compile("|".join(map(re.escape, longest_first)))

    def replaced(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda found: f"[{names[found.group()]}]", value)
        if isinstance(value, dict):
            return {replaced(key): replaced(item) for key, item in value.items()}
        if isinstance(value, list):
            return [replaced(item) for item in value]
        if isinstance(value, tuple):
            return tuple(replaced(item) for item in value)
        return value

    return replaced


def listed(environment: Mapping[str, str]) -> dict[str, str]:
    """Name → value of the secrets that an environment is said to hold, beside those which a document names.

    Variables of `LISTED` that are not set are left out.
    """
    names = (*environment.get(LISTED, "").split(), *ALWAYS)
    return {name: environment[name] for name in names if environment.get(name)}


def forms(value: str) -> Iterator[str]:
    """The forms in which a value is met; some of them may be the same."""
    data = value.encode("utf-8", "surrogatepass")
    yield value
    inner, plainer = value, value
    for _ in range(3):  # the arguments of a call are JSON within JSON, and an answer may quote them
        inner, plainer = json.dumps(inner)[1:-1], json.dumps(plainer, ensure_ascii=False)[1:-1]
        yield from (inner, plainer, inner.replace("/", "\\/"))
    yield from _in_addresses(value, data)
    for code in ("{:04x}", "{:04X}"):
        units = value.encode("utf-16-be", "surrogatepass")
        pairs = zip(units[::2], units[1::2], strict=True)
        yield "".join("\\u" + code.format(high << 8 | low) for high, low in pairs)
    yield data.hex()
    yield data.hex().upper()
    yield base64.b32encode(data).decode().rstrip("=")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield base64.b64encode(encode(data)).decode().rstrip("=")
        for before in range(3):
            # Base64 takes three bytes at a time: what a group shares with a neighbour cannot be known.
            whole = encode(b"\0" * before + data).decode().rstrip("=")
            start = -(-before * 8 // 6)
            end = (before + len(data)) * 8 // 6
            yield whole[start:end]


def _in_addresses(value: str, data: bytes) -> Iterator[str]:
    """Percent-encoded: what needs it or all of it, in capitals or not, once or twice."""
    for safe in ("", "/"):
        once = quote(value, safe=safe, errors="surrogatepass")
        yield once
        yield _PERCENT.sub(lambda found: found[0].lower(), once)
        yield quote(once, safe=safe)
    yield quote_plus(value, errors="surrogatepass")
    yield "".join(f"%{byte:02X}" for byte in data)
    yield "".join(f"%{byte:02x}" for byte in data)
