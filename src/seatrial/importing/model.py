"""What an import gives: documents, and what of the tasks has no equivalent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.documents.language import CURRENT, VERSION_KEY

Document = dict[str, Any]
Files = Mapping[str, Any]
"""Path below the folder that is imported → what the file holds: a JSON value (`.json`, `.yaml`), a list of them
(`.jsonl`), or text (anything else)."""


@dataclass(frozen=True, slots=True, order=True)
class Missing:
    """A part of a task that has no equivalent."""

    task: str
    """The task, as its source names it; empty for what is the matter with all of them."""
    part: str
    """What it is, in a few words: the same words for the same part of any task."""
    detail: str = ""
    """What it says there, or what becomes of the task."""


@dataclass(slots=True)
class Imported:
    """Documents, and what has no equivalent."""

    documents: dict[str, Document] = field(default_factory=dict)
    """Path relative to the repository → the document in it."""
    missing: list[Missing] = field(default_factory=list)
    tasks: int = 0
    """Tasks that were looked at."""
    invented_by: str = ""
    """Whose invention the data is, where that is known: a reason why it may look real."""

    def add(self, folder: str, document: Document) -> None:
        """Take in a document of its own file, which says in which version of the language it is written."""
        whole: Document = {key: document[key] for key in ("kind", "type", "id") if key in document}
        whole[VERSION_KEY] = CURRENT
        whole.update(document)
        self.documents[f"{folder}/{document['id']}.yaml"] = whole

    def lacks(self, task: str, part: str, detail: str = "") -> None:
        """Note a part that has no equivalent."""
        self.missing.append(Missing(task, part, detail))

    @property
    def counted(self) -> tuple[tuple[str, int], ...]:
        """Part → how many tasks have it, the most frequent first; not what is the matter with all of them."""
        once = {(missing.part, missing.task) for missing in self.missing if missing.task}
        return tuple(sorted(Counter(part for part, _ in once).items(), key=lambda c: (-c[1], c[0])))


def id_of(*parts: object) -> str:
    """An id made of words: `airline`, `Task 13` → `airline-task-13`."""
    text = re.sub(r"[^a-z0-9.]+", "-", "-".join(map(str, parts)).lower()).strip("-.")
    return text[:80].rstrip("-.") or "imported"


def line(text: str, most: int = 100) -> str:
    """The beginning of a text on one line, as a title; what looks like a placeholder is none there."""
    plain = " ".join(text.split())
    while "{{" in plain:
        plain = plain.replace("{{", "{ {")
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def holds_braces(*values: Any) -> bool:
    """Whether a text somewhere in values has `{{` in it, which stands for a placeholder in our documents."""
    return any(
        "{{" in value
        if isinstance(value, str)
        else holds_braces(*value, *value.values())
        if isinstance(value, dict)
        else isinstance(value, list | tuple) and holds_braces(*value)
        for value in values
    )


def suite_of(id: str, title: str, tag: str) -> Document:
    """A suite of all cases with a tag."""
    return {"kind": "suite", "id": id, "title": line(title), "cases": [{"tags": [tag]}]}
