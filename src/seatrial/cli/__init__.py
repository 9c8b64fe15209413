"""The command line: one file per command, and the one place where errors become exit codes.

A command returns its `ExitCode` (or nothing, which means 0) and lets every exception pass.
"""

import io
import os
import sys
import traceback
from typing import NoReturn

import click

from seatrial import __version__
from seatrial.cli.approvals import approvals, approve
from seatrial.cli.baseline import baseline
from seatrial.cli.check import check
from seatrial.cli.compare import compare
from seatrial.cli.diff import diff
from seatrial.cli.dispatching import dispatch, status
from seatrial.cli.fmt import fmt
from seatrial.cli.gate import gate
from seatrial.cli.gateway import gateway
from seatrial.cli.importing import import_tasks
from seatrial.cli.init import init
from seatrial.cli.listing import list_documents
from seatrial.cli.merge import merge
from seatrial.cli.migrate import migrate
from seatrial.cli.monitor import monitor
from seatrial.cli.new import new
from seatrial.cli.plan import plan
from seatrial.cli.posting import post
from seatrial.cli.power import power
from seatrial.cli.pseudonymize import pseudonymize
from seatrial.cli.record_case import record
from seatrial.cli.regrade import regrade
from seatrial.cli.release import release
from seatrial.cli.report import report
from seatrial.cli.run import run
from seatrial.cli.scan import scan
from seatrial.cli.schema import schema
from seatrial.cli.selftest import selftest
from seatrial.cli.show import show
from seatrial.cli.steering import guard
from seatrial.cli.world import world
from seatrial.errors import Error, ExitCode, printable

COMMANDS: tuple[click.Command, ...] = (
    init, new, import_tasks, list_documents, show,
    check, fmt, migrate, pseudonymize, schema, plan, run, merge, regrade, compare, diff, gate, report,
    scan, post, dispatch, status, approve, approvals, release, baseline, power, selftest, monitor, world,
    gateway, record,
)  # fmt: skip
"""Every command, in the order in which the help shows them."""


class Door(click.Group):
    """The group of all commands; whatever a command raises ends here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> NoReturn:
        try:
            status = super().invoke(ctx)
        except click.exceptions.Exit:
            raise
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            ctx.exit(ExitCode.INTERRUPTED)
        except click.ClickException as error:
            error.show()
            ctx.exit(ExitCode.USAGE)
        except BrokenPipeError:
            # Nobody reads on: let the interpreter flush what is left into nothing.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(ExitCode.INTERNAL)
        except Error as error:
            if ctx.params["debug"]:
                traceback.print_exc()
            _tell(error.render())
            ctx.exit(error.exit_code)
        except Exception as error:
            if ctx.params["debug"]:
                traceback.print_exc()
            _tell(_describe_fault(error))
            ctx.exit(ExitCode.INTERNAL)
        ctx.exit(ExitCode(status or ExitCode.OPEN))


def _tell(text: str) -> None:
    # An error quotes what others wrote: documents, agents, git.
    click.echo("Error: " + printable(text, keep="\n"), err=True)


def _describe_fault(error: Exception) -> str:
    return (
        f"Seatrial {__version__} failed in a way it did not expect: "
        f"{type(error).__name__}: {error}\n"
        "  → This is a defect of Seatrial. Please file an issue with the command you ran and the "
        "traceback that SEATRIAL_DEBUG=1 shows."
    )


@click.group(
    "seatrial",
    cls=Door,
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Hold a changed LLM agent against the released one before it is merged.

    \b
    Exit codes: 0 gate open, 1 closed, 2 wrong usage or invalid document,
    3 undecided, 4 internal fault, 130 interrupted.
    """,
)
@click.version_option(__version__, prog_name="seatrial", message="%(prog)s %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    envvar="SEATRIAL_DEBUG",
    help="Show the traceback of an error (also SEATRIAL_DEBUG=1).",
)
def main(debug: bool) -> None:
    """Leave everything to the commands."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a letter is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    guard()
