"""The status and the comment, posted. Neither can change a ruling: what goes wrong is handed back."""

from __future__ import annotations

from collections.abc import Collection

from seatrial.errors import ForgeError
from seatrial.forge.model import Forge, State, Status, Subject


def post(
    forge: Forge,
    subject: Subject,
    status: Status,
    marker: str,
    body: str | None,
    *,
    over: Collection[State | None] | None = None,
) -> tuple[ForgeError, ...]:
    """Set the status, then write the comment where there is a pull request.

    A comment tells of the newest commit: one about an earlier commit is not written.

    Args:
        forge: where.
        subject: the change.
        status: of its commit.
        marker: that the comment begins with.
        body: the comment; None where none is written.
        over: do nothing where the status of that name has another state than one of these (None: there is none yet),
            because somebody has told the end already. Left out, whatever there is is replaced.

    Returns:
        What went wrong. A comment is tried even where the status was refused: its right is another one.
    """
    failures = []
    try:
        if over is not None and forge.told(status.context) not in over:
            return ()
        forge.tell(status)
    except ForgeError as error:
        failures.append(error)
        if error.status is None:
            return tuple(failures)  # nobody can be asked, and all patience may be spent
    if subject.pull_request is None or body is None:
        return tuple(failures)
    try:
        if forge.is_newest():
            forge.comment(marker, body)
    except ForgeError as error:
        failures.append(error)
    return tuple(failures)
