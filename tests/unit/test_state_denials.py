"""Which errors of a server are refusals."""

import pytest

from seatrial.documents.world import Denial
from seatrial.state.denials import denied
from seatrial.trace import Answer

DENIALS = (
    Denial(code=403),
    Denial(text="Permission denied"),
    Denial(code=-32000, text="role"),
)


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (
            Answer.of_text("no", is_error=True, code=403),
            "the server itself refused it: code 403 (denied_when[0])",
        ),
        (
            Answer.of_text("PERMISSION DENIED: /etc/hosts", is_error=True),
            "the server itself refused it: 'Permission denied' (denied_when[1])",
        ),
        (
            Answer.of_text("your role may not", is_error=True, code=-32000),
            "the server itself refused it: code -32000 and 'role' (denied_when[2])",
        ),
        (Answer.of_text("your role may not", is_error=True, code=-32001), None),
        (Answer.of_text("busy", is_error=True, code=-32000), None),
        (Answer.of_text("permission denied", is_error=False), None),
        (Answer(is_error=True), None),
    ],
)
def test_an_error_is_a_refusal_when_its_code_and_text_are_as_declared(
    answer: Answer, refusal: str | None
):
    assert denied(DENIALS, answer) == refusal


def test_without_a_declaration_no_error_is_a_refusal():
    assert denied((), Answer.of_text("403 Forbidden", is_error=True, code=403)) is None
