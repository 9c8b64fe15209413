"""What is wrong with worlds whose state no document holds: with their tools, and the texts of these."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from seatrial.documents import placeholders
from seatrial.documents.world import DirectoryWorld, HttpWorld, PythonWorld, SqliteWorld, World
from seatrial.documents.world.directory import GIT_TOOLS
from seatrial.state.references import tool_problems
from seatrial.state.schemas import did_you_mean
from seatrial.state.values import shown

Found = tuple[str, str]
"""Path inside the document, and what is wrong there."""

_ANY_MOMENT = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)


def problems_of_its_kind(world: World) -> Iterator[Found]:
    """What is wrong with a world of any kind but `objects`, beyond its roles and its clock."""
    match world:
        case SqliteWorld():
            for name, tool in world.tools.items():
                for path, message in tool_problems(tool):
                    yield f"tools.{name}{path}", message
                declared = tool.parameters.get("properties", {})
                for path, statement in tool.all_statements:
                    where = f"tools.{name}.{path.replace('sql', 'otherwise')}"
                    yield from _texts(where, statement.otherwise, declared)
        case HttpWorld():
            yield from _of_service(world)
        case PythonWorld():
            for name, function in world.tools.items():
                if function.read_only and function.destructive:
                    yield f"tools.{name}.destructive", "a `read_only` action destroys nothing"
        case DirectoryWorld() if not world.is_repository:
            for number, name in enumerate(world.tools or ()):
                if name in GIT_TOOLS:
                    message = (
                        f"{name} works on a git repository: write `git: true`, or name a `bundle`"
                    )
                    yield f"tools[{number}]", message
        case _:
            return


def _of_service(world: HttpWorld) -> Iterator[Found]:
    for name, tool in world.tools.items():
        for path, message in tool_problems(tool):
            yield f"tools.{name}{path}", message
        declared = tool.parameters.get("properties", {})
        given = {
            *tool.parameters.get("required", ()),
            *(key for key, schema in declared.items() if "default" in schema),
        }
        for key, part in (("path", tool.path), ("query", tool.query), ("json", tool.body)):
            yield from _texts(f"tools.{name}.{key}", part, declared)
        for placeholder in placeholders.names(tool.path):
            argument = placeholder.removeprefix("args.").partition(".")[0]
            if argument in declared and argument not in given:
                yield (
                    f"tools.{name}.path",
                    f"argument {argument!r} stands in the path, so it must be `required`, or have a "
                    "`default`",
                )
    for place, asked in (
        ("reset", world.reset),
        *((f"state.{n}", r) for n, r in world.state.items()),
    ):
        for key, part in (("path", asked.path), ("query", asked.query), ("json", asked.body)):
            yield from _texts(f"{place}.{key}", part, {})
    yield from _texts("url", world.url, {})
    for name, value in world.headers.items():
        yield from _texts(f"headers.{name}", value, {})


def _texts(path: str, text: Any, declared: Mapping[str, Any]) -> Iterator[Found]:
    """Placeholders in the texts of a tool: its arguments, and what is the trial's."""
    for name in placeholders.names(text):
        root, _, argument = name.partition(".")
        if root == "args" and argument.partition(".")[0] in declared:
            continue
        if root == "args" and argument:
            first = argument.partition(".")[0]
            yield path, f"{shown(first)} is no argument{did_you_mean(first, declared)}"
        elif placeholders.moved(name, _ANY_MOMENT) is None and name != "run":
            yield path, f"{shown(name)} stands for nothing; write `args.…`, `now`, `today` or `run`"
