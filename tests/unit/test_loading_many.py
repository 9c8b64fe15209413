"""Trees of many documents: what is looked at does not grow with their square."""

from collections.abc import Iterator
from typing import Any

from tests import harbour

from seatrial.documents import Case
from seatrial.loading.library import Draft, Library
from seatrial.loading.rules import broken_rules


class _Counted(dict[Any, Draft]):
    """Drafts, and how often all of them are gone through."""

    walks = 0

    def values(self) -> Any:
        self.walks += 1
        return super().values()

    def items(self) -> Any:
        self.walks += 1
        return super().items()


def _with(cases: int) -> Iterator[tuple[str, bytes]]:
    yield from harbour.contents().items()
    for number in range(cases):
        text = harbour.CASE.replace("id: ", f"id: c{number}-", 1)
        yield f"cases/{number}.yaml", text.encode()


def _walks(cases: int) -> int:
    library = Library(drafts=(drafts := _Counted()))
    for path, data in _with(cases):
        library.add(path, data)
    assert not broken_rules(library)
    assert len(list(library.of(Case))) > cases
    return drafts.walks


def test_rules_go_through_all_documents_as_often_for_many_cases_as_for_few():
    assert _walks(20) == _walks(2)


def test_a_document_that_comes_later_is_found_by_who_asked_before():
    library = Library()
    found = []
    for path, data in _with(1):
        library.add(path, data)
        found.append(len(list(library.of(Case))))

    assert found[-1] == len([d for d in library.drafts.values() if isinstance(d.document, Case)])
    assert len(library.catalog().cases) == found[-1]
