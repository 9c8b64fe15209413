"""JSONPath (RFC 9535): where in the answers of an agent something stands.

Answers are hostile, so that a path may only ask for what is found in one walk over a value: one `..`, few
selectors side by side, and in filters no regular expressions and only queries that lead to one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field

if TYPE_CHECKING:  # it would be loaded for documents that have no path
    from jsonpath import JSONPath
    from jsonpath.filter import BaseExpression

MOST_LENGTH = 300
"""Characters of a path."""
MOST_SIDE_BY_SIDE = 16
"""Selectors side by side (`[0, 1]`), multiplied over all brackets of a path."""
MOST_DEPTH = 200
"""Levels that `..` goes down."""


@lru_cache(maxsize=1000)
def compiled(text: str) -> JSONPath:
    """The path, ready to be applied.

    Raises:
        ValueError: it is none, or asks for more than may be asked; says where.
    """
    from jsonpath import JSONPathError
    from jsonpath.path import CompoundJSONPath

    if len(text) > MOST_LENGTH:
        raise ValueError(f"a path of {len(text)} characters; at most {MOST_LENGTH} are read")
    if not text.startswith("$"):
        raise ValueError(f"{text!r} is no JSONPath: it begins with `$`, for example `$.reply.text`")
    try:
        path: JSONPath | CompoundJSONPath = _environment().compile(text)
    except JSONPathError as error:
        token = error.token
        inside = token is not None and 0 <= token.index < len(text)
        where = f"character {token.index + 1}: " if token is not None and inside else ""
        raise ValueError(f"{text!r} is no JSONPath: {where}{error.message}") from error
    except (RecursionError, ValueError) as error:
        raise ValueError(f"{text!r} is no JSONPath: {error}") from error
    if isinstance(path, CompoundJSONPath):  # not in what the standard knows
        raise ValueError(f"{text!r} is no JSONPath but several")
    _check(path)
    return path


def _checked(text: str) -> str:
    compiled(text)
    return text


JsonPath = Annotated[
    str, AfterValidator(_checked), Field(examples=["$.choices[0].message.content"])
]
"""A JSONPath (RFC 9535), for example `$.choices[0].message.content`."""


@cache
def _environment() -> Any:
    from jsonpath import JSONPathEnvironment
    from jsonpath.function_extensions import Length

    class Environment(JSONPathEnvironment):
        max_recursion_depth = MOST_DEPTH

        def setup_function_extensions(self) -> None:
            # `match` and `search` would run regular expressions over what an agent wrote.
            self.function_extensions["length"] = Length()

    return Environment(strict=True)


def _check(path: JSONPath) -> None:
    from jsonpath.filter import FilterQuery
    from jsonpath.segments import JSONPathRecursiveDescentSegment
    from jsonpath.selectors import Filter

    if sum(isinstance(s, JSONPathRecursiveDescentSegment) for s in path.segments) > 1:
        raise ValueError(f"`{path}` has more than one `..`; name what lies between")
    beside = 1
    for segment in path.segments:
        beside *= max(1, len(segment.selectors))
        for selector in segment.selectors:
            if not isinstance(selector, Filter):
                continue
            for part in _parts(selector.expression):
                if isinstance(part, FilterQuery) and not part.path.singular_query():
                    raise ValueError(
                        f"the filter of `{path}` asks for `{part}`, which may be many values; ask for one, such as "
                        "`@.type`"
                    )
    if beside > MOST_SIDE_BY_SIDE:
        raise ValueError(
            f"`{path}` has more than {MOST_SIDE_BY_SIDE} selectors side by side; use `*`"
        )


def _parts(expression: BaseExpression) -> Iterator[BaseExpression]:
    yield expression
    for child in expression.children():
        yield from _parts(child)
