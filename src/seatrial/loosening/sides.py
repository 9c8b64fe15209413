"""The documents at the base and those of the change, and how a difference between them is told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from seatrial.documents import Catalog, digest
from seatrial.documents.catalog import Kind
from seatrial.records import Loosening, PolicyChange

_NUMBERS = re.compile(r"\[\d+\]")
_LONGEST = 300
"""Characters of a value that are kept for people; the digest is over all of it."""

Allowances = Mapping[str, int]
"""Value that looks real and may stay → its number in the list."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What is compared."""

    before: Catalog
    """At the base."""
    now: Catalog
    """Of the change."""
    allowed_before: Allowances = field(default_factory=dict)
    allowed_now: Allowances = field(default_factory=dict)
    changed_files: frozenset[str] = frozenset()
    """Files that are not what they were at the base."""

    def told(
        self,
        kind: str,
        document: tuple[Kind, str],
        text: str,
        *,
        path: str = "",
        new_path: str | None = None,
        old: Any = None,
        new: Any = None,
        effect: Loosening = "loosened",
        case: str = "",
        renamed: str = "",
    ) -> PolicyChange:
        """A difference in a document.

        Args:
            kind: which one.
            document: its kind and its id at the base.
            text: what it comes to, in a sentence.
            path: the key in it, at the base.
            new_path: the key in it in the change, where that is another one; empty where nothing is left of it.
            old: what the base says there.
            new: what the change says there.
            effect: whether it is looser for certain.
            case: the case that it is about.
            renamed: the id that the document has in the change, where that is another one.
        """
        what, id = document
        there = path if new_path is None else new_path
        gone = new_path == "" and path != ""
        place = self.now.place(what, renamed or id, there)
        return told(
            kind,
            f"{what} {id}",
            text,
            path=path,
            old=old,
            new=new,
            effect=effect,
            case=case,
            old_place=self.before.place(what, id, path),
            new_place="" if gone else place,
        )


def told(
    kind: str,
    subject: str,
    text: str,
    *,
    path: str = "",
    old: Any = None,
    new: Any = None,
    effect: Loosening = "loosened",
    case: str = "",
    old_place: str = "",
    new_place: str = "",
) -> PolicyChange:
    """A difference, with the digest by which it is approved."""
    before, after = _plain(old), _plain(new)
    return PolicyChange(
        id=digest([kind, subject, case, _NUMBERS.sub("[]", path), text, before, after]),
        kind=kind,
        effect=effect,
        subject=subject,
        path=path,
        case=case,
        old=shown(before),
        new=shown(after),
        old_place=old_place,
        new_place=new_place,
        text=text,
    )


def shown(value: Any) -> str:
    """A value in JSON on one line, cut where it is long; empty for nothing."""
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
