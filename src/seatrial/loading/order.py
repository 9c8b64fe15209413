"""The lines of a file with the keys of its documents in the order of their models; comments stay with their key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from seatrial.documents.answers import MockRule
from seatrial.documents.checks.base import CheckPart
from seatrial.documents.schemas import texts

_OF_RULES = {"when", "state"}
"""Keys of a rule that say when it holds."""


@dataclass(frozen=True, slots=True)
class _Mapping:
    """A mapping in block style that fits a part of a document."""

    keys: tuple[tuple[str, int], ...]
    """Each key and its line, from 0."""
    column: int
    end: int
    """The line after its last one."""
    order: Mapping[str, int]


def ordered(text: str) -> str:
    """The text with its keys in order; a text with anchors stays as it is, for an alias must come after its anchor.

    Args:
        text: a file that can be read as YAML.
    """
    if any(getattr(event, "anchor", None) for event in yaml.parse(text, yaml.CSafeLoader)):
        return text
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    nodes = list(yaml.compose_all(text, yaml.CSafeLoader))
    starts = [_upwards(lines, node.start_mark.line, 0, markers=True) for node in nodes]
    ends = [*starts[1:], len(lines)]
    for node, end in zip(nodes, ends, strict=True):
        for mapping in list(_mappings(lines, node, _shape_of(node), end)):
            _sort(lines, mapping)
    return "".join(lines)


def _sort(lines: list[str], mapping: _Mapping) -> None:
    """Put the keys of one mapping in order. It keeps its lines, so that those around it stay where they are."""
    names = [name for name, _ in mapping.keys]
    wanted = sorted(range(len(names)), key=lambda i: mapping.order.get(names[i], len(names) + 99))
    if wanted == list(range(len(names))):
        return
    column, first = mapping.column, mapping.keys[0][1]
    dashes = lines[first][:column]
    if dashes.strip("- "):
        return
    end = mapping.end
    while end > mapping.keys[-1][1] + 1 and _is_between(lines[end - 1], column):
        end -= 1
    starts = [first, *(_upwards(lines, line, column) for _, line in mapping.keys[1:]), end]
    chunks = [lines[starts[i] : starts[i + 1]] for i in range(len(names))]
    chunks[0][0] = " " * column + chunks[0][0][column:]
    moved = [line for i in wanted for line in chunks[i]]
    new_first = mapping.keys[wanted[0]][1] - starts[wanted[0]]
    moved[new_first] = dashes + moved[new_first][column:]
    lines[first:end] = moved


def _is_between(line: str, column: int) -> bool:
    """Whether a line is empty, or a comment that does not belong to something further in."""
    bare = line.lstrip(" ")
    return not line.strip() or (bare.startswith("#") and len(line) - len(bare) <= column)


def _upwards(lines: Sequence[str], line: int, column: int, *, markers: bool = False) -> int:
    """The first of the lines that belong to what begins at a line: the comments right above it."""
    while line > 0:
        above = lines[line - 1]
        bare = above.lstrip(" ")
        comment = bare.startswith("#") and len(above) - len(bare) == column
        if not (comment or (markers and above.startswith("---"))):
            break
        line -= 1
    return line


def _mappings(lines: Sequence[str], node: yaml.Node, shape: _Shape, end: int) -> Iterator[_Mapping]:
    """Every mapping in block style that is a part with keys of its own, the inner ones first."""
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        column = node.start_mark.column
        starts = [
            _upwards(lines, item.start_mark.line, column) if i else item.start_mark.line
            for i, item in enumerate(node.value)
        ]
        for item, after in zip(node.value, [*starts[1:], end], strict=True):
            yield from _mappings(lines, item, shape.items(), after)
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        return
    column = node.start_mark.column
    keys = tuple((key.value, key.start_mark.line) for key, _ in node.value)
    starts = [_upwards(lines, line, column) for _, line in keys]
    properties = shape.part(node).get("properties", {})
    for (key, value), after in zip(node.value, [*starts[1:], end], strict=True):
        named = properties.get(key.value)
        inner = _Shape(named, shape.definitions) if named is not None else shape.free()
        yield from _mappings(lines, value, inner, after)
    if properties:
        yield _Mapping(keys, column, end, _order(properties))


def _order(properties: Mapping[str, Any]) -> dict[str, int]:
    """Place of each key: what says which part it is, then the id, then the others as the model has them.

    What all checks have in common comes last, though their models begin with it; and in a rule of mocked answers
    comes first when it holds, as one reads it.
    """
    is_rule = MockRule.model_fields.keys() >= properties.keys() >= _OF_RULES

    def place(name: str) -> int:
        if "const" in properties[name]:
            return 0
        if name == "id" or (is_rule and name in _OF_RULES):
            return 1
        return 3 if "check" in properties and name in CheckPart.model_fields else 2

    return {name: number for number, name in enumerate(sorted(properties, key=place))}


# --- the part of a schema that a node is about ---


@cache
def _schemas() -> dict[str, dict[str, Any]]:
    return {name.removesuffix(".json"): json.loads(text) for name, text in texts().items()}


@dataclass(frozen=True, slots=True)
class _Within:
    """Definitions that references lead to."""

    definitions: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Shape:
    """A part of a schema, and the definitions that its references lead to."""

    schema: Any
    definitions: Mapping[str, Any]

    def options(self) -> Iterator[Mapping[str, Any]]:
        """The schemas without references or alternatives of which a value fits one."""
        waiting = [self.schema]
        while waiting:
            schema = waiting.pop(0)
            if not isinstance(schema, dict):
                continue
            if "$ref" in schema:
                waiting.append(self.definitions.get(schema["$ref"].rpartition("/")[2]))
            elif "anyOf" in schema or "oneOf" in schema:
                waiting += [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
            else:
                yield schema

    def items(self) -> _Shape:
        """What an entry of the list is."""
        lists = [schema["items"] for schema in self.options() if "items" in schema]
        return _Shape({"anyOf": lists}, self.definitions)

    def part(self, node: yaml.MappingNode) -> Mapping[str, Any]:
        """The part with keys of its own that a mapping is; nothing where it is none, or its names are free."""
        values = _values(node)
        for schema in self.options():
            keys = schema.get("properties", {})
            if keys and all(
                name in keys and keys[name].get("const", value) == value
                for name, value in values.items()
            ):
                return schema
        return {}

    def free(self) -> _Shape:
        """What stands under a name that the writer chose."""
        named = [
            inner
            for schema in self.options()
            for inner in (
                schema.get("additionalProperties"),
                *schema.get("patternProperties", {}).values(),
            )
        ]
        return _Shape({"anyOf": named}, self.definitions)


def _shape_of(node: yaml.Node) -> _Shape:
    schema = _schemas().get(_values(node).get("kind", ""), {})
    return _Shape(schema, schema.get("$defs", {}))


def _values(node: yaml.Node) -> dict[str, str]:
    """The keys of a mapping, each with its text where it has one."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {
        key.value: value.value if isinstance(value, yaml.ScalarNode) else ""
        for key, value in node.value
        if isinstance(key, yaml.ScalarNode)
    }
