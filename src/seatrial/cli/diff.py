"""`seatrial diff`: in what two documents differ."""

from __future__ import annotations

from pathlib import Path

import click


@click.group("diff")
def diff() -> None:
    """Show in what two documents differ."""


@diff.command("arm")
@click.argument("one")
@click.argument("other")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and suites/; the nearest one above, when left out.",
)
def arm(one: str, other: str, form: str, root: Path | None) -> None:
    """Show in what the arms ONE and OTHER differ, and nothing else.

    Keys of their documents and the text of the files that they are built from, each under the component of the
    fingerprint that it belongs to. Where one thing differs, it is what makes one arm better than the other.
    """
    import json

    from seatrial.errors import UsageError, printable
    from seatrial.workspace import Workspace

    workspace = Workspace.find(root)
    catalog = workspace.catalog()
    for id in (one, other):
        if id not in catalog.arms:
            raise UsageError(
                f"there is no arm {id!r}", hint=f"there are {', '.join(sorted(catalog.arms))}"
            )
    changes = workspace.arms_apart(catalog.arms[one], catalog.arms[other])
    by_component: dict[str, list[str]] = {}
    for change in changes:
        by_component.setdefault(change.component, []).extend(change.lines())
    if form == "json":
        found = {"one": one, "other": other, "changes": [change.data() for change in changes]}
        click.echo(json.dumps(found, indent=1))
        return
    from seatrial.workspace import OUTSIDE

    components = [name for name in by_component if name != OUTSIDE]
    told = (
        f"{', '.join(components)} differ{'s' * (len(components) == 1)}"
        if components
        else ("nothing differs that an agent could tell")
    )
    click.secho(printable(f"{one} → {other}: {told}"), bold=True)
    for component, lines in by_component.items():
        click.echo()
        click.echo(printable(component))
        for line in lines:
            click.echo(printable(f"  {line}"))
