"""`seatrial schema`: the JSON Schemas with which editors complete and check documents."""

from __future__ import annotations

from pathlib import Path

import click

from seatrial.errors import ExitCode, StorageError


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("site/schema"),
    show_default=True,
    help="The folder to write them to.",
)
@click.option("--check", is_flag=True, help="Write nothing; say which are out of date.")
def schema(out: Path, check: bool) -> ExitCode:
    """Write the JSON Schemas of case, suite, arm, fixture and defaults.

    A document names its schema in its first line:
    `# yaml-language-server: $schema=../site/schema/case.json`.
    """
    from seatrial.documents.schemas import texts

    stale: dict[Path, str] = {}
    for name, text in texts().items():
        path = out / name
        if path.is_file() and path.read_bytes() == text.encode():
            continue
        stale[path] = "is out of date" if path.is_file() else "is missing"
        if not check:
            try:
                out.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            except OSError as error:
                raise StorageError(f"{path} cannot be written: {error.strerror}") from error
    for path, how in stale.items():
        click.echo(f"{path} {how}" if check else f"wrote {path}")
    if not stale:
        click.echo(f"the schemas in {out} are up to date")
    elif check:
        click.echo(f"run `seatrial schema --out {out}` to write them anew")
    return ExitCode.USAGE if stale and check else ExitCode.OPEN
