"""Refusals of a server itself, told from its other errors."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.documents.world import Denial
from seatrial.state.values import quoted
from seatrial.trace import Answer


def denied(denials: Sequence[Denial], answer: Answer) -> str | None:
    """The first of a fixture's `denied_when` that an answer fulfils, in words; None when it is no refusal.

    Only errors are refusals: what a tool reports of other people's rights is an answer like any other.
    """
    if not answer.is_error or not denials:
        return None
    text = answer.text.casefold()
    for number, denial in enumerate(denials):
        if denial.code not in (None, answer.code):
            continue
        if denial.text is None or denial.text.casefold() in text:
            said = [f"code {denial.code}"] if denial.code is not None else []
            said += [quoted(denial.text)] if denial.text is not None else []
            return f"the server itself refused it: {' and '.join(said)} (denied_when[{number}])"
    return None
