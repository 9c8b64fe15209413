"""Functions of the repository that documents name as `module:function`: found, imported, handed out.

An agent of kind `python` and a check of kind `python` are such functions. Only what carries trials out
loads them: rules are given the function object and never import anything.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

from seatrial.errors import FunctionError, printable

_TOLD = 200
"""Characters of an exception's text that a message holds."""
_NOT_THEIRS = (
    str(Path(__file__).parent),
    str(Path(importlib.__file__).parent),
    "<",
)
"""How the files begin whose lines say nothing about what went wrong in a function of the repository."""


def load(target: str, root: Path) -> Callable[..., Any]:
    """The function behind `module:function`, imported from the repository's root.

    Raises:
        FunctionError: there is no such module or function, or the module cannot be imported.
    """
    module_name, _, name = target.partition(":")
    place = str(root)
    sys.path.insert(0, place)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name == module_name:
            raise FunctionError(
                f"{target}: there is no module {module_name!r} at the repository's root"
            ) from error
        raise FunctionError(f"{target} cannot be imported: {told(error)}") from error
    finally:
        # First only for its import, so that it cannot hide modules that Seatrial imports later;
        # last from then on, for what the function itself imports later.
        sys.path.remove(place)
        if place not in sys.path:
            sys.path.append(place)
    function = getattr(module, name, None)
    if not callable(function):
        offered = ", ".join(
            n for n, v in vars(module).items() if inspect.isfunction(v) and not n.startswith("_")
        )
        raise FunctionError(
            f"{target}: module {module_name!r} has no function {name!r}"
            + (f"; it has {_cut(offered)}" if offered else "")
        )
    return function  # type: ignore[no-any-return]


def load_all(targets: Iterable[str], root: Path) -> dict[str, Callable[..., Any]]:
    """Functions that judge, by target. What they print is dropped: they answer with a reason.

    Raises:
        FunctionError: any of them cannot be had; all problems at once.
    """
    found: dict[str, Callable[..., Any]] = {}
    problems: list[str] = []
    for target in dict.fromkeys(targets):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found[target] = _silent(load(target, root))
        except FunctionError as error:
            problems.append(error.message)
    if problems:
        raise FunctionError("\n".join(problems), hint="checks of kind `python` name these")
    return found


def told(error: BaseException) -> str:
    """The exception and the last line of the repository's own code, without folders of this machine."""
    text = _cut(" ".join(str(error).split()))
    told = f"{type(error).__name__}: {printable(text)}" if text else type(error).__name__
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_NOT_THEIRS):
            return f"{told} ({Path(frame.filename).name}:{frame.lineno})"
    return told


def _silent(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def silent(*args: Any, **kwargs: Any) -> Any:
        # A terminal and a CI log obey what they are sent, and it may be what an agent wrote.
        with contextlib.redirect_stdout(io.StringIO()):
            return function(*args, **kwargs)

    return silent


def _cut(text: str) -> str:
    return text if len(text) <= _TOLD else text[:_TOLD] + "…"
