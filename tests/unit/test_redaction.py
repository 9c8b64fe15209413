"""No secret in what is stored, in whatever form an agent repeats it."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.redaction import redactor

SECRET = 'sk-ä/+"7 x&y=z?>>>'


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"the key is {SECRET}, and again {SECRET}",
        json.dumps({"key": SECRET}),
        json.dumps({"key": SECRET}, ensure_ascii=False),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        SECRET.encode().hex(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"user:{SECRET}".encode()).decode(),
        base64.b64encode(f"ab{SECRET}cd".encode()).decode(),
        base64.b64encode(f"a{SECRET}bc".encode()).decode(),
        json.dumps({"arguments": json.dumps({"key": json.dumps(SECRET)})}),
        json.dumps(SECRET).replace("/", "\\/"),
        quote(SECRET),
        quote(quote(SECRET, safe=""), safe=""),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
        "".join(f"\\u{ord(c):04x}" for c in SECRET),
        base64.b32encode(SECRET.encode()).decode(),
        base64.b64encode(base64.b64encode(SECRET.encode())).decode(),
    ],
)
def test_secret_is_replaced_in_every_form(text: str):
    replaced = redactor({"KEY": SECRET})

    assert replaced
    shown = replaced(text)
    assert "[KEY]" in shown
    assert SECRET not in shown
    assert len(shown) < len(text)


@given(
    before=st.binary(max_size=5),
    secret=st.binary(min_size=6, max_size=40).filter(lambda b: b.isascii()),
    after=st.binary(max_size=5),
)
def test_base64_of_something_longer_gives_nothing_but_the_edges_away(
    before: bytes, secret: bytes, after: bytes
):
    replaced = redactor({"KEY": secret.decode()})

    assert replaced
    assert "[KEY]" in replaced(base64.b64encode(before + secret + after).decode())


def test_keys_and_nested_values_are_looked_at_and_everything_else_stays():
    replaced = redactor({"KEY": "s3cret-1", "OTHER": "s3cret-1-longer"})

    assert replaced
    assert replaced(
        {
            "s3cret-1": [1, None, True, {"x": ("s3cret-1-longer", 2.5)}],
            "y": "nothing",
        }
    ) == {"[KEY]": [1, None, True, {"x": ("[OTHER]", 2.5)}], "y": "nothing"}


def test_values_that_are_too_short_to_be_secrets_are_left_alone():
    assert redactor({"DEBUG": "true", "EMPTY": ""}) is None
