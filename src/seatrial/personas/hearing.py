"""Whether a reply is like what a rule of a person asks for."""

from __future__ import annotations

from seatrial.checks.asks_back import question_in
from seatrial.checks.replies import readable
from seatrial.documents import Heard


def fits(heard: Heard | None, reply: str) -> bool:
    """Whether all that is written of the reply holds; always where nothing is written."""
    if heard is None:
        return True
    said = readable(reply)
    if not all(readable(text) in said for text in heard.contains):
        return False
    if heard.any_of and not any(readable(text) in said for text in heard.any_of):
        return False
    if any(readable(text) in said for text in heard.not_contains):
        return False
    return heard.asks is None or heard.asks == (question_in(reply) is not None)
