"""`seatrial show`: one document, as it is written or as it is with all that it inherits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seatrial.errors import ExitCode, UsageError, printable

if TYPE_CHECKING:
    from seatrial.documents import Catalog, Kind, Source
    from seatrial.workspace import Workspace


@click.command()
@click.argument("kind", type=click.Choice(["case", "suite", "arm", "fixture"]))
@click.argument("id")
@click.option(
    "--resolved",
    is_flag=True,
    help="With all that it inherits, each value with the file and line that wrote it.",
)
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def show(kind: Kind, id: str, resolved: bool, shape: str, root: Path | None) -> ExitCode:
    """Print a document: the lines of its file, or with --resolved what it comes to, as YAML.

    A case with a matrix or with several variants of an attack comes to several cases: ID may be that of one of
    them, or that of the case as it is written, for all.
    """
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    catalog = workspace.catalog()
    ids = _named(catalog, kind, id)
    if not resolved:
        source = catalog.sources[kind, ids[0]]
        text = _written(workspace, source)
        if shape == "json":
            _print_json([{"kind": kind, "id": id, "place": source.place(""), "written": text}])
        else:
            click.echo(printable(text, keep="\n\t"), nl=False)
        return ExitCode.OPEN

    from seatrial.cli.resolved import as_data, lines

    documents = {one: _of_kind(catalog, kind)[one] for one in ids}
    if shape == "json":
        _print_json([as_data(doc, catalog.sources[kind, one]) for one, doc in documents.items()])
        return ExitCode.OPEN
    for number, (one, document) in enumerate(documents.items()):
        if number:
            click.echo("---")
        for line in lines(document, catalog.sources[kind, one]):
            click.echo(printable(line))
    return ExitCode.OPEN


def _of_kind(catalog: Catalog, kind: Kind) -> Any:
    return {
        "case": catalog.cases,
        "suite": catalog.suites,
        "arm": catalog.arms,
        "fixture": catalog.fixtures,
    }[kind]


def _named(catalog: Catalog, kind: Kind, id: str) -> tuple[str, ...]:
    """The documents that an id stands for.

    Raises:
        UsageError: there are none.
    """
    import difflib

    known = _of_kind(catalog, kind)
    found = catalog.named(id) if kind == "case" else (id,) if id in known else ()
    if found:
        return found
    near = difflib.get_close_matches(id, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"seatrial list {kind}s"
    raise UsageError(f"there is no {kind} {id!r}", hint=hint)


def _written(workspace: Workspace, source: Source) -> str:
    """The lines of a document in its file, which may hold several."""
    import yaml
    from yaml.events import DocumentStartEvent

    text = (workspace.root / source.path).read_bytes().decode("utf-8-sig")
    rows = text.splitlines(keepends=True)
    starts = [
        event.start_mark.line
        for event in yaml.parse(text, yaml.CSafeLoader)
        if isinstance(event, DocumentStartEvent) and event.start_mark is not None
    ]
    if len(starts) == 1:
        return text
    _, line, _ = source.at("")
    begin = max(start for start in (0, *starts[1:]) if start < line)
    end = min((start for start in starts[1:] if start >= line), default=len(rows))
    if rows[begin].rstrip() == "---":
        begin += 1
    return "".join(rows[begin:end])


def _print_json(found: list[dict[str, Any]]) -> None:
    import json

    click.echo(json.dumps(found, indent=1, ensure_ascii=True))
