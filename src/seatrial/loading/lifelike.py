"""What looks like data of real people and places in documents, which hold invented data only.

Texts are looked at line by line, comments as well. What can be somebody's is told by `stand_ins.forms`, which those who
replace it use too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from seatrial.errors import InvalidDocuments, Problem
from seatrial.loading.mistakes import MOST_TOLD, told
from seatrial.loading.reading import read
from seatrial.loading.tree import ALLOWED, read_beside
from seatrial.stand_ins.finding import secrets_in
from seatrial.stand_ins.forms import forms

_MARKS = re.compile(rb"@|://|\+\d")
_NUMBERS = re.compile(
    rb"[\dA-Z](?:(?<=\d)(?:(?:[ -]?\d){8}|\d\d\.\d{3}|\d{6}-?[A-Z]|\d{5}[-+A]\d{3})"
    rb"|(?<=[A-Z])[A-Z]\d\d|(?<=[AB]) ?\d{3} ?\d{3} ?\d\d)"
)
"""With `_MARKS`, what a line holds that can hold anything of interest. A day (`2026-03-16`) is nothing of the kind.

All begin with one set of characters: the rest of a text is passed over at a fifth of the cost.
"""
MAY_BE_SECRET = re.compile(
    rb"PRIVATE KEY|eyJ|A[KS]IA|gh[pousr]_(?<!\w.{4})|github_pat_|glpat-|xox[abeprs]-|AIza|_(?:live|test)_|"
    rb"sk-(?<!\w...)|npm_|pypi-|://[^\s/@]+:[^\s/@]+@|earer "
)
"""What a file holds that can hold a secret; the forms themselves are those of `stand_ins`."""
TOLD = ("mail", "host", "iban", "card", "id", "phone")
"""Codes of forms that are told; other network addresses and ids without a check digit are met everywhere."""
_OWN_URL = re.compile(r"""^\s*(?:- )?["']?(?:url|\$schema|\$id|\$ref)["']?:""")
"""A key that says where something is reached or defined: no data of anybody."""


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


def allowed_in(root: Path) -> Allowed:
    """What may look real in the documents of a folder.

    Raises:
        InvalidDocuments: the file that says so cannot be read, or leads out of the folder.
    """
    beside = read_beside(root, ALLOWED)
    if isinstance(beside, Problem):
        raise InvalidDocuments([beside])
    return allowed(beside)


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
        if MAY_BE_SECRET.search(data):
            found += told(list(_secrets(path, data.decode("utf-8", "replace"), may_stay)))
        of_file: list[Problem] = []
        for number, raw in _lines_of_interest(data):
            line = raw.decode("utf-8", "replace")
            for start, value, what, code in _in_line(line, hosts=not path.startswith("arms/")):
                if not may_stay.holds(value) and len(of_file) <= MOST_TOLD:
                    message = f"`{value}` looks like {what}"
                    hint = (
                        "Invent one that cannot be real (`seatrial pseudonymize` does), or allow it with a "
                        f"reason in {ALLOWED}"
                    )
                    of_file.append(Problem(path, number, start + 1, message, hint, code, "warning"))
        found += told(of_file)
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
    number = 0
    for start, secret in secrets_in(text):
        if not may_stay.holds(secret) and number <= MOST_TOLD:
            number += 1
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            message = f"`{secret[:4]}…` looks like a secret"
            hint = f"Take it out, and exchange it where it is in use; or allow it with a reason in {ALLOWED}"
            yield Problem(path, line, column, message, hint, "secret")


def _in_line(line: str, *, hosts: bool) -> Iterator[tuple[int, str, str, str]]:
    """Column from 0, value, what it looks like, and the code."""
    for form in forms(line):
        if form.free or form.code not in TOLD:
            continue
        if form.code == "host" and (not hosts or _OWN_URL.match(line)):
            continue
        yield form.start, form.value, form.what, f"real-{form.code}"
