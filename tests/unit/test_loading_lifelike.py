"""Invented data passes; what validates as somebody's is told at its place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.errors import InvalidDocuments
from seatrial.loading.lifelike import Allowed, _in_line, _lines_of_interest, allowed, lifelike


def codes(line: str, path: str = "cases/a.yaml") -> list[str]:
    return [p.code for p in lifelike({path: f"{line}\n".encode()}, Allowed())]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("to: jonas.vik@gmail.com", "real-mail"),
        ("# ask lena@somewhere.co.uk", "real-mail"),
        ("task: Look at https://www.wikipedia.org/wiki/Ship", "real-host"),
        ("task: http://8.8.8.8:80/x", "real-host"),
        ("iban: DE89 3704 0044 0532 0130 00", "real-iban"),
        ("iban: GB82WEST12345698765432", "real-iban"),
        ("card: 4532 0151 1283 0366", "real-card"),
        ('card: "5425233430109903"', "real-card"),
        ("ssn: 536-90-4399", "real-id"),
        ("tax: RSSMRA85T10A562S", "real-id"),
        ("dni: 12345678Z", "real-id"),
        ("hetu: 131052-308T", "real-id"),
        ("cpf: 390.533.447-05", "real-id"),
        ("phone: +49 30 901820", "real-phone"),
        ("phone: '+4722000000'", "real-phone"),
    ],
)
def test_what_validates_is_told(line: str, code: str):
    assert codes(line) == [code]


@pytest.mark.parametrize(
    "line",
    [
        "to: jonas@example.com, ida@mail.example.org, x@shop.test, y@host.invalid",
        "task: See https://example.com/a and http://localhost:80 and http://127.0.0.1/x",
        "task: See http://192.0.2.7/ and http://[2001:db8::1]/ and http://harbour/",
        "url: https://api.openai.com/v1",
        '  - "$schema": https://json-schema.org/draft/2020-12/schema',
        "iban: DE00 3704 0044 0532 0130 00",
        "card: 4111 1111 1111 1111",
        "card: 4532 0151 1283 0367",
        "order: 1234567890123456",
        "ssn: 000-12-3456",
        "dni: 12345678A",
        "phone: +1 212 555 0123",
        "phone: +44 20 7946 0018",
        "phone: 0800 123456",
        "when: 2026-03-16T09:00:00+01:00",
        "sum: 12 + 30, 1+1",
        "decorator: '@property'",
    ],
)
def test_what_is_invented_is_not(line: str):
    assert codes(line) == []


def test_an_arm_may_name_the_hosts_it_talks_to():
    assert codes("settings: {base: 'https://api.openai.com/v1'}", "arms/a.yaml") == []


def test_the_place_is_that_of_the_value():
    (found,) = lifelike({"cases/a.yaml": b"a: b\nto: x@gmail.com\n"}, Allowed())

    assert (found.path, found.line, found.column, found.level) == ("cases/a.yaml", 2, 5, "warning")


def test_what_is_allowed_with_a_reason_may_stay_and_an_allowance_in_vain_is_told():
    may_stay = allowed(
        b'- {value: "*@harbour.no", reason: The public address.}\n'
        b"- {value: x@gmail.com, reason: Gone by now.}\n"
    )

    found = lifelike({"cases/a.yaml": b"to: Desk@harbour.no\n"}, may_stay)

    assert [(p.code, p.path) for p in found] == [("real-data", "real-data.yaml")]
    assert "`x@gmail.com` is allowed, and nothing here is so" in found[0].message


@pytest.mark.parametrize(
    "text",
    [
        "- {value: a@b.no}",
        "- {value: a@b.no, reason: ''}",
        "- {value: '*', reason: all}",
        "- {value: '*@*.*', reason: all}",
        "- a@b.no",
        "value: 3\nreason: x",
        "- [",
        "",
    ],
)
def test_nothing_is_allowed_without_a_reason_or_altogether(text: str):
    with pytest.raises(InvalidDocuments):
        allowed(text.encode())


def test_a_secret_is_an_error_and_not_repeated():
    key = "AKIA" + "Q7RT5WXZ2MN8KLP4"

    (found,) = lifelike({"cases/a.yaml": f"a: b\ntask: use {key} now\n".encode()}, Allowed())

    assert (found.code, found.level, found.line, found.column) == ("secret", "error", 2, 11)
    assert key[4:] not in found.render()
    may_stay = allowed(b"- {value: AKIAQ7*, reason: Invented for this case.}\n")
    assert lifelike({"cases/a.yaml": f"task: {key}\n".encode()}, may_stay) == ()


@pytest.mark.parametrize("value", ["X1234567L", "131052A308T", "1 85 05 2A 004 048 05"])
def test_what_is_looked_for_line_by_line_is_not_passed_over_in_the_file(value: str):
    line = f"key: {value}\n".encode()

    assert list(_lines_of_interest(b"a: 2026-03-16\n" + line + b"b: 12:30\n")) == [
        (2, line.rstrip())
    ]


@given(st.text(alphabet="0123456789 -.+AXKLFRDE@:/é\n", max_size=60))
@settings(max_examples=150, deadline=None)
def test_a_line_of_no_interest_holds_nothing_that_looks_real(text: str):
    kept = {number for number, _ in _lines_of_interest(text.encode())}

    for number, line in enumerate(text.encode().splitlines(), 1):
        if number not in kept:
            assert not list(_in_line(line.decode(), hosts=True))


HOSTILE = {
    "tokens": "eyJ-" * 1_000_000,
    "tokens with dots": "eyJaaaaaaaa.-" * 300_000,
    "many tokens": "eyJabcdefgh." * 300_000,
    "keys that begin": "-----BEGIN PRIVATE KEY-----" * 150_000,
    "keys": "-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----" * 70_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_long_text_of_beginnings_of_secrets_is_looked_through_once(text: str):
    problems = lifelike({"cases/a.yaml": f'title: "{text}"\n'.encode()}, Allowed())

    assert len(problems) <= 101
    assert all(problem.level == "error" for problem in problems)


def test_of_one_file_no_more_is_told_than_of_other_mistakes():
    lines = b"- jonas.vik@gmail.com\n" * 3000
    problems = lifelike({"cases/a.yaml": lines, "cases/b.yaml": lines}, Allowed())

    assert len(problems) == 202
    assert {problem.level for problem in problems} == {"warning"}
    assert "only 100 mistakes of a file" in problems[100].message
