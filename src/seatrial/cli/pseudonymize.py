"""`seatrial pseudonymize`: documents with stand-ins for what may be somebody's."""

from __future__ import annotations

from pathlib import Path

import click

from seatrial.errors import ExitCode, InvalidDocuments, UsageError, printable


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="PATH...",
    type=click.Path(exists=True, path_type=Path),
)
@click.option("--check", is_flag=True, help="Write nothing; say what would be replaced.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def pseudonymize(files: tuple[Path, ...], check: bool, root: Path | None) -> ExitCode:
    """Replace what may be somebody's in documents: the same person gets the same stand-in, in all of these files.

    PATH is a file or a folder with documents, such as `cases`.

    Mail addresses, hosts, numbers of accounts, cards, persons and phones are told by their form, comments included;
    names, addresses, dates of birth, passwords and further numbers by the key that they stand under. Stand-ins keep the
    form: a mail address in example.com, a number of no bank with right check digits, a telephone number for fiction.
    Comments and layout stay, and so do ids of documents and what real-data.yaml allows.

    A name in the middle of prose is found only where one of the files has it under a key that says so: read what is
    left. Done twice, nothing changes, as long as the key is the same: it is in .seatrial/stand-ins.key, or is
    the variable SEATRIAL_STAND_INS_KEY.

    Exit code 2: something looks real still, or (with --check) would be replaced.
    """
    import re

    from seatrial import loading
    from seatrial.cli.keys import key_of
    from seatrial.cli.replacing import replace_file
    from seatrial.cli.scope import from_here, is_meant, scope
    from seatrial.loading.lifelike import allowed_in, lifelike
    from seatrial.loading.pseudonyms import pseudonymized

    root, paths = scope(files, root, loading.FOLDERS, "seatrial pseudonymize --root")
    tree = loading.read_tree(root)
    given = {path: data for path, data in tree.items() if is_meant(path, paths)}
    if missing := [p for p in paths if not any(is_meant(path, [p]) for path in given)]:
        raise UsageError(
            f"{missing[0]} is neither a file of documents nor a folder with one",
            hint="they end in .yaml or .yml",
        )
    may_stay = allowed_in(root)
    ids = re.compile(rb"""^(?:- )?id:[ \t]*["']?([\w.-]+)""", re.MULTILINE)
    keep = {id.decode() for data in tree.values() for id in ids.findall(data)}
    try:
        done = pseudonymized(given, key_of(root), keep, may_stay)
    except InvalidDocuments as error:
        raise InvalidDocuments(from_here(root, problem) for problem in error.problems) from error
    changed = [path for path, data in done.files.items() if data != given[path]]
    for path in changed:
        if not check:
            replace_file(root / path, done.files[path])
    for one in done.told:
        click.echo(printable(f"  {one.place}: {one.kind}, {one.values}"))
    left = [p for p in lifelike(done.files, may_stay) if p.path in done.files]
    for problem in left:
        click.echo(from_here(root, problem).render())
    told = "would be replaced in" if check else "replaced in"
    click.echo(
        f"{sum(one.values for one in done.told)} values {told} {len(changed)} of {len(given)} "
        f"file{'' if len(given) == 1 else 's'}"
    )
    return ExitCode.USAGE if left or (check and changed) else ExitCode.OPEN
