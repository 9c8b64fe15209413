"""Documents are given stand-ins where they stand: comments, layout and everything else stay."""

import re
import string
from typing import Any

import phonenumbers
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import iban, luhn

from seatrial.errors import InvalidDocuments
from seatrial.loading.lifelike import Allowed, allowed, lifelike
from seatrial.loading.pseudonyms import pseudonymized
from seatrial.loading.reading import read

KEY = b"a key of the tests"
PERSONA = """\
# Asked by Maria López, maria@lopez.org.
kind: fixture
type: persona
id: maria
name:   Maria López   # the customer
facts:
  - "My mail is maria@lopez.org, call +49 30 901820"
  - >-
    My card is 4532 0151
    1283 0366, says Maria
  - |
    Dear Ms LÓPEZ,
    see https://www.wikipedia.org/wiki/Ship
customer: {account_number: 12345678, dob: 1980-05-04, zip: 10115, email: maria@lopez.org,
  password: hunter22x, ok: ann@example.com}
"""
CASE = """\
kind: case
id: maria
task: Where is the parcel of Maria? Write to MARIA@lopez.org.
"""


def after(*texts: str, key: bytes = KEY, may_stay: Allowed | None = None) -> list[str]:
    files = {f"cases/{n}.yaml": text.encode() for n, text in enumerate(texts)}
    done = pseudonymized(files, key, keep=["maria"], may_stay=may_stay)
    return [data.decode() for data in done.files.values()]


def test_a_person_is_the_same_stand_in_in_every_file_and_comments_and_layout_stay():
    persona, case = after(PERSONA, CASE)
    value = yaml.safe_load(persona)
    first, last = value["name"].split()
    mail = value["customer"]["email"]

    assert persona.startswith(f"# Asked by {first} {last}, {mail}.\nkind: fixture\n")
    assert f"name:   {first} {last}   # the customer\n" in persona
    assert f"  - |\n    Dear Ms {last.upper()},\n    see https://" in persona
    assert value["facts"][1].endswith(f", says {first}")
    assert case == CASE.replace("of Maria?", f"of {first}?").replace("MARIA@lopez.org", mail)
    assert value["id"] == "maria"


def test_every_stand_in_is_of_the_form_of_what_it_stands_for():
    (persona,) = after(PERSONA)
    value = yaml.safe_load(persona)
    customer = value["customer"]
    phone = re.search(r"\+49 \d+", value["facts"][0])
    card = re.search(r"0000[\d ]+", value["facts"][1])

    assert customer["email"].endswith("@example.com")
    assert customer["ok"] == "ann@example.com"
    assert phone is not None
    assert phonenumbers.is_valid_number(phonenumbers.parse(phone[0]))
    assert card is not None
    assert luhn.is_valid(card[0].replace(" ", ""))
    assert 10_000_000 <= customer["account_number"] <= 99_999_999
    assert str(customer["dob"]) == "1980-01-01"
    assert re.fullmatch(r"\[secret-[0-9a-f]{8}\]", customer["password"])
    assert re.search(r"https://[a-z]+\.example\.com/wiki/Ship", value["facts"][2])


def test_an_account_number_keeps_right_digits_and_its_country_and_is_of_no_bank():
    real = [
        "DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "NL91ABNA0417164300",
        "BE71 0961 2345 6769", "ES9121000418450200051332", "NO9386011117947", "IT60X0542811101000000123456",
        "FR1420041010050500013M02606",
    ]  # fmt: skip
    (made,) = after(yaml.safe_dump({"accounts": real}, width=1000))

    for before, now in zip(real, yaml.safe_load(made)["accounts"], strict=True):
        assert iban.is_valid(now, check_country=False), now
        assert now != before
        assert [c.isspace() for c in now] == [c.isspace() for c in before]
        assert now[:2] == before[:2]


@pytest.mark.parametrize(
    ("real", "free"),
    [
        ("+1 415 867 5309", r"\+1 \d{3} 555 01\d\d"),
        ("+44 20 8366 1177", r"\+44 20 7946 0\d{3}"),
        ("+33 1 42 68 53 00", r"\+33 1 99 00 \d\d \d\d"),
        ("+49 89 1234567", r"\+49 3023125\d{3}"),
        ("+47 22 00 00 00", r"\+47 00 0\d \d\d \d\d"),
    ],
)
def test_a_telephone_number_becomes_one_for_fiction_where_its_country_has_some(
    real: str, free: str
):
    (made,) = after(f"call: {real}\n")

    assert re.fullmatch(f"call: {free}\n", made), made


def test_what_is_allowed_with_a_reason_stays_and_so_does_what_refers_to_something():
    text = "to: desk@harbour.no\npassword: '{{run}}-word'\ntoken: 'Bearer ${DESK_TOKEN}'\n"
    may_stay = allowed(b"- {value: '*@harbour.no', reason: The public address.}\n")

    assert after(text, may_stay=may_stay) == [text]


def test_with_another_key_there_are_others():
    assert after(PERSONA) != after(PERSONA, key=b"another key of the tests")


def test_a_file_that_cannot_be_read_is_refused_and_none_is_changed():
    with pytest.raises(InvalidDocuments):
        after(PERSONA, "a: [\n")


REAL = st.sampled_from((
    "jonas.vik@gmail.com", "lena@somewhere.co.uk", "https://www.wikipedia.org/wiki/Ship", "DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432", "NO9386011117947", "4532 0151 1283 0366", "5425233430109903", "536-90-4399",
    "RSSMRA85T10A562S", "12345678Z", "131052-308T", "390.533.447-05", "+49 30 901820", "+4722000000", "+1 415 867 5309",
    "http://8.8.8.8:80/x", "sk-abcdefghijklmnopqrstuvwx",
))  # fmt: skip
WORDS = st.text(st.sampled_from(string.ascii_letters + " .:#-\"'äß\n\t{}[]&*!|>%@,é"), max_size=12)
TEXTS = st.lists(WORDS | REAL.map(lambda real: f" {real} "), max_size=4).map("".join)
NAMES = st.text(st.sampled_from(string.ascii_letters + "éß- "), max_size=12)
PERSONS = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES,
        "email": NAMES | REAL,
        "password": NAMES | REAL,
        "iban": REAL | st.integers(0, 10**9),
        "account_number": st.integers(0, 10**9)
        | st.from_regex(r"0{0,4}[0-9]{4,12}", fullmatch=True),
        "passport_number": st.from_regex(r"[A-Z]{0,3}[0-9]{4,9}", fullmatch=True),
        "phone": REAL | st.sampled_from(("327-420-4923", "030 901820", "+49 30 901820")),
        "address": st.sampled_from(("12 Harbour Road", "SW1A 1AA", "10115", "A", "3 rue X, 75001")),
        "zip": st.integers(0, 10**5),
        "dob": st.dates().map(str) | st.sampled_from(("5 May 1980", "05/04/90", "19800504")),
    },
)
"""What stands under keys that say what it is."""
VALUES = st.recursive(
    TEXTS | PERSONS | st.integers(0, 10**9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.sampled_from(("note", "items", "people")), VALUES, min_size=1)


def shape(value: Any) -> Any:
    """What is no text: it has to stay."""
    match value:
        case dict():
            return {key: shape(item) for key, item in value.items()}
        case list():
            return [shape(item) for item in value]
        case str():
            return "text"
        case int() if not isinstance(value, bool):
            return "number"
        case _:
            return value


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    DOCUMENTS, REAL, st.sampled_from((None, False, True)), st.sampled_from((None, "'", '"', "|"))
)
def test_afterwards_nothing_looks_real_and_done_twice_nothing_changes(
    document: dict[str, Any], told: str, flow: bool | None, style: str | None
):
    written = yaml.safe_dump(
        document, allow_unicode=True, default_flow_style=flow, default_style=style, width=60
    )
    text = f"# told by {told}\n{written}# end\n"
    before = read("cases/a.yaml", text.encode())
    if before.problems:
        return  # YAML 1.1, as it is dumped here, writes a few texts in ways that 1.2 reads otherwise

    done = pseudonymized({"cases/a.yaml": text.encode()}, KEY).files

    assert lifelike(done, Allowed()) == ()
    values = [raw.value for raw in read("cases/a.yaml", done["cases/a.yaml"]).documents]
    assert shape(values) == shape([raw.value for raw in before.documents])
    assert done["cases/a.yaml"].endswith(b"# end\n")
    assert pseudonymized(done, KEY).files == done
