"""What stands where in an answer of an agent: a path of a document, applied to a hostile value.

    found("$.output[*].text", value)      → every value it leads to, in order
    first("$.usage.input_tokens", value)  → the first, or MISSING

Work and depth are bounded, whatever the value is: see `documents.json_path` for what a path may ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from seatrial.documents.json_path import compiled

if TYPE_CHECKING:
    from jsonpath import JSONPathMatch

MOST_VISITED = 50_000
"""Parts of a value that one path looks at."""
MOST_FOUND = 10_000
"""Values that one path may lead to."""


class Missing:
    """There is nothing where a path leads; not the same as `null`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


class ShapeError(ValueError):
    """A value is too large or too deep for what a path asks of it."""


def found(path: str, value: Any, *, most: int = MOST_FOUND) -> tuple[Any, ...]:
    """Every value that a path leads to, in the order of the document, but no more than `most`.

    Args:
        path: a JSONPath of a document.
        value: JSON, as it was parsed.
        most: how many are asked for.

    Raises:
        ShapeError: it would take too long, or goes down too deep.
    """
    from jsonpath import JSONPathError

    try:
        query = compiled(path)
        nodes: Iterable[JSONPathMatch] = [_root(value)]
        for segment in query.segments:
            nodes = segment.resolve(nodes)
        return tuple(node.obj for node in islice(nodes, most))
    except RecursionError as error:
        raise ShapeError(f"it is nested too deeply for `{path}`") from error
    except JSONPathError as error:
        raise ShapeError(f"`{path}` cannot be applied to it: {error.message}") from error


def first(path: str, value: Any) -> Any:
    """The first value that a path leads to; `MISSING` where there is none.

    Raises:
        ShapeError: as for `found`.
    """
    values = found(path, value, most=1)
    return values[0] if values else MISSING


def _root(value: Any) -> Any:
    node = _node_type()(filter_context={}, obj=value, parent=None, path="$", parts=(), root=value)
    node.visited = [0]
    return node


@cache
def _node_type() -> Any:
    from jsonpath import JSONPathMatch

    class Node(JSONPathMatch):
        """A place in a value that counts with all others what has been looked at, and keeps no way back.

        The library's own writes out the way to each place, which takes the square of a hostile key's length.
        """

        __slots__ = ("visited",)
        visited: list[int]

        def new_child(self, obj: object, key: int | str) -> Node:
            self._count()
            node = Node(filter_context={}, obj=obj, parent=None, path="", parts=(), root=self.root)
            node.visited = self.visited
            return node

        def add_child(self, *children: JSONPathMatch) -> None:
            return

        def filter_context(
            self,
        ) -> Mapping[str, Any]:  # asked for once for each child that a filter tries
            self._count()
            return {}

        def _count(self) -> None:
            self.visited[0] += 1
            if self.visited[0] > MOST_VISITED:
                raise ShapeError(f"it has more than {MOST_VISITED:,} parts to look through")

    return Node
