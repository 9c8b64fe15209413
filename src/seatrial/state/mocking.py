"""What is wrong with mocked answers, as far as a tool's declaration tells: before any call, all at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from seatrial.documents import MockedTool, placeholders
from seatrial.state.schema_changes import no_longer_fits
from seatrial.state.schemas import did_you_mean, validator
from seatrial.state.values import quoted

_MOST_TOLD = 5
"""Differences that are told of one tool."""

Found = tuple[str, str]
"""Path inside the mocked tool (`rules[1].answer`), and what is wrong there."""

_OF_THE_VALUE_ITSELF = frozenset({
    "additionalProperties", "maxItems", "maxProperties", "minItems", "minProperties", "required", "type",
})  # fmt: skip
"""Words of JSON Schema about a list or an object that hold whatever its placeholders stand for."""


def why_not_mocked(tool: MockedTool, read_only: bool | None) -> str | None:
    """Why a tool that declares this of itself may not be mocked like that; None when it may.

    An entry that only lets calls through, late or with something that goes wrong on purpose, invents nothing.
    """
    if read_only is True or not tool.invents:
        return None
    if read_only is False:
        return "changes something and cannot be mocked"
    if tool.allow_undeclared:
        return None
    return "does not say whether it only reads"


def stale(
    tool: MockedTool, parameters: Mapping[str, Any] | None, output: Mapping[str, Any] | None
) -> str | None:
    """What the tool declares now that the answers were not written for; None when they may be used.

    Args:
        tool: the mocked answers.
        parameters: JSON Schema of the arguments; None when it is not known.
        output: JSON Schema of the structured answer; None when none is declared.
    """
    then = tool.written_for
    if then is None:
        return None
    found: list[str] = []
    if then.parameters is not None and parameters is not None:
        found += no_longer_fits(then.parameters, dict(parameters))
    if then.output is not None and output is not None:
        found += (f"of the answer, {told}" for told in no_longer_fits(then.output, dict(output)))
    if then.output is None and then.parameters is not None and output is not None:
        found.append("of the answer, a schema is declared now")
    if not found:
        return None
    more = f" (and {len(found) - _MOST_TOLD} more)" if len(found) > _MOST_TOLD else ""
    return f"stale: {'; '.join(found[:_MOST_TOLD])}{more}"


def misfits(tool: MockedTool, output: Mapping[str, Any] | bool) -> Iterator[Found]:
    """Answers that never fit the tool's output schema, whatever their placeholders stand for."""
    schema = validator(dict(output) if isinstance(output, Mapping) else output)
    for path, part in tool.parts():
        if "answer" not in part.says:
            continue
        found = schema.misfits(part.answer, lambda inside: inside or "the answer", unless=_is_open)
        for sentence in found:
            yield f"{path}.answer" if path else "answer", sentence


def _is_open(error: ValidationError) -> bool:
    """Whether the error may go away once the placeholders are filled."""
    value: Any = error.instance
    if isinstance(value, str):
        if error.validator == "type":  # a text with something in it stays a text
            return placeholders.whole(value) is not None
        return next(placeholders.names(value), None) is not None
    if error.validator in _OF_THE_VALUE_ITSELF:
        return False
    return next(placeholders.names(value), None) is not None


def unknown_arguments(tool: MockedTool, known: Collection[str]) -> Iterator[Found]:
    """Conditions and placeholders about arguments that are none of those that the tool takes."""
    for number, rule in enumerate(tool.rules):
        for path in rule.when:
            name = path.partition(".")[0]
            if name not in known and path not in known:
                yield f"rules[{number}].when.{path}", _unknown(name, known)
    for path, part in tool.parts():
        for key in ("answer", "error", "put"):
            for placeholder in placeholders.names(getattr(part, key)):
                name = placeholder.removeprefix("args.")
                first = name.partition(".")[0]
                if placeholder.startswith("args.") and first not in known and name not in known:
                    yield f"{path}.{key}" if path else key, _unknown(first, known)


def _unknown(name: str, known: Collection[str]) -> str:
    there = f" (it takes {', '.join(sorted(known))})" if known else " (it takes none)"
    return f"it takes no argument {quoted(name)}{did_you_mean(name, known) or there}"
