"""A function as a tool: its docstring is what agents read, its parameters are the arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema

from seatrial.errors import WorldError
from seatrial.functions import told as told_of
from seatrial.state.schemas import Validator, validator
from seatrial.state.values import freeze
from seatrial.tools import Tool
from seatrial.trace import Json
from seatrial.worlds.told import Told

TRIAL = "trial"
"""The parameter that is no argument: the trial's clock, token and chance."""

_NO_TYPES = (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, PydanticUserError)


class _Plain(GenerateJsonSchema):
    """Without titles that only repeat the name of a parameter."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is a tool."""

    call: Callable[..., Any]
    tool: Tool
    arguments: Mapping[str, TypeAdapter[Any]]
    takes_trial: bool
    result: TypeAdapter[Any] | None
    output: Validator | None

    @property
    def is_async(self) -> bool:
        """Whether it is to be awaited."""
        return inspect.iscoroutinefunction(self.call)

    def values(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """The arguments as the function's annotations ask for them.

        Raises:
            Told: one of them cannot be such.
        """
        found = {}
        for name, value in arguments.items():
            adapter = self.arguments.get(name)
            if adapter is None:
                raise Told(f"argument `{name[:80]}` is unknown")
            try:
                found[name] = adapter.validate_python(value)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                path = ".".join(map(str, (name, *first["loc"])))
                raise Told(f"argument `{path[:80]}`: {first['msg']}") from None
        return found

    def as_json(self, value: Any) -> Json:
        """What the function gave, as JSON.

        Raises:
            TypeError, ValueError: it cannot be.
        """
        if self.result is not None:
            value = self.result.dump_python(value, mode="json")
        return freeze(value)


def described(
    function: Callable[..., Any],
    name: str,
    *,
    read_only: bool,
    destructive: bool,
    leaves_world: bool = False,
    where: str,
) -> Function:
    """A function as a tool.

    Raises:
        WorldError: its signature or its docstring does not say what a tool must.
    """
    description = inspect.getdoc(function) or ""
    if not description:
        raise WorldError(f"{where} has no docstring: it is what agents read of the tool")
    try:
        signature = inspect.signature(function, eval_str=True)
    except Exception as error:  # annotations are code
        raise WorldError(f"the annotations of {where} cannot be read: {told_of(error)}") from error
    state, *parameters = signature.parameters.values() or (None,)
    if state is None or not _by_position(state):
        raise WorldError(f"the first parameter of {where} must be the state")
    adapters: dict[str, TypeAdapter[Any]] = {}
    needed = []
    for parameter in parameters:
        if parameter.kind not in (
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        ):
            raise WorldError(f"{where}: `{parameter}` can be no argument of a tool; name each")
        if parameter.name == TRIAL:
            continue
        adapters[parameter.name] = _adapter(parameter.annotation, f"{where}: `{parameter.name}`")
        if parameter.default is inspect.Parameter.empty:
            needed.append(parameter.name)
    defaults = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
    result = signature.return_annotation
    returned = (
        _adapter(result, f"{where}: what it returns")
        if result not in (inspect.Signature.empty, None)
        else None
    )
    output = _output(returned, where)
    tool = Tool(
        name=name,
        description=description,
        input_schema=freeze(_input(adapters, defaults, needed, where)),
        output_schema=None if output is None else freeze(output),
        read_only=read_only,
        destructive=destructive,
        leaves_world=leaves_world or None,
    )
    return Function(
        call=function,
        tool=tool,
        arguments=adapters,
        takes_trial=TRIAL in signature.parameters,
        result=returned,
        output=None if output is None else validator(output),
    )


def _by_position(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )


def _adapter(annotation: Any, where: str) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(Any if annotation is inspect.Parameter.empty else annotation)
    except _NO_TYPES as error:
        why = str(error).partition("\n")[0]
        raise WorldError(
            f"{where} is of a type that arguments and answers cannot have: {why}"
        ) from error


def _input(
    adapters: Mapping[str, TypeAdapter[Any]],
    defaults: Mapping[str, Any],
    needed: list[str],
    where: str,
) -> dict[str, Any]:
    try:
        schemas, shared = TypeAdapter.json_schemas(
            [(name, "validation", adapter) for name, adapter in adapters.items()],
            schema_generator=_Plain,
        )
    except _NO_TYPES as error:
        raise WorldError(
            f"{where} has an argument of a type that JSON cannot be: {error}"
        ) from error
    properties: dict[str, Any] = {name: dict(schema) for (name, _), schema in schemas.items()}
    for name, value in defaults.items():
        if name in properties and value is not None:
            try:
                properties[name]["default"] = freeze(adapters[name].dump_python(value, mode="json"))
            except (TypeError, ValueError):
                continue  # a default that JSON cannot say is the function's own business
    return {
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
        **shared,
    }


def _output(returned: TypeAdapter[Any] | None, where: str) -> dict[str, Any] | None:
    """The schema of what is returned, where it is an object that declares its properties."""
    if returned is None:
        return None
    try:
        schema = returned.json_schema(mode="serialization", schema_generator=_Plain)
    except _NO_TYPES as error:
        raise WorldError(f"{where} returns a type that JSON cannot be: {error}") from error
    return schema if schema.get("type") == "object" and "properties" in schema else None
