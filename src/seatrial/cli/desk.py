"""Where `seatrial post` stands: the options that its commands share, and the change that they are about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import click

from seatrial.cli.steering import steer
from seatrial.errors import ExitCode, ForgeError, UsageError, printable

if TYPE_CHECKING:
    from seatrial.forge import Forge, GitHub, State, Subject

CONTEXT = "seatrial/gate"

OPTIONS = (
    click.option(
        "--context", default=CONTEXT, show_default=True, help="Name of the status; not that of a job."
    ),
    click.option(
        "--url", metavar="URL", help="Where the status leads; the run's page, when left out."
    ),
    click.option(
        "--token-env", metavar="NAME",
        help="The variable that holds the token; GITHUB_TOKEN, at GitLab GITLAB_TOKEN, when left out.",
    ),
    click.option(
        "--author", metavar="LOGIN",
        help="Who writes comments with this token; github-actions[bot], at GitLab the token's user, when left out.",
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


def shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that all three commands have."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Desk:
    """Where the change is told about."""

    subject: Subject
    context: str
    url: str
    token: str | None
    author: str | None
    patience: int
    strict: bool

    @classmethod
    def of(
        cls,
        report: str | None = None,
        *,
        context: str,
        url: str | None,
        token_env: str | None,
        author: str | None,
        commit: str | None,
        pull_request: int | None,
        no_comment: bool,
        patience: int,
        strict: bool,
    ) -> Desk:
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
        pipeline = self.subject.pipeline
        tried = pipeline.commit if pipeline else os.environ.get("GITHUB_SHA", "")
        known = (self.subject.commit, tried)
        if ran and not any(commit.startswith(ran) for commit in known):
            say("warning", f"the run is of commit {ran}, and is told of {self.subject.commit[:12]}")

    def about(self, number: int) -> Desk:
        """The same about a pull request of that number."""
        return replace(self, subject=replace(self.subject, pull_request=number))

    def named(self, context: str) -> Desk:
        """The same under another name."""
        return replace(self, context=context)

    def connected(self) -> AbstractContextManager[GitHub]:
        """GitHub, until the block ends: for what there is nowhere else.

        Raises:
            UsageError: the job is not of GitHub Actions.
        """
        import os

        from seatrial.forge import github

        if self.subject.server != "github":
            raise UsageError("this is for workflows of GitHub Actions")
        return github.connected(
            os.environ,
            self.subject,
            token=self.token or github.TOKEN,
            author=self.author or github.AUTHOR,
            patience=self.patience,
            told=lambda text: say("warning", text),
        )

    def reached(self) -> AbstractContextManager[Forge]:
        """The forge, until the block ends."""
        import os

        from seatrial import forge

        return forge.reached(
            os.environ,
            self.subject,
            token=self.token,
            author=self.author,
            patience=self.patience,
            told=lambda text: say("warning", text),
        )

    def no_ruling(self, why: str, *, over: Collection[State | None] | None = None) -> ExitCode:
        """Say that there is no ruling, and why."""
        from seatrial import forge

        return self.post(
            forge.State.UNRULED,
            f"No ruling: {why}",
            lambda _: forge.unruled(self.subject, self.marker, why, self.url),
            over=over,
        )

    def post(
        self,
        state: State,
        text: str,
        comment: Callable[[Forge], str] | None,
        *,
        over: Collection[State | None] | None = None,
    ) -> ExitCode:
        """Set the status and write the comment, if there is one; what goes wrong is told.

        Args:
            state: of the status.
            text: of the status.
            comment: gives the comment.
            over: as of `forge.post`.
        """
        from seatrial import forge

        with self.reached() as server:
            status = forge.Status(self.context, state, text, self.url)
            body = comment(server) if comment is not None else None
            failures = forge.post(server, self.subject, status, self.marker, body, over=over)
        return self.failed(failures)

    def failed(self, failures: Sequence[ForgeError]) -> ExitCode:
        """Tell what went wrong."""
        if self.subject.from_fork and all(error.status in {403, 404} for error in failures):
            for error in failures:
                say("notice", f"nothing is posted for a pull request from a fork: {error.message}")
            return ExitCode.OPEN
        for error in failures:
            hint = f"; {error.hint}" if error.hint else ""
            say("warning", f"{error.message}{hint}. The ruling stands.")
        return ExitCode.INTERNAL if failures and self.strict else ExitCode.OPEN


def say(level: Literal["notice", "warning"], text: str) -> None:
    """A line on stderr, in GitHub Actions as an annotation of the run."""
    import os

    text = printable(text)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from seatrial.escaping import workflow_command

        steer(workflow_command(level, text, title="Seatrial"))
    else:
        click.echo(f"{level.capitalize()}: {text}", err=True)
