"""Keeping secrets out of what is stored: each value, in the forms it is met in, becomes `[NAME]`.

Forms: as it is; JSON- and URL-encoded; hexadecimal; base64 in both alphabets, alone or in the middle of
something longer (`user:password`), where the characters that depend on the neighbours stay.
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
    """The forms in which a value is met."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(value, safe="")
    yield quote_plus(value)
    data = value.encode("utf-8", "surrogatepass")
    yield data.hex()
    yield data.hex().upper()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            # Base64 takes three bytes at a time: what a group shares with a neighbour cannot be known.
            whole = encode(b"\0" * before + data).decode().rstrip("=")
            start = -(-before * 8 // 6)
            end = (before + len(data)) * 8 // 6
            yield whole[start:end]
