"""The `defaults.yaml` of every folder, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from seatrial.documents.defaults import ALLOWED, MODELS
from seatrial.documents.language import VERSION_KEY
from seatrial.loading.migrations import why_not_read
from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.places import Places
from seatrial.loading.reading import REFUSED, Raw
from seatrial.loading.syntax import shown
from seatrial.loading.trails import keys
from seatrial.loading.written import Written

DEFAULTS = "defaults.yaml"
"""The name of a file that holds what the documents of its folder inherit."""


def is_defaults(path: str) -> bool:
    """Whether a file at this path holds what its folder inherits."""
    return path.rpartition("/")[2] == DEFAULTS


@dataclass(slots=True)
class FolderDefaults:
    """What documents inherit from their folders."""

    _by_folder: dict[str, Written] = field(default_factory=dict)
    _lost: set[str] = field(default_factory=set)
    """Folders whose defaults cannot be read."""

    @property
    def empty(self) -> bool:
        """There is no such file."""
        return not self._by_folder and not self._lost

    def add(self, raw: Raw, places: Places, holes: Mapping[int, Any]) -> Iterator[Mistake]:
        """Note what a `defaults.yaml` says, but for what may have no default."""
        value = raw.value
        if not isinstance(value, dict):
            if value is not REFUSED:
                message = f"defaults are a mapping, found {shown(value)}"
                yield Mistake((), message, "Write `kind: defaults` and `case: …`", "wrong-type")
            return
        folder = places.file.path.rpartition("/")[0]
        if folder in self._by_folder:
            yield Mistake((), "a folder has its defaults in one document", "Join them", "defaults")
            return
        if value.get("kind") != "defaults":
            message = f"a file called `{DEFAULTS}` holds what its folder inherits: `kind: defaults`"
            steps = ("kind",) if "kind" in value else ()
            yield Mistake(steps, message, "Give another document another file name", "defaults")
            return
        if wrong := why_not_read(value.get(VERSION_KEY, 1)):
            yield Mistake((VERSION_KEY,), *wrong)
            return
        kept: dict[str, Any] = {}
        for section, given in value.items():
            if section in ("kind", VERSION_KEY):
                continue
            if section not in ALLOWED:
                yield _unknown((section,), section, list(ALLOWED))
            elif not isinstance(given, dict):
                if given is not REFUSED:
                    message = f"`{section}`: expected a mapping, found {shown(given)}"
                    yield Mistake((section,), message, code="wrong-type")
            else:
                for key in given:
                    if key not in ALLOWED[section]:
                        yield _no_default(section, key)
                kept[section] = {k: v for k, v in given.items() if k in ALLOWED[section]}
                if id(given) in holes:
                    holes = {**holes, id(kept[section]): kept[section]}
        sound = raw.sound
        self._by_folder[folder] = Written("case", "", kept, places, sound, True, True, holes)

    def lose(self, path: str) -> None:
        """Note that a `defaults.yaml` cannot be read: what its folder inherits is not known."""
        self._lost.add(path.rpartition("/")[0])

    def has_lost(self, folder: str) -> bool:
        return any(folder == lost or folder.startswith(f"{lost}/") for lost in self._lost)

    def of(self, folder: str, section: str) -> Iterator[Written]:
        """The defaults of a folder and of those around it that say something of a kind, the nearest last."""
        if not self._by_folder:
            return
        parts = folder.split("/")
        for end in range(1, len(parts) + 1):
            found = self._by_folder.get("/".join(parts[:end]))
            if found is not None and section in found.value:
                yield found


def _unknown(steps: tuple[str, ...], key: str, known: list[str]) -> Mistake:
    guess = closest(key, known)
    message = f"unknown key `{cut(key)}`" + (f"; did you mean `{guess}`?" if guess else "")
    hint = "" if guess else f"Known here: {', '.join(known)}"
    return Mistake(steps, message, hint, "unknown-key", on_key=True)


def _no_default(section: str, key: str) -> Mistake:
    if not any(key in keys(model) for model in MODELS[section]):
        return _unknown((section, key), key, list(ALLOWED[section]))
    hint = f"A default may have: {', '.join(ALLOWED[section])}"
    message = f"`{cut(key)}` has no default: each {section} says it itself, or extends another"
    return Mistake((section, key), message, hint, "no-default", on_key=True)
