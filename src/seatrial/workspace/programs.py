"""Programs that arms start: whether they, and the scripts that are handed to them, are there.

Nothing is started. Of what stands behind the program only the first word is looked for, where it has an ending that
scripts have.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from seatrial.documents import Catalog, Command, Mcp
from seatrial.errors import Problem

CODE = "no-program"
_ENDINGS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl", ".php", ".jar")


def missing_programs(root: Path, catalog: Catalog) -> tuple[Problem, ...]:
    """A warning at its line for each program of an arm that a run here could not start.

    Args:
        root: from where programs are started.
        catalog: the documents.
    """
    problems = []
    for arm in catalog.arms.values():
        if not isinstance(arm.adapter, Command | Mcp):
            continue
        source = catalog.sources.get(("arm", arm.id))
        if source is None:
            continue
        path = arm.adapter.env.get("PATH", os.environ.get("PATH"))
        for key, words in _commands(arm.adapter):
            for number, why in _missing(root, words, path):
                place = source.at(f"{key}[{number}]")
                problems.append(Problem(*place, why, "", CODE, "warning"))
    return tuple(dict.fromkeys(problems))


def _commands(adapter: Command | Mcp) -> Iterator[tuple[str, Sequence[str]]]:
    yield "adapter.command", adapter.command
    if isinstance(adapter, Command) and adapter.per_turn is not None:
        yield "adapter.per_turn.later", adapter.per_turn.later


def _missing(root: Path, words: Sequence[str], path: str | None) -> Iterator[tuple[int, str]]:
    """The number of each word that names nothing that can be started, and why."""
    if not words:
        return
    program = words[0]
    if program != "{python}":
        if "/" not in program:
            if shutil.which(program, path=path) is None:
                yield 0, f"there is no program `{program}` on the PATH of this machine"
        elif not _is_file(root / program):
            yield 0, f"there is no program {program}; it is looked for from the repository's root"
        elif not os.access(root / program, os.X_OK):
            yield 0, f"{program} may not be executed: `chmod +x {program}`, or name what runs it"
    if len(words) > 1 and words[1].endswith(_ENDINGS) and not _is_file(root / words[1]):
        yield 1, f"there is no file {words[1]}; it is looked for from the repository's root"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # no file can be called that
        return False
