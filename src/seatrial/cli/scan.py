"""`seatrial scan`: no secret leaves with what is uploaded."""

from __future__ import annotations

from pathlib import Path

import click

from seatrial.errors import ExitCode, UsageError, printable

_SHOWN = 20


@click.command("scan")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--secret",
    "names",
    multiple=True,
    metavar="NAME",
    help="An environment variable whose value must not be found, in no form; may be repeated. Those that the "
    "variable SEATRIAL_SECRETS names are looked for as well.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with real-data.yaml, which says what only looks like a secret; the nearest one above, when "
    "left out.",
)
def scan(paths: tuple[Path, ...], names: tuple[str, ...], root: Path | None) -> ExitCode:
    """Search files and folders that are about to be published for secrets.

    Looked for are the values of variables, as they are and in the encodings in which they are met, and what has the
    form of a key or a token. Links, and archives that cannot be looked into, may not leave either. Nothing that is
    found is repeated.

    Exit codes: 0 nothing is found; 1 something is; 2 a variable is not set; 4 a file cannot be read.
    """
    import os

    from seatrial import redaction
    from seatrial.cli.scanning import Scanner
    from seatrial.loading.lifelike import allowed_in
    from seatrial.workspace import Workspace

    wanted = dict.fromkeys((*names, *os.environ.get(redaction.LISTED, "").split()))
    missing = [name for name in wanted if not os.environ.get(name)]
    if missing:
        raise UsageError(
            f"not set in the environment, so nobody can look for it: {', '.join(missing)}",
            hint="set it, or take it out of --secret and SEATRIAL_SECRETS",
        )
    short = [name for name in wanted if len(os.environ[name]) < redaction.SHORTEST]
    if short:
        raise UsageError(
            f"shorter than {redaction.SHORTEST} characters, and so met by chance: {', '.join(short)}",
            hint="what is so short protects nothing; take a longer one",
        )
    secrets = {name: os.environ[name] for name in wanted} | redaction.listed(os.environ)
    may_stay = allowed_in(Workspace.find_or_here(root).root)
    scanner = Scanner(secrets, may_stay.holds)
    found = 0
    for path in paths:
        for hit in scanner.hits(path):
            found += 1
            if found <= _SHOWN:
                click.echo(printable(str(hit)), err=True)
    if found > _SHOWN:
        click.echo(f"… and {found - _SHOWN} more", err=True)
    if found:
        click.echo("Nothing of this may be published.", err=True)
        return ExitCode.CLOSED
    looked = f" and for {len(secrets)} known values" if secrets else ""
    click.echo(f"No secret is found; looked for what has the form of one{looked}.")
    return ExitCode.OPEN
