"""`seatrial gateway`: reach a trial's tools from an agent that only speaks stdio, or play with a case by hand."""

from __future__ import annotations

import click

from seatrial.errors import UsageError


@click.group()
def gateway() -> None:
    """Reach the tools of a trial over stdio."""


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
