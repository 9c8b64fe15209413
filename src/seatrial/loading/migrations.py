"""The steps from one version of the language to the next, and which versions are read.

A step changes a parsed document in place: plain values, or those of ruamel.yaml with their comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.documents.language import CURRENT, VERSION_KEY

Document = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Left:
    """What a migration could not bring forward."""

    path: str
    """Where in the document."""
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from one version of the language to the next."""

    to: int
    """The version that it leads to; it is for documents of the one before."""
    concerns: Callable[[Document], bool]
    """Whether a document may have something of it; a cheap question, asked of every document that is read."""
    change: Callable[[Document], Iterator[Left]]
    """Change a document in place, and tell what is left to do by hand."""


def why_not_read(version: Any, current: int = CURRENT) -> tuple[str, str, str] | None:
    """Message, hint and code, where a document of this version cannot be read."""
    if isinstance(version, bool) or not isinstance(version, int):
        return f"`{VERSION_KEY}`: expected a whole number", f"Write {current}", "wrong-type"
    if version < 1:
        return f"`{VERSION_KEY}`: there is no version {version}", f"Write {current}", "wrong-value"
    if version > current:
        return (
            f"the document is written in version {version} of the language, and this Seatrial knows {current}",
            "Install a newer one: `pip install --upgrade seatrial`",
            "newer-schema",
        )
    return None


def is_older(value: Any, migrations: Sequence[Migration] | None = None) -> bool:
    """Whether a document that was read has something of an older version in it."""
    version = value.get(VERSION_KEY, 1)
    steps = MIGRATIONS if migrations is None else migrations
    return any(step.to > version and _concerns(step, value) for step in steps)


def _concerns(step: Migration, value: Document) -> bool:
    if not step.concerns(value):
        return False
    copy = _copied(value)
    return any(True for _ in step.change(copy)) or copy != value


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def rename(mapping: Any, old: str, new: str, value: Any) -> None:
    """Another key and value in the place of one; its comments stay there."""
    if not hasattr(mapping, "ca"):  # plain values, without comments
        del mapping[old]
        mapping[new] = value
        return
    mapping.insert(list(mapping).index(old), new, value)
    del mapping[old]
    if (kept := mapping.ca.items.pop(old, None)) is not None:
        mapping.ca.items[new] = kept


# --- the steps ---

_LITERAL = re.compile(r"[^\\.^$*+?()\[\]{}|]+")
_HEARD = "Write the words to look for: `contains` (all of them), `any_of`, `not_contains`"


def _is_persona(document: Document) -> bool:
    return document.get("type") == "persona"


def _persons_hear_words(document: Document) -> Iterator[Left]:
    """Version 2: `matches` of what a person hears becomes words, where it is nothing else."""
    rules = document.get("rules")
    places = [("achieved_when", document.get("achieved_when"))]
    for number, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, dict):
            places.append((f"rules[{number}].when", rule.get("when")))
    for path, heard in places:
        pattern = heard.get("matches") if isinstance(heard, dict) else None
        if not isinstance(heard, dict) or not isinstance(pattern, str):
            continue
        words = pattern.removeprefix("(?i)").split("|")
        key = "contains" if len(words) == 1 else "any_of"
        if key in heard or not all(map(_LITERAL.fullmatch, words)):
            message = (
                f"`matches` is no more: a person hears words, and {pattern!r} is more than some"
            )
            yield Left(f"{path}.matches", message, _HEARD)
            continue
        rename(heard, "matches", key, words[0] if len(words) == 1 else words)


MIGRATIONS: tuple[Migration, ...] = (Migration(2, _is_persona, _persons_hear_words),)
