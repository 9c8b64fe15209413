"""`seatrial import`: tasks in the shapes of others as documents, and a list of what has no equivalent."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seatrial.errors import ExitCode, InvalidDocuments, StorageError, UsageError, printable

if TYPE_CHECKING:
    from seatrial.importing import Imported

LARGEST = 50_000_000
"""Bytes of a file, unpacked."""
SUFFIXES = (".json", ".jsonl", ".yaml", ".yml", ".txt", ".md", ".j2")


@click.command("import")
@click.argument("shape", metavar="FORMAT", type=click.Choice(["tau2", "agentdojo", "promptfoo"]))
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--agent", metavar="ID", help="Whom the cases are for; the name of the format when left out."
)
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder that gets cases/, suites/, arms/ and fixtures/; the current one when left out.",
)
@click.option(
    "--person-url", metavar="URL", help="tau2: the endpoint of the model that plays persons."
)
@click.option("--person-model", metavar="NAME", help="tau2: its pinned name.")
@click.option("--quiet", is_flag=True, help="Leave out what has no equivalent in each single task.")
@click.option("--check", is_flag=True, help="Write nothing; say what would be written.")
def import_tasks(
    shape: str,
    source: Path,
    agent: str | None,
    root: Path | None,
    person_url: str | None,
    person_model: str | None,
    quiet: bool,
    check: bool,
) -> ExitCode:
    """Write the tasks in SOURCE, a file or a folder, as documents.

    \b
    tau2       tasks of tau2-bench and tau-bench, with start states and tools where they are given
    agentdojo  tasks of AgentDojo, with start states and tools
    promptfoo  a promptfooconfig.yaml: prompts, providers, tests with vars and assert

    What has no equivalent is listed by task, and counted. Files may be packed (.gz). Nothing that is there is
    overwritten, and nothing is written unless `seatrial check` would take it. What looks real in data that is known to
    be invented is allowed in real-data.yaml, with that reason; `seatrial pseudonymize` replaces the rest.
    """  # noqa: D301 - click wants the character, not the two that write it
    from seatrial import loading
    from seatrial.cli.planting import plant, refuse_what_is_wrong, schema_line
    from seatrial.importing import FORMATS
    from seatrial.loading.order import ordered
    from seatrial.loading.writing import written

    root = root or Path.cwd()
    person = _person(shape, person_url, person_model)
    given = _read(source)
    try:
        imported = FORMATS[shape](given, agent or shape, person)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Somewhere in the tasks stands something else than in those of this format.
        raise UsageError(
            f"{source} is not in the form of {shape}: {type(error).__name__}: {error}",
            hint="SEATRIAL_DEBUG=1 shows where; leave the file out that is of another form",
        ) from error
    if not imported.documents:
        raise UsageError(
            f"{source} holds no tasks of {shape} that can be imported",
            hint=f"{len(imported.missing)} parts without an equivalent"
            if imported.missing
            else "name the file or the folder with the tasks",
        )
    files = {}
    for path, doc in imported.documents.items():
        text = written(doc, dense=("objects",))
        # A fixture may have megabytes of objects, and is put together in order.
        text = text if doc["kind"] == "fixture" else ordered(text)
        files[path] = (schema_line(path, doc["kind"]) + text).encode()
    refuse_what_is_wrong(root, files)
    real = _looks_real(files, root)
    if not check:
        plant(root, files, "remove what is there, or write elsewhere: --root FOLDER")
        if real and imported.invented_by:
            _allow(root, real, imported.invented_by)
    _tell(imported, quiet)
    if real:
        end = (
            f"allowed in real-data.yaml: invented by {imported.invented_by}"
            if imported.invented_by
            else "run `seatrial pseudonymize cases`, or allow them in real-data.yaml"
        )
        click.echo(printable(f"values that look real: {len(real)}; {end}"))
    kinds = [path.partition("/")[0] for path in files]
    counted = ", ".join(_count(kinds.count(k), k) for k in loading.FOLDERS if k in kinds)
    done = "would be written" if check else "written"
    click.echo(printable(f"{_count(imported.tasks, 'tasks')}: {counted} {done}"))
    return ExitCode.OPEN


def _person(shape: str, url: str | None, model: str | None) -> dict[str, Any] | None:
    if (url is None) != (model is None):
        raise UsageError("a person is played by a model at an endpoint",
                         hint="give both --person-url and --person-model")  # fmt: skip
    if url is None or model is None:
        return None
    if shape != "tau2":
        raise UsageError(f"nobody talks in tasks of {shape}", hint="leave out --person-url")
    return {"name": model, "url": url}


def _read(source: Path) -> dict[str, Any]:
    """Every file that can be part of tasks, by its path below the source or the folder that it is in."""
    folder = source if source.is_dir() else source.parent
    if source.is_dir():
        waiting = [p for p in sorted(source.rglob("*")) if not _SKIPPED & set(p.parts)]
    else:
        near = sorted(folder.iterdir())
        waiting = [source, *(p for p in near if p.name.startswith(("state_", "tools_", "db.")))]
    found: dict[str, Any] = {}
    home = folder.resolve()
    while waiting:
        path = waiting.pop(0)
        name = path.relative_to(folder).as_posix()
        plain = name.removesuffix(".gz")
        inside = path.resolve().is_relative_to(home)
        if plain in found or not plain.endswith(SUFFIXES) or "runs_" in plain or not inside:
            continue
        if path.is_file():
            text = _text(path)
            found[plain] = _content(path, plain, text)
            for named in _NAMED.findall(text) if plain.endswith((".yaml", ".yml")) else ():
                near_it = path.parent / named
                if ".." not in near_it.parts and not named.startswith("/"):
                    waiting.append(near_it)
    return found


_SKIPPED = {"node_modules", ".git", ".venv"}
_NAMED = re.compile(r"file://(?:\./)?([\w./-]+)")
"""A reference of promptfoo's to a file beside it."""


def _text(path: Path) -> str:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if len(data) > LARGEST:
        raise UsageError(f"{path} has more than {LARGEST // 10**6} MB", hint="name a part of it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text in UTF-8: {error.reason}") from error


def _content(path: Path, name: str, text: str) -> Any:
    """What a file holds: the value of JSON or YAML, a list of the lines of JSONL, or its text."""
    from seatrial.loading.reading import read

    try:
        if name.endswith(".jsonl"):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        if name.endswith(".json"):
            return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}") from error
    if not name.endswith((".yaml", ".yml")):
        return text
    file = read(path.as_posix(), text.encode())
    if file.problems:
        raise InvalidDocuments(file.problems)
    return file.documents[0].value


# --- what looks real ---


def _looks_real(files: Mapping[str, bytes], root: Path) -> list[str]:
    """Values that `seatrial check` would warn of, and that nothing allows yet."""
    from seatrial.loading.lifelike import allowed_in, lifelike

    may_stay = allowed_in(root)
    found = lifelike(files, may_stay)
    told = [problem.message for problem in found if problem.code.startswith("real-")]
    values = [message.split("`")[1] for message in told if "looks like" in message]
    return list(dict.fromkeys(values))


def _allow(root: Path, values: list[str], whose: str) -> None:
    """Allow what is known to be invented."""
    from seatrial.loading.tree import ALLOWED

    lines = [
        f"- {{value: {json.dumps(value)}, reason: {json.dumps(f'Invented by {whose}.')}}}\n"
        for value in values
    ]
    try:
        with (root / ALLOWED).open("a", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        raise StorageError(f"{root / ALLOWED} cannot be written: {error.strerror}") from error


# --- what is told ---


def _tell(imported: Imported, quiet: bool) -> None:
    for missing in () if quiet else imported.missing:
        task = f"{missing.task}: " if missing.task else ""
        detail = f": {missing.detail}" if missing.detail else ""
        click.echo(printable(f"  {task}no equivalent of {missing.part}{detail}"))
    for part, tasks in imported.counted:
        click.echo(printable(f"no equivalent of {part}: {_count(tasks, 'tasks')}"))


def _count(number: int, nouns: str) -> str:
    return f"{number} {nouns.removesuffix('s') if number == 1 else nouns}"
