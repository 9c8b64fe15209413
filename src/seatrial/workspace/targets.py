"""Functions of the repository that arms name: whether they are there, told without importing anything.

A module of the repository is parsed, never run. What a module takes from elsewhere at once (`from x import *`) or
makes up when it is asked (`__getattr__`) may have any name; of what is installed it is only asked whether there is
such a package.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from seatrial.documents import Catalog, Python
from seatrial.errors import Problem
from seatrial.workspace.following import leads_out

CODE = "no-function"
_MOST = 4_000_000
"""Bytes of a module that are parsed."""


def missing_targets(root: Path, home: Path, catalog: Catalog) -> tuple[Problem, ...]:
    """A warning at its line for each function of an arm that a run would not find.

    Args:
        root: from where modules are imported.
        home: the folder that no module of the repository may lead out of.
        catalog: the documents.
    """
    problems = []
    for arm in catalog.arms.values():
        if not isinstance(arm.adapter, Python):
            continue
        source = catalog.sources.get(("arm", arm.id))
        if source is not None and (why := _missing(root, home, arm.adapter.function)):
            key = "adapter.target" if arm.adapter.target is not None else "adapter.build"
            problems.append(Problem(*source.at(key), *why, CODE, "warning"))
    return tuple(problems)


def _missing(root: Path, home: Path, function: str) -> tuple[str, str] | None:
    """Why a function is not there, and a hint; None where it is, or where only an import could tell."""
    module, _, name = function.partition(":")
    path = _file(root, module)
    if path is None:
        return _no_module(root, module)
    if not path.name.endswith(".py"):  # a folder without `__init__.py`
        return f"module `{module}` is a folder without code, so that it has no `{name}`", ""
    shown = path.relative_to(root).as_posix()
    if leads_out(path, home):
        return f"{shown} is a link that leads out of the repository", ""
    try:
        if path.stat().st_size > _MOST:
            return None
        tree = ast.parse(path.read_bytes())
    except OSError as error:
        return f"{shown} cannot be read: {error.strerror}", ""
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return f"{shown} is no Python{line}", ""
    names = set(_names(tree.body))
    if name in names or names & {"*", "__getattr__"}:
        return None
    return (
        f"{shown} has no `{name}`{_guess(name, sorted(n for n in names if not n.startswith('_')))}",
        "",
    )


def _no_module(root: Path, module: str) -> tuple[str, str] | None:
    first = module.partition(".")[0]
    if _file(root, first) is None:
        try:
            if (
                find_spec(first) is not None
            ):  # it is installed, and looked into only by importing it
                return None
        except (ImportError, ValueError):
            pass
    hint = "A module is imported from the repository's root"
    near = sorted(
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in (root / Path(*module.split(".")).parent).glob("*.py")
        if path.name != "__init__.py"
    )
    guess = _guess(module, near)
    return f"there is no module `{module}`{guess}", "" if guess else hint


def _file(root: Path, module: str) -> Path | None:
    """The file of a module of the repository, its folder where it has none, or None where there is neither."""
    path = root.joinpath(*module.split("."))
    for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if file.is_file():
            return file
    return path if path.is_dir() else None


def _names(body: list[ast.stmt]) -> Iterator[str]:
    """Names that statements bind in their module."""
    for statement in body:
        match statement:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in aliases:
                    yield alias.asname or alias.name.partition(".")[0]
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from _bound(target)
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                yield from _bound(target)
            case _:
                for nested in ast.iter_child_nodes(statement):
                    if isinstance(nested, ast.stmt):
                        yield from _names([nested])
                    elif isinstance(nested, ast.ExceptHandler | ast.match_case):
                        yield from _names(nested.body)
                    else:
                        yield from _bound(nested)


def _bound(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _guess(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean `{near[0]}`?" if near else ""
