"""What a document inherits: from the one it extends, and from the `defaults.yaml` of its folders."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from seatrial.documents import KINDS, Kind
from seatrial.documents.language import VERSION_KEY
from seatrial.loading.bounds import MAX_PARENTS
from seatrial.loading.defaults import FolderDefaults
from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.origins import Layer, merged
from seatrial.loading.places import Places
from seatrial.loading.price_lists import named_list
from seatrial.loading.reading import REFUSED, read
from seatrial.loading.syntax import shown
from seatrial.loading.written import Inherited, Written

_OWN = ("extends", "abstract", VERSION_KEY)
"""Keys of a document that are no part of what it comes to."""
_NEVER_INHERITED = ("id", *_OWN)


@dataclass(slots=True)
class Reuse:
    """The documents that may be extended, and the defaults of every folder."""

    _written: dict[tuple[Kind, str], Written] = field(default_factory=dict)
    defaults: FolderDefaults = field(default_factory=FolderDefaults)
    extended: set[tuple[Kind, str]] = field(default_factory=set)
    """The documents that some other extends."""

    def concerns(self, value: Mapping[str, Any], path: str) -> bool:
        """Whether a document comes to something else than what it says."""
        if value.get("kind") not in KINDS or not isinstance(value.get("id"), str):
            return False  # which is told
        if "extends" in value or "abstract" in value or "matrix" in value or named_list(value):
            return True
        if self.defaults.empty:
            return False
        folder = path.rpartition("/")[0]
        if self.defaults.has_lost(folder):
            return True
        return any(True for _ in self.defaults.of(folder, _section([value])))

    def add(self, written: Written) -> None:
        """Note a document of which `concerns` says so."""
        self._written[written.kind, written.id] = written

    def inherited(
        self, document: Written, known: Mapping[tuple[Kind, str], Places], loose: set[str]
    ) -> Generator[Mistake, None, Inherited | None]:
        """What a document comes to; None where that cannot be told, because of a mistake here or above.

        Args:
            document: the document.
            known: every document by kind and id.
            loose: ids that seem to be there, in files that cannot be read.
        """
        line = yield from self._line(document, known, loose)
        if line is None:
            return None
        holes = {key: hole for written in line for key, hole in written.holes.items()}
        section = _section([written.value for written in line])
        layers: list[Layer] = []
        sources = list(line)
        for folder in dict.fromkeys(written.folder for written in reversed(line)):
            for defaults in self.defaults.of(folder, section):
                if defaults not in sources:
                    sources.append(defaults)
                    layers.append(defaults.layer.of(section))
                    holes |= defaults.holes
        layers += [w.layer.without(_NEVER_INHERITED, holes) for w in reversed(line[1:])]
        layers.append(document.layer.without(_OWN, holes))
        layer = reduce(lambda below, above: merged(below, above, holes), layers)
        lost = any(self.defaults.has_lost(source.folder) for source in line)
        if lost:
            holes[id(layer.value)] = layer.value
        return Inherited(
            layer=layer,
            holes=holes,
            sound=not lost and all(source.sound for source in sources),
            odd=any(source.odd for source in sources),
            refers=any(source.refers for source in sources),
        )

    def _line(
        self, document: Written, known: Mapping[tuple[Kind, str], Places], loose: set[str]
    ) -> Generator[Mistake, None, list[Written] | None]:
        """A document, what it extends, what that extends, and so on."""
        if not isinstance(document.value.get("abstract", False), bool):
            message = (
                f"`abstract`: expected `true` or `false`, found {shown(document.value['abstract'])}"
            )
            yield Mistake(("abstract",), message, code="wrong-type")
            return None
        line = [document]
        while (parent := line[-1].value.get("extends")) is not None:
            mistake = None
            if parent is REFUSED:
                return None
            if not isinstance(parent, str):
                message = (
                    f"`extends`: expected the id of {_one(document.kind)}, found {shown(parent)}"
                )
                mistake = Mistake(("extends",), message, code="wrong-type")
            elif any(parent == above.id for above in line):
                ids = [written.id for written in line]
                circle = " → ".join(f"`{id}`" for id in (*ids[ids.index(parent) :], parent))
                mistake = Mistake(("extends",), f"extends itself: {circle}", code="extends-itself")
                if parent != document.id:  # told at the documents of the circle
                    return None
            elif len(line) > MAX_PARENTS:
                message = f"inherits through more than {MAX_PARENTS} documents"
                yield Mistake(
                    ("extends",), message, "Extend one that is nearer to the top", "too-deep"
                )
                return None
            elif (document.kind, parent) not in known:
                if parent in loose:
                    return None
                mistake = _missing(document.kind, parent, known)
            if mistake is not None:
                if len(line) == 1 or mistake.code == "extends-itself":
                    yield mistake
                return None
            assert isinstance(parent, str)
            self.extended.add((document.kind, parent))
            line.append(self._document(document.kind, parent, known[document.kind, parent]))
        if document.kind == "fixture" and len(line) > 1:
            own, above = document.value.get("type"), _section([w.value for w in line[1:]])
            if own is not None and above not in ("fixture", own):
                message = (
                    f"`{line[1].id}` is of type `{above}`, and this one is of type {shown(own)}"
                )
                yield Mistake(
                    ("extends",), message, "Extend a fixture of the same type", "wrong-fixture"
                )
                return None
        return line

    def price_list(
        self, id: str, known: Mapping[tuple[Kind, str], Places], loose: set[str]
    ) -> Layer | Mistake | None:
        """The price list of an id; what is wrong with the id; None where that is told at the list."""
        places = known.get(("fixture", id))
        if places is None:
            guess = closest(id, (other for of, other in known if of == "fixture"))
            message = f"there is no fixture `{cut(id)}`"
            message += f"; did you mean `{guess}`?" if guess else ""
            return None if id in loose else Mistake((), message, code="dangling-id")
        line = self.inherited(self._document("fixture", id, places), known, loose)
        while True:
            try:
                next(line)
            except StopIteration as end:
                found: Inherited | None = end.value
                break
        if found is None or not found.sound:
            return None
        type = found.layer.value.get("type")
        if type != "prices":
            message = f"fixture `{cut(id)}` is of type `{type}`, expected `prices`"
            return Mistake((), message, code="wrong-fixture")
        return found.layer

    def _document(self, kind: Kind, id: str, places: Places) -> Written:
        """A document that is extended; one that inherits nothing itself is read again, which is rare and short."""
        found = self._written.get((kind, id))
        if found is None:
            data = places.file.data
            file = read(places.file.path, data)
            raw = next(raw for raw in file.documents if raw.index == places.index)
            found = Written(kind, id, raw.value, places, raw.sound, True, True, file.holes)
            self._written[kind, id] = found
        return found

    def is_abstract(self, kind: Kind, id: str) -> bool:
        """Whether a document is only there to be extended."""
        written = self._written.get((kind, id))
        return written is not None and written.abstract

    def never_extended(self) -> Iterator[Written]:
        """Abstract documents that nothing extends."""
        for key, written in self._written.items():
            if written.abstract and key not in self.extended:
                yield written


def _section(values: list[Mapping[str, Any]]) -> str:
    """What defaults call a document of which these are the values, its own first: its kind, or its type."""
    kind = values[0].get("kind")
    if kind != "fixture":
        return str(kind)
    return next((str(value["type"]) for value in values if "type" in value), "fixture")


def _missing(kind: Kind, id: str, known: Mapping[tuple[Kind, str], Places]) -> Mistake:
    others = [of for of, other in known if other == id]
    if others:
        message = f"`{cut(id)}` is {_one(others[0])}; {_one(kind)} extends {_one(kind)}"
        return Mistake(("extends",), message, code="wrong-kind")
    guess = closest(id, (other for of, other in known if of == kind))
    message = f"there is no {kind} `{cut(id)}`" + (f"; did you mean `{guess}`?" if guess else "")
    return Mistake(("extends",), message, code="dangling-id")


def _one(kind: Kind) -> str:
    return f"an {kind}" if kind == "arm" else f"a {kind}"
