"""`seatrial report`: the run, its comparison and its ruling, for people and for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from seatrial.cli.approvals import approvals_option


@click.command("report")
@click.argument("run")
@click.option(
    "--baseline", metavar="PATH|REF", help="Hold it against this, not the newest release."
)
@click.option("--arm", metavar="ID", help="The candidate, where the run has several arms.")
@click.option(
    "--profile",
    type=click.Choice(["pr", "release"]),
    help="pr: not shown worse. release: shown not worse. The suite says when left out.",
)
@click.option(
    "--site",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the site, an earlier report in it is replaced; site/report when left out.",
)
@click.option(
    "--junit",
    "junit_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write JUnit XML to this file as well.",
)
@click.option(
    "--summary",
    "summary_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a Markdown summary to this file as well.",
)
@click.option(
    "--sarif",
    "sarif_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the expectations that failed as SARIF 2.1.0 to this file as well.",
)
@click.option(
    "--annotations",
    "annotations_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write them as annotations of GitHub to this file as well, for a step to print.",
)
@click.option(
    "--code-quality",
    "quality_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write them as a report of GitLab's Code Quality to this file as well.",
)
@click.option(
    "--single",
    "single_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report as one HTML file that holds everything it shows; without --site it is the only one.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with .seatrial/; the nearest one above, when left out.",
)
@approvals_option
def report(
    run: str,
    baseline: str | None,
    arm: str | None,
    profile: Literal["pr", "release"] | None,
    site: Path | None,
    junit_file: Path | None,
    summary_file: Path | None,
    sarif_file: Path | None,
    annotations_file: Path | None,
    quality_file: Path | None,
    single_file: Path | None,
    root: Path | None,
    approvals: Path | None,
) -> None:
    """Build the report of a RUN (a folder, an id, or `latest`) as a static site, or as one page.

    Both open from the file system. The exit code says nothing about the ruling: `seatrial gate` does.
    """
    from seatrial import report as faces
    from seatrial.cli.compared import compared, tell
    from seatrial.workspace import Workspace

    found = compared(run, baseline, arm, root=root, approvals=approvals)
    evidence = found.evidence(found.rule(profile))
    if junit_file is not None:
        _write(junit_file, faces.junit(evidence))
    if summary_file is not None:
        _write(summary_file, faces.summary(evidence).encode())
    workspace = Workspace.find_or_here(root)
    if sarif_file or annotations_file or quality_file:
        marks = faces.marks(evidence, folder=workspace.folder)
        if sarif_file:
            _write(sarif_file, faces.sarif(evidence, marks).encode())
        if annotations_file:
            _write(annotations_file, faces.annotated(evidence.ruling, marks).encode())
        if quality_file:
            _write(quality_file, faces.code_quality(marks).encode())
    tell(evidence.ruling.headline, bold=True)
    if single_file is not None:
        _write(single_file, faces.single_page(evidence).encode())
        tell(f"One page: {single_file}")
        if site is None:
            return
    folder = site or workspace.root / "site" / "report"
    built = faces.build(evidence, folder, kept_out_of_git=site is None)
    cases = "1 case" if built.concerns == 1 else f"{built.concerns} cases"
    tell(f"{cases} to look at, {built.paged} of {len(found.comparison.cases)} with trajectories")
    tell(f"Report: {built.index}")


def _write(file: Path, data: bytes) -> None:
    from seatrial.errors import StorageError

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}") from error
