"""How a run is going: a bar on a terminal, plain lines anywhere else (also where CI is set)."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from seatrial.errors import printable

if TYPE_CHECKING:
    from seatrial.records import TrialRecord
    from seatrial.runner import Event

_LONGEST = 300
_INVALID_TOLD = 10


@contextmanager
def shown(planned: int, stored: Iterable[str]) -> Iterator[Callable[[Event], None]]:
    """What to hand a run's events to, shown on stderr until the block ends.

    Args:
        planned: trials in all.
        stored: the verdicts of those that are stored already.
    """
    counts = Counter(stored)
    if sys.stderr.isatty() and not os.environ.get("CI"):
        with _bar(planned, counts) as tell:
            yield tell
    else:
        yield _Lines(counts).tell


def shown_safely(text: str) -> str:
    """What an agent may have written, on one line of bounded length that steers no terminal and no CI."""
    text = printable(" ".join(text.split()))
    # GitHub's runner takes `##[…]` for a command wherever it stands in a line.
    text = text.replace("##[", "# #[")
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


class _Lines:
    """A line for each tenth of the trials, for what changes the plan, and for the first invalid ones."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._tenths = 0
        self._changes = _Changes()
        self._invalid = _Invalid()

    def tell(self, event: Event) -> None:
        from seatrial.runner import Ended

        for news in self._changes.news(event):
            click.echo(f"  {news}", err=True)
        if not isinstance(event, Ended):
            return
        self._counts[event.record.verdict] += 1
        if news := self._invalid.news(event.record):
            click.echo(f"  {news}", err=True)
        tenths = 10 * event.stored // event.total
        if tenths > self._tenths:
            self._tenths = tenths
            click.echo(f"  {event.stored}/{event.total} trials: {_counted(self._counts)}", err=True)


@contextmanager
def _bar(planned: int, counts: Counter[str]) -> Iterator[Callable[[Event], None]]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from seatrial.runner import Began, Ended, Halted, Planned

    running = 0
    changes = _Changes()
    invalid = _Invalid()
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        # What agents print is kept by the runner; what is printed here is ours and goes past the bar.
        redirect_stdout=False,
        redirect_stderr=False,
        transient=True,
    ) as progress:
        task = progress.add_task("starting", total=planned, completed=counts.total())

        def tell(event: Event) -> None:
            nonlocal running
            for news in changes.news(event):
                progress.console.print(escape(news), highlight=False)
            match event:
                case Began():
                    running += 1
                case Ended():
                    running -= 1
                    counts[event.record.verdict] += 1
                    progress.update(task, completed=event.stored, total=event.total)
                    if news := invalid.news(event.record):
                        progress.console.print(escape(news), highlight=False)
                case Planned() | Halted():
                    progress.update(task, total=event.total)
            progress.update(task, description=f"{_counted(counts)}, {running} running")

        yield tell


class _Changes:
    """Tells how the plan changes while it is run."""

    def __init__(self) -> None:
        self._begun = False

    def news(self, event: Event) -> Iterator[str]:
        """What to print about an event; the plan that a run begins with is no news."""
        from seatrial.runner import Began, Halted, Planned

        match event:
            case Began():
                self._begun = True
            case Planned() if self._begun:
                added: dict[str, Counter[str]] = {}
                for trial in event.trials:
                    added.setdefault(trial.case, Counter())[trial.arm] += 1
                for name, by_arm in added.items():
                    further = ", ".join(f"{count} by {arm}" for arm, count in by_arm.items())
                    yield f"suspicious: {name}, further trials: {further}"
            case Halted():
                spared = f", {event.left_out} planned trials are not run" if event.left_out else ""
                yield f"forbidden: {event.case}{spared}"
            case _:
                pass


class _Invalid:
    """Tells why trials are invalid, each reason once and not too many."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def news(self, record: TrialRecord) -> str:
        """What to print about a trial; empty when there is nothing new to say."""
        if record.cause is None or record.detail in self._told or len(self._told) >= _INVALID_TOLD:
            return ""
        self._told.add(record.detail)
        return (
            f"invalid: trial {record.number} of {record.case} by {record.arm} "
            f"({record.cause}): {shown_safely(record.detail)}"
        )


def _counted(counts: Counter[str]) -> str:
    return ", ".join(
        f"{counts[word]} {word}" for word in ("passed", "failed", "invalid") if counts[word]
    ) or ("none ended yet")
