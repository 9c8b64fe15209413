"""The modules behind a world: looked through without being run, and loaded."""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial import functions
from seatrial.documents.world import PythonWorld
from seatrial.errors import FunctionError, WorldError
from seatrial.printed import Printed, listening
from seatrial.state import State, state_from_json
from seatrial.state.schemas import did_you_mean
from seatrial.worlds.offering import check_roles
from seatrial.worlds.python.signatures import Function, described


@dataclass(frozen=True, slots=True)
class Start:
    """What all trials of a world share; read, never written."""

    state: State
    types: tuple[str, ...]
    """The types of the start, those without an object too."""
    functions: dict[str, Function]
    refusals: tuple[type[Exception], ...]


def loaded(world: PythonWorld, root: Path, _: Path) -> Start:
    """Import the functions, and read the starting state.

    Raises:
        WorldError: a module cannot be imported, a function is no tool, or the start is no state.
    """
    found = {}
    with listening(Printed()):
        for name, tool in world.tools.items():
            module, function = world.target(name)
            try:
                loaded_function = functions.load(f"{module}:{function}", root)
            except FunctionError as error:
                raise WorldError(f"world {world.id!r}: tools.{name}: {error.message}") from error
            found[name] = described(
                loaded_function,
                name,
                read_only=tool.read_only,
                destructive=tool.destructive,
                leaves_world=tool.leaves_world,
                where=f"world {world.id!r}: {module}:{function}",
            )
        refusals = tuple(_exception(world, named, root) for named in world.refusals)
    check_roles(world, (function.tool for function in found.values()))
    state, types = _start(world, root)
    return Start(state, types, found, refusals)


def problems(world: PythonWorld, root: Path) -> Iterator[tuple[str, str]]:
    """What the files show to be wrong: a function that is not there, a start that is no state."""
    for name in world.tools:
        module, function = world.target(name)
        where = f"tools.{name}"
        try:
            tree = ast.parse(_source(root, module).read_bytes(), filename=module)
        except (SyntaxError, ValueError) as error:
            yield where, f"module {module} is no Python: {error}"
            continue
        except OSError:
            yield where, f"there is no module {module} at the repository's root"
            continue
        names = _names(tree)
        if names is not None and function not in names:
            guess = did_you_mean(function, [n for n in names if not n.startswith("_")])
            yield where, f"module {module} has no function {function!r}{guess}"
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
                if not (node.args.posonlyargs or node.args.args):
                    yield where, f"the first parameter of {function} must be the state"
                if not ast.get_docstring(node):
                    yield where, f"{function} has no docstring: it is what agents read of the tool"
    try:
        _start(world, root)
    except WorldError as error:
        yield "start" if world.start is not None else "start_file", error.message


def _start(world: PythonWorld, root: Path) -> tuple[State, tuple[str, ...]]:
    raw: Any = world.start
    if world.start_file is not None:
        try:
            raw = json.loads((root / world.start_file).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise WorldError(f"{world.start_file} is no JSON: {error}") from error
        if not isinstance(raw, dict):
            raise WorldError(f"{world.start_file} must map types to keys to objects")
    try:
        return state_from_json(raw), tuple(raw)
    except TypeError as error:
        raise WorldError(f"the starting state: {error}") from error


def _exception(world: PythonWorld, named: str, root: Path) -> type[Exception]:
    module, _, name = named.rpartition(":")
    try:
        found = functions.load(named, root) if module else getattr(builtins, name, None)
    except FunctionError as error:
        raise WorldError(f"world {world.id!r}: refusals: {error.message}") from error
    if not (isinstance(found, type) and issubclass(found, Exception)):
        raise WorldError(f"world {world.id!r}: refusals: {named} is no exception")
    return found


def _source(root: Path, module: str) -> Path:
    path = root.joinpath(*module.split("."))
    package = path / "__init__.py"
    return package if package.exists() else path.with_suffix(".py")


def _names(tree: ast.Module) -> set[str] | None:
    """The names at the top of a module; None where they cannot be told without running it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                return None
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update((alias.asname or alias.name).partition(".")[0] for alias in names)
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                if name == "__getattr__":
                    return None
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case _:
                continue
    return found
