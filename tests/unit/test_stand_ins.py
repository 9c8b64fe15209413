"""What may not be kept is replaced throughout, in its own form, and always by the same."""

import json
import re
from typing import Any

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn

from seatrial.stand_ins import Kind, Replaced, StandIns

KEY = b"a key of the tests"
MARIA = {
    "id": "cus_8Hk29xA",
    "name": "Maria López",
    "email": "maria@lopez.org",
    "phone": "+49 30 901820",
    "iban": "DE89 3704 0044 0532 0130 00",
    "birth_date": "1980-02-29",
    "address": {"street": "12 Harbour Road", "zip": "10115"},
    "order_id": 1234567,
    "password": "correct horse",
}


def replaced(value: Any, *, keep: tuple[str, ...] = (), ids: bool = True, key: bytes = KEY) -> Any:
    stand_ins = StandIns(key, keep=keep, ids=ids)
    stand_ins.learn(value, "")
    return stand_ins.replaced(value)


def told(value: Any) -> list[tuple[str, Kind]]:
    stand_ins = StandIns(KEY)
    stand_ins.learn(value, "")
    return [(one.place, one.kind) for one in stand_ins.told]


def test_a_person_is_replaced_in_the_form_of_each_value():
    now = replaced(MARIA)

    assert re.fullmatch(r"cus_[0-9][A-Z][a-z][0-9]{2}[a-z][A-Z]", now["id"])
    assert re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", now["name"])
    assert now["email"].endswith("@example.com")
    assert re.fullmatch(r"\+49 3023125\d{3}", now["phone"])  # kept free for fiction
    assert phonenumbers.is_valid_number(phonenumbers.parse(now["phone"]))
    assert iban.is_valid(now["iban"], check_country=False)
    assert now["iban"][4:9] == " 0000"
    assert re.fullmatch(r"(1979|1980)-\d\d-\d\d", now["birth_date"])
    assert re.fullmatch(r"\d\d [A-Z][a-z]+ [A-Z][a-z]+", now["address"]["street"])
    assert re.fullmatch(r"\d{5}", now["address"]["zip"])
    assert 1_000_000 <= now["order_id"] <= 9_999_999
    assert re.fullmatch(r"\[secret-[0-9a-f]{8}\]", now["password"])
    assert all(now[key] != value for key, value in MARIA.items())


def test_the_same_value_gets_the_same_stand_in_wherever_it_stands():
    value = {
        "customer": MARIA,
        "said": "Dear Ms LÓPEZ, 1234567 is on its way. cus_8Hk29xA, maria@lopez.org",
        "written": json.dumps({"name": "Maria López", "email": "maria@lopez.org"}),
        "total": 1234567,
        "cus_8Hk29xA": ["+4930901820"],
    }
    now = replaced(value)
    customer = now["customer"]

    surname = customer["name"].split()[1]
    assert now["said"] == (
        f"Dear Ms {surname.upper()}, {customer['order_id']} is on its way. {customer['id']}, {customer['email']}"
    )
    assert json.loads(now["written"]) == {"name": customer["name"], "email": customer["email"]}
    assert now["total"] == 1234567, "a number is an id only where its key says so"
    assert now[customer["id"]] == [customer["phone"].replace(" ", "")]


def test_stand_ins_depend_on_the_key_and_on_nothing_else():
    alone = replaced({"email": "maria@lopez.org"})

    assert alone["email"] == replaced(MARIA)["email"]
    assert alone["email"] == replaced({"text": "Write to MARIA@lopez.org"})["text"][9:]
    assert alone != replaced({"email": "maria@lopez.org"}, key=b"another key")


def test_what_the_repository_says_already_is_kept_and_ids_where_they_are_wanted():
    keep = ("Where is order 1234567 of Maria?",)

    now = replaced(MARIA, keep=keep)
    assert now["order_id"] == 1234567
    assert now["name"].startswith("Maria ")
    assert not now["name"].endswith("López")
    assert replaced(MARIA, keep=("12345678",))["order_id"] != 1234567
    assert replaced(MARIA, ids=False)["id"] == MARIA["id"]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("use ghp_" + "aB3" * 12 + ".", "ghp_" + "aB3" * 12),
        ("AKIAABCDEFGHIJKLMNOP is it", "AKIAABCDEFGHIJKLMNOP"),
        ("Authorization: Bearer abcdefghijkl.mno", "abcdefghijkl.mno"),
        ("https://ann:pa55word@db.example.com/x", "ann:pa55word"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "c2lnbmF0dXJl"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", "MIIB"),
        ("**Password:** hunter22", "hunter22"),
    ],
)
def test_secrets_are_found_by_their_form_in_any_text(text: str, secret: str):
    assert secret not in replaced({"text": text})["text"]
    assert told({"text": text})[0] == ("text", Kind.SECRET)


def test_numbers_of_accounts_persons_and_networks_are_found_by_what_makes_them_valid():
    text = "card 4111 1111 1111 1111, not 4111 1111 1111 1112; ssn 123-45-6789; from 8.8.8.8, not 10.0.0.1"
    now = replaced({"text": text})["text"]

    card = re.search(r"card ([\d ]{19})", now)
    assert card is not None
    assert luhn.is_valid(card.group(1).replace(" ", ""))
    assert card.group(1).startswith("0000 ")
    assert "4111 1111 1111 1112" in now
    assert "ssn 000-" in now
    assert re.search(r"from 198\.1[89]\.\d+\.\d+, not 10\.0\.0\.1$", now)


def test_values_behind_labels_in_a_text_for_people_are_found():
    text = "Name: Ada Byron\nE-mail: ada@byron.org\n- Order number: A-1029\nTotal: 100000"
    now = replaced(text)

    assert "Ada" not in now
    assert "A-1029" not in now
    assert re.search(r"Order number: A-\d{4}\nTotal: 100000$", now)


def test_what_is_no_person_keeps_its_name():
    assert replaced({"name": "Harbour pump", "price": 1234567}) == {
        "name": "Harbour pump",
        "price": 1234567,
    }


def test_two_values_never_share_a_stand_in_and_places_are_told_without_values():
    many = {"customers": [{"id": f"c{n:05}", "email": f"a{n}@b.org"} for n in range(300)]}
    now = replaced(many)
    stand_ins = StandIns(KEY)
    stand_ins.learn(many, "list")

    assert len({c["id"] for c in now["customers"]}) == 300
    assert len({c["email"] for c in now["customers"]}) == 300
    assert stand_ins.told == (
        Replaced("list.customers[*].email", Kind.EMAIL, 300),
        Replaced("list.customers[*].id", Kind.ID, 300),
    )
    stand_ins.learn({"text": "a7@b.org"}, "told")
    assert stand_ins.told[-1] == Replaced("told.text", Kind.EMAIL, 1)


EMAILS = st.from_regex(r"[a-z]{3,8}\.[a-z]{3,8}@[a-z]{3,8}\.org", fullmatch=True)
TEXTS = st.text(max_size=20)


@given(st.dictionaries(TEXTS, TEXTS | st.integers() | st.lists(TEXTS)), EMAILS, TEXTS)
def test_nothing_that_was_found_is_left_and_any_json_is_borne(
    value: dict[str, Any], email: str, around: str
):
    value = {**value, "e": f"{around} {email} {around}", email: [email]}
    now = replaced(value)

    assert email not in json.dumps(now, ensure_ascii=False)
    assert json.loads(json.dumps(now)) == now
