"""YAML files → documents, or every problem of every file at once with its place.

`read_tree` takes the files from a work tree, `load` from anywhere (a git revision): path → bytes.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from seatrial.errors import InvalidDocuments
from seatrial.loading.tree import FOLDERS, Tree, is_document, read_tree

if TYPE_CHECKING:
    from seatrial.documents import Catalog

__all__ = ["FOLDERS", "Tree", "collector_at_rest", "is_document", "load", "read_tree"]


def load(files: Mapping[str, bytes]) -> Catalog:
    """The documents of these files (path relative to the repository → content).

    Raises:
        InvalidDocuments: with every problem of every file, those of `read_tree` among them.
    """
    # Whoever only asks which files there are needs no models of documents.
    from seatrial.loading.defaults import is_defaults  # noqa: PLC0415
    from seatrial.loading.library import Library  # noqa: PLC0415
    from seatrial.loading.resolving import resolve  # noqa: PLC0415
    from seatrial.loading.rules import broken_rules  # noqa: PLC0415

    library = Library()
    if isinstance(files, Tree):
        library.problems += files.problems
        library.complete = not files.problems
    with collector_at_rest():
        for path in sorted(files):
            if is_defaults(path):
                library.add_defaults(path, files[path])
        for path in sorted(files):
            if not is_defaults(path):
                library.add(path, files[path])
        resolve(library)
        library.problems += broken_rules(library)
    if library.problems:
        raise InvalidDocuments(library.problems)
    assert library.complete, "a document was left out without a problem"
    return library.catalog()


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Without the cycle collector: it would walk all documents again and again, and they hold no cycle.

    On 10,000 cases it takes two fifths of the time.
    """
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()
