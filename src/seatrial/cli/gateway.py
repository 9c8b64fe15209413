"""`seatrial gateway`: reach a trial's tools from an agent that only speaks stdio, or play with a case by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from seatrial.errors import UsageError


@click.group()
def gateway() -> None:
    """Reach the tools of a trial over stdio, or play a case by hand."""


@gateway.command()
@click.option(
    "--url",
    envvar="SEATRIAL_MCP_URL",
    show_envvar=True,
    help="The address of the tools, or what the addresses of a trial begin with.",
)
@click.option("--server", metavar="NAME", help="Which server, where the trial has several.")
@click.option(
    "--token",
    envvar="SEATRIAL_MCP_TOKEN",
    show_envvar=True,
    help="The trial's token. Others on this machine can read it in the list of processes: rather set "
    "the variable.",
)
def connect(url: str | None, server: str | None, token: str | None) -> int:
    """Be an MCP server on stdin and stdout that passes everything on to a trial's tools.

    For agents that only start programs as MCP servers. Nothing but the protocol is written to stdout.

    Exit codes: 0 the client left or the conversation is over, 2 no address, a wrong one or a wrong
    token, 130 interrupted.
    """
    import os

    from seatrial import bridge

    try:
        address = bridge.address(os.environ, url, server)
    except bridge.Misdirected as error:
        raise UsageError(
            str(error),
            hint="an agent is given SEATRIAL_MCP_URL and SEATRIAL_MCP_TOKEN in its environment; hand "
            "them on to the programs it starts",
        ) from None
    return bridge.Bridge(address, token or "").run()


@gateway.command()
@click.argument("case")
@click.option(
    "-a", "--arm", metavar="ID", help="Show the tools as this arm does, with its servers."
)
@click.option(
    "--format",
    "form",
    default="mcp-servers",
    show_default=True,
    metavar="NAME",
    help="Print the config file of this agent runtime; docs/reference/agent-runtimes.md lists them.",
)
@click.option(
    "--transport",
    type=click.Choice(["http", "stdio"]),
    help="Name the tools in it by address, or as programs to start.",
)
@click.option(
    "--stdio",
    is_flag=True,
    help="Be the MCP server on stdin and stdout, for a client that starts this.",
)
@click.option(
    "--server", metavar="NAME", help="With --stdio: which server, where it is not the world."
)
@click.option(
    "--save-answers",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write what tools answered as a fixture of mocked answers.",
)
@click.option(
    "--save-solution",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write calls and replies as the draft of a solution.",
)
@click.option(
    "--save-golden",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the conversation as the draft of a golden one.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the trial as a run folder, a new one.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with cases/ and fixtures/; the nearest one above, when left out.",
)
def serve(
    case: str,
    arm: str | None,
    form: str,
    transport: Literal["http", "stdio"] | None,
    stdio: bool,
    server: str | None,
    save_answers: Path | None,
    save_solution: Path | None,
    save_golden: Path | None,
    out: Path | None,
    root: Path | None,
) -> None:
    """Play CASE by hand, with an MCP client or a chat program of your own at the agent's place.

    World, servers, mocked answers, faults and rights are those of a trial, and so is the record. The client's
    config file is printed; each call is told as it comes. At the end (the last reply, or Ctrl-C) the
    case's checks tell what they found.
    """
    from seatrial.cli import playing
    from seatrial.workspace import Workspace

    if server is not None and not stdio:
        raise UsageError("--server goes with --stdio", hint="without it every server is served")
    wishes = playing.Wishes(
        arm=arm,
        format=form,
        transport=transport,
        stdio=stdio,
        server=server,
        save_answers=save_answers,
        save_solution=save_solution,
        save_golden=save_golden,
        out=out,
    )
    playing.serve(Workspace.find(root), case, wishes)
