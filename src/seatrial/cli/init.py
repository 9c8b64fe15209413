"""`seatrial init`: a first agent, suite and cases that pass, in a new repository or beside what is there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click

from seatrial.errors import ExitCode, InvalidDocuments, StorageError, UsageError, printable

_STARTER = Path(__file__).parent / "starter"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_ACTION = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")
_NO_ACTION = "OWNER/seatrial@COMMIT"
_IGNORED = (".seatrial/", "site/report/")


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--agent",
    default="desk",
    show_default=True,
    metavar="NAME",
    help="What the agent is called; its suite, arm, cases and files are named after it.",
)
@click.option(
    "--action",
    metavar="OWNER/REPOSITORY@COMMIT",
    help="Where the workflows find Seatrial's. You write it into them yourself when left out.",
)
@click.option(
    "--forge",
    type=click.Choice(["github", "gitlab"]),
    default="github",
    show_default=True,
    help="Whose workflows are written.",
)
@click.option("--no-workflow", is_flag=True, help="Write no workflows.")
def init(folder: Path, agent: str, action: str | None, forge: str, no_workflow: bool) -> ExitCode:
    """Start a repository of cases, or add an agent to one.

    Written are an agent in Python that books rooms, its arm, a practice world, three cases that pass, a suite, two
    workflows of GitHub Actions or a pipeline of GitLab CI, the JSON Schemas for editors, and what git is to ignore.
    Nothing that is there is overwritten; where something stands in the way, nothing is written at all.
    """
    from seatrial.cli.pipelining import pipeline
    from seatrial.cli.planting import plant, refuse_what_is_wrong
    from seatrial.git import Repository

    if not _NAME.fullmatch(agent):
        raise UsageError(
            f"{agent!r} cannot be the name of an agent",
            hint="use lower-case letters, digits and `-`, beginning with a letter; at most 40",
        )
    if action is not None and not _ACTION.fullmatch(action):
        raise UsageError(
            f"{action!r} names no action at a commit",
            hint="write OWNER/REPOSITORY@COMMIT with all 40 digits of the commit: a tag can be moved",
        )
    folder = folder.resolve()
    repository = Repository.find(folder) if folder.is_dir() else None
    top = repository.root.resolve() if repository else folder
    documents = dict(_documents(agent))
    try:
        refuse_what_is_wrong(folder, documents)
    except InvalidDocuments as error:
        raise UsageError(
            f"agent {agent!r} has no room beside the documents that are there:\n{error.render()}",
            hint="choose another name with --agent; nothing is written",
        ) from error
    files = {(folder / path): data for path, data in documents.items()}
    for name, text in _schemas().items():
        if not (folder / "site" / "schema" / name).exists():
            files[folder / "site" / "schema" / name] = text.encode()
    left, unfinished = "", []
    inside = folder.relative_to(top).as_posix()
    if forge == "gitlab" and not no_workflow:
        pipeline_file, written, left = pipeline(top, agent, action or _NO_ACTION, inside)
        files |= written
        unfinished = [pipeline_file]
    elif not no_workflow:
        workflows = {
            "gate": f".github/workflows/{agent}.yml",
            "report": f".github/workflows/{agent}-report.yml",
        }
        for starter, workflow in workflows.items():
            files[top / workflow] = _workflow(starter, agent, action or _NO_ACTION, inside)
        unfinished = [*workflows.values()]
    plant(top, {path.relative_to(top).as_posix(): data for path, data in files.items()})
    ignored = _ignore(folder / ".gitignore")

    for path in sorted(files):
        click.echo(printable(f"wrote {os.path.relpath(path)}"))
    if ignored:
        click.echo(f"added to .gitignore: {', '.join(ignored)}")
    click.echo("\nType next:")
    for line in _next(agent, folder, unfinished if action is None else [], repository is None):
        click.echo(printable(f"  {line}"))
    if left:
        click.echo(printable(f"  {left}"))
    return ExitCode.OPEN


def _documents(agent: str) -> Iterator[tuple[str, bytes]]:
    """Path relative to the folder → content, of the agent and its documents."""
    from seatrial.cli.planting import schema_line

    module = f"{agent.replace('-', '_')}_agent"
    yield f"{module}.py", (_STARTER / "agent.py").read_bytes()
    for path, kind, starter in (
        (f"arms/{agent}-1.yaml", "arm", "arm"),
        (f"suites/{agent}.yaml", "suite", "suite"),
        (f"fixtures/{agent}-rooms.yaml", "fixture", "world"),
        (f"cases/{agent}/books-a-free-room.yaml", "case", "free"),
        (f"cases/{agent}/books-nothing-on-a-full-day.yaml", "case", "full"),
        (f"cases/{agent}/asks-for-the-day.yaml", "case", "ask"),
    ):
        text = (_STARTER / f"{starter}.yaml").read_text(encoding="utf-8")
        text = text.replace("__agent__", agent).replace("__module__", module)
        yield path, (schema_line(path, kind) + text).encode()


def _schemas() -> dict[str, str]:
    from seatrial.documents.schemas import texts

    return texts()


def _workflow(starter: str, agent: str, action: str, inside: str) -> bytes:
    """A workflow that calls one of Seatrial's."""
    text = (_STARTER / f"{starter}.yml").read_text(encoding="utf-8")
    root = "" if inside == "." else f"\n      root: {_quoted(inside)}"
    where, _, commit = action.partition("@")
    for mark, value in (
        ("__agent__", agent),
        ("__workflow__", f"{where}/.github/workflows"),
        ("__commit__", f"@{commit}"),
        ("__root__", root),
    ):
        text = text.replace(mark, value)
    return text.encode()


def _quoted(text: str) -> str:
    import json

    return text if re.fullmatch(r"[\w./-]+", text) else json.dumps(text)


def _ignore(path: Path) -> list[str]:
    """Add what git is to ignore, behind what stands there; the lines that were missing."""
    try:
        there = path.read_bytes() if path.exists() else b""
        lines = {line.strip().strip(b"/") for line in there.splitlines()}
        missing = [entry for entry in _IGNORED if entry.strip("/").encode() not in lines]
        if missing:
            gap = b"" if not there or there.endswith(b"\n") else b"\n"
            with path.open("ab") as file:
                file.write(gap + "".join(f"{entry}\n" for entry in missing).encode())
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror}",
            hint=f"add these lines to it yourself: {' '.join(_IGNORED)}",
        ) from error
    return missing


def _next(agent: str, folder: Path, unfinished: list[str], no_git: bool) -> Iterator[str]:
    if folder != Path.cwd():
        yield f"cd {os.path.relpath(folder)}"
    yield "seatrial check --prove"
    # Before the first run: only a run of what a commit says can be released.
    if no_git:
        yield "git init && git add . && git commit -m 'The first cases'"
    else:
        yield "git add . && git commit -m 'The first cases'"
    yield f"seatrial run --suite {agent} --arm {agent}-1"
    yield "seatrial gate latest        # undecided: nothing is released yet"
    yield "seatrial report latest      # what the agent did"
    yield "seatrial release latest --approved-by 'NAME <MAIL>'   # somebody who did not write the commit"
    if unfinished:
        files = " and ".join(unfinished)
        yield f"# and replace OWNER/seatrial and COMMIT in {files} by where you have Seatrial, and a commit"
