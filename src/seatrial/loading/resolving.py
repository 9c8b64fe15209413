"""Documents that inherit something or stand for several → drafts, once every file was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seatrial.errors import Problem
from seatrial.loading.bounds import LONGEST_ID, MAX_FILLED, MAX_REUSED
from seatrial.loading.library import Library, returned
from seatrial.loading.matrices import TooLong, expansion, matrix_of
from seatrial.loading.mistakes import MOST_TOLD, Mistake, cut, placed, told
from seatrial.loading.origins import Layer, weight
from seatrial.loading.places import Places
from seatrial.loading.price_lists import priced
from seatrial.loading.written import Inherited, Written


def resolve(library: Library) -> None:
    """Put the waiting documents together, and note what is wrong with them."""
    resolving = _Resolving(library)
    problems: dict[str, dict[Problem, None]] = {}
    for written in library.waiting:
        of_file = problems.setdefault(written.path, {})
        for problem in resolving.document(written):
            if len(of_file) <= MOST_TOLD:
                of_file[problem] = None
    if library.complete:
        for written in library.reuse.never_extended():
            message = f"nothing extends the abstract {written.kind} `{written.id}`"
            hint = "What nothing extends is never looked at: remove it, or `abstract`"
            mistake = Mistake(("abstract",), message, hint, "never-extended")
            problems.setdefault(written.path, {})[mistake.placed(written.places)] = None
    for of_file in problems.values():
        library.problems += told(list(of_file))
    if library.waiting:
        library.sort()


@dataclass(slots=True)
class _Resolving:
    library: Library
    reused: int = 0
    """Values of what was put together so far."""

    def document(self, written: Written) -> Iterator[Problem]:
        """Make a draft of a document or of each case that it stands for."""
        library = self.library
        if self.reused > MAX_REUSED:  # which is told: what comes after it is not put together
            library.complete = False
            return
        inherited, found = returned(
            library.reuse.inherited(written, library.places_of_ids, library.loose_ids)
        )
        if inherited is None:
            library.complete = False
            yield from placed(found, written.places)
        elif written.abstract:
            library.complete = library.complete and inherited.sound
        elif "matrix" in inherited.layer.value and written.kind == "case":
            yield from self._expansions(written, inherited)
        else:
            yield from self._whole(written, inherited, inherited.layer)

    def _expansions(self, written: Written, inherited: Inherited) -> Iterator[Problem]:
        if not inherited.sound:  # what was refused stands in no text that could be filled
            self.library.complete = False
            return
        places = inherited.layer.origin.woven(written.places)
        matrix, found = returned(matrix_of(inherited.layer, inherited.holes))
        if matrix is None:
            self.library.complete = False
            yield from placed(found, places)
            return
        for point in matrix.points():
            try:
                layer = expansion(inherited.layer, point)
            except TooLong:
                self.library.complete = False
                message = f"with its matrix, a text has more than {MAX_FILLED} characters"
                yield Mistake(("matrix",), message, code="too-large").placed(places)
                return
            places = layer.origin.woven(written.places)
            if wrong := list(self._unusable_id(layer.value["id"], places)):
                self.library.complete = False
                yield from placed(wrong, places)
                continue
            yield from self._whole(written, inherited, layer)
            if self.reused > MAX_REUSED:
                return

    def _whole(self, written: Written, inherited: Inherited, layer: Layer) -> Iterator[Problem]:
        library = self.library
        places = layer.origin.woven(written.places)
        with_prices, found = returned(
            priced(
                layer,
                lambda id: library.reuse.price_list(id, library.places_of_ids, library.loose_ids),
            )
        )
        if with_prices is None:
            library.complete = False
            yield from placed(found, places)
            return
        layer, places = with_prices, with_prices.origin.woven(written.places)
        self.reused += weight(layer.value, MAX_REUSED - self.reused)
        if self.reused > MAX_REUSED:
            self.library.complete = False
            message = (
                f"with all that is inherited and expanded, the documents have more than {MAX_REUSED} "
                "values"
            )
            yield Mistake((), message, "Inherit less, or expand less", "too-large").placed(places)
            return
        wrong = self.library.fit(
            layer.value,
            inherited.holes,
            places,
            sound=inherited.sound,
            odd=inherited.odd,
            refers=inherited.refers,
        )
        yield from placed(wrong, places)

    def _unusable_id(self, id: str, places: Places) -> Iterator[Mistake]:
        """Note the id of an expansion, unless it is too long or another's."""
        known = self.library.places_of_ids
        if len(id) > LONGEST_ID:
            message = (
                f"the expansion `{cut(id, 90)}` has an id of more than {LONGEST_ID} characters"
            )
            yield Mistake(("id",), message, "Shorten the id, or the names in the matrix", "matrix")
        elif ("case", id) in known:
            file, line, column = known["case", id].at(("id",))
            message = f"the expansion `{id}` is there already: {file}:{line}:{column}"
            yield Mistake(("id",), message, "Ids are unique per kind", "duplicate-id")
        else:
            known["case", id] = places
