"""`seatrial post`: tell the forge that the gate is at work, what it ruled, or that there is no ruling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from seatrial.cli.approvals import approvals_option
from seatrial.errors import Error, ExitCode, UsageError, printable

if TYPE_CHECKING:
    from seatrial.forge import GitHub, State, Subject, Told

CONTEXT = "seatrial/gate"

_OPTIONS = (
    click.option(
        "--context", default=CONTEXT, show_default=True, help="Name of the status; not that of a job."
    ),
    click.option(
        "--url", metavar="URL", help="Where the status leads; the run's page, when left out."
    ),
    click.option(
        "--token-env", metavar="NAME", default="GITHUB_TOKEN", show_default=True,
        help="The variable that holds the token.",
    ),
    click.option(
        "--author", metavar="LOGIN", default="github-actions[bot]", show_default=True,
        help="Who writes comments with this token.",
    ),
    click.option("--commit", metavar="SHA", help="Instead of the event's; the whole name."),
    click.option(
        "--pull-request", metavar="NUMBER", type=click.IntRange(min=1), help="Instead of the event's."
    ),
    click.option("--no-comment", is_flag=True, help="Set the status alone."),
    click.option(
        "--patience", metavar="SECONDS", type=click.IntRange(0, 3600), default=150, show_default=True,
        help="So long is waited altogether for a forge that is busy or broken.",
    ),
    click.option("--strict", is_flag=True, help="Fail when the forge does not take it all."),
)  # fmt: skip


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that all three commands have."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group("post")
def post() -> None:
    """Tell GitHub about the gate: a commit status and one comment on the pull request.

    For a step of GitHub Actions, whose environment says which change it is about. What the forge does not
    take is a warning and changes no ruling; the exit code is 0 then, unless --strict is given.
    """


@post.command("start")
@_shared
def start(**options: Any) -> ExitCode:
    """Say that the trials are running."""
    from seatrial import forge

    desk = _Desk.of(**options)
    return desk.post(
        forge.State.RUNNING,
        "Trials are running",
        lambda _: forge.started(desk.subject, desk.marker, desk.url),
    )


@post.command("result")
@click.argument("run", required=False)
@click.option(
    "--ruling",
    "file",
    type=click.Path(path_type=Path),
    help="A ruling that `gate --json` wrote, instead of a RUN; the comment then has no cases.",
)
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
    "--report",
    metavar="URL",
    help="Where the report is served; the status leads there, and cases too.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with .seatrial/; the nearest one above, when left out.",
)
@approvals_option
@_shared
def result(
    run: str | None,
    file: Path | None,
    baseline: str | None,
    arm: str | None,
    profile: Literal["pr", "release"] | None,
    report: str | None,
    root: Path | None,
    approvals: Path | None,
    **options: Any,
) -> ExitCode:
    """Say what is ruled on a RUN (a folder, an id, or `latest`).

    A run on which nothing can be ruled is told as such, and the command ends with that error.
    """
    from seatrial import forge

    if (run is None) == (file is None):
        raise UsageError("name a RUN or a file with --ruling, one of them")
    desk = _Desk.of(report, **options)
    try:
        if file is not None:
            told = _of_file(file, report)
        else:
            assert run is not None
            told = _of_run(run, baseline, arm, profile, report, root, approvals)
    except Error as error:
        desk.no_ruling(f"Nothing can be ruled on the run: {error.message}")
        raise
    desk.compare(told.revision)
    return desk.post(
        forge.State.of(told.ruling.ruling),
        told.ruling.headline,
        lambda github: forge.ruled(told, github, desk.subject, desk.marker, desk.url),
    )


@post.command("no-ruling")
@click.argument("why")
@click.option(
    "--if-running",
    is_flag=True,
    help="Only where the status says that trials are running: for a last step that always runs.",
)
@_shared
def no_ruling(why: str, if_running: bool, **options: Any) -> ExitCode:
    """Say that it ended without a ruling, and WHY: a crash, a wrong option, a cancelled job."""
    return _Desk.of(**options).no_ruling(why, if_running=if_running)


def _of_run(
    name: str,
    baseline: str | None,
    arm: str | None,
    profile: Literal["pr", "release"] | None,
    report: str | None,
    root: Path | None,
    approvals: Path | None,
) -> Told:
    from seatrial.cli.compared import compared
    from seatrial.forge import Told
    from seatrial.workspace import Workspace

    found = compared(name, baseline, arm, root=root, approvals=approvals)
    ruling = found.rule(profile)
    evidence = found.evidence(ruling)
    cases = [case for case in evidence.worst_first() if evidence.concern(case)]
    return Told(
        ruling=ruling,
        comparison=found.comparison,
        cases=cases,
        commands={case.case: evidence.reproduction(case.case) for case in cases},
        report=report or "",
        revision=evidence.revision(),
        folder=Workspace.find_or_here(root).folder,
    )


def _of_file(file: Path, report: str | None) -> Told:
    from pydantic import ValidationError

    from seatrial.forge import Told
    from seatrial.gate import Ruling

    try:
        return Told(ruling=Ruling.model_validate_json(file.read_bytes()), report=report or "")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(
            f"{file} is no ruling", hint=f"write one: seatrial gate RUN --json {file}"
        ) from error


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where the change is told about."""

    subject: Subject
    context: str
    url: str
    token: str
    author: str
    patience: int
    strict: bool

    @classmethod
    def of(
        cls,
        report: str | None = None,
        *,
        context: str,
        url: str | None,
        token_env: str,
        author: str,
        commit: str | None,
        pull_request: int | None,
        no_comment: bool,
        patience: int,
        strict: bool,
    ) -> _Desk:
        """Read the environment of the step.

        Raises:
            UsageError: it does not say which change, or an option is wrong.
        """
        import os

        from seatrial import forge

        if not context.strip() or len(context) > 100 or not context.isprintable():
            raise UsageError("--context is a name of 1 to 100 characters that can be seen")
        for option, address in (("--url", url), ("--report", report)):
            if address and not address.startswith(("https://", "http://")):
                raise UsageError(f"{option} is an address that begins with https:// or http://")
        subject = forge.subject(os.environ, commit=commit, pull_request=pull_request)
        if no_comment:
            subject = replace(subject, pull_request=None)
        where = url or report or subject.run_url
        return cls(subject, context, where, token_env, author, patience, strict)

    @property
    def marker(self) -> str:
        """By which the comment is found again."""
        from seatrial import forge

        return forge.marker(self.context)

    def compare(self, revision: str) -> None:
        """Tell of a run that is neither of the commit it is told of nor of the workflow's (a merge that is tried)."""
        import os

        ran = revision.partition(" ")[0]
        known = (self.subject.commit, os.environ.get("GITHUB_SHA", ""))
        if ran and not any(commit.startswith(ran) for commit in known):
            _say(
                "warning", f"the run is of commit {ran}, and is told of {self.subject.commit[:12]}"
            )

    def no_ruling(self, why: str, *, if_running: bool = False) -> ExitCode:
        """Say that there is no ruling, and why."""
        from seatrial import forge

        return self.post(
            forge.State.UNRULED,
            f"No ruling: {why}",
            lambda _: forge.unruled(self.subject, self.marker, why, self.url),
            if_running=if_running,
        )

    def post(
        self,
        state: State,
        text: str,
        comment: Callable[[GitHub], str],
        *,
        if_running: bool = False,
    ) -> ExitCode:
        """Set the status and write the comment; what goes wrong is told."""
        import os

        from seatrial import forge

        opened = forge.connected(
            os.environ,
            self.subject,
            token=self.token,
            author=self.author,
            patience=self.patience,
            told=lambda text: _say("warning", text),
        )
        with opened as github:
            status = forge.Status(self.context, state, text, self.url)
            failures = forge.post(
                github, self.subject, status, self.marker, comment(github), if_running=if_running
            )
        if self.subject.from_fork and all(error.status in {403, 404} for error in failures):
            for error in failures:
                _say("notice", f"nothing is posted for a pull request from a fork: {error.message}")
            return ExitCode.OPEN
        for error in failures:
            hint = f"; {error.hint}" if error.hint else ""
            _say("warning", f"{error.message}{hint}. The ruling stands.")
        return ExitCode.INTERNAL if failures and self.strict else ExitCode.OPEN


def _say(level: Literal["notice", "warning"], text: str) -> None:
    """A line on stderr, in GitHub Actions as an annotation of the run."""
    import os

    text = printable(text)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from seatrial.escaping import workflow_command

        click.echo(workflow_command(level, text, title="Seatrial"))
    else:
        click.echo(f"{level.capitalize()}: {text}", err=True)
