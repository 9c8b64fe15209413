"""`end_state`: exactly the expected changes and nothing else, and a reason one can read."""

from __future__ import annotations

from typing import Any

import pytest
from tests.traces import called, changed, created, deleted, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.documents.checks import EndState
from seatrial.trace import Change


def found(changes, *events, **asked):
    check = EndState.model_validate({"check": "end_state", **asked})
    return checks.find(check, Scope(trace=trace(said(), *events, changes=changes)))


def answer(changes, **asked):
    finding = found(changes, **asked)
    return finding.status.value, finding.reason


REFUND: dict[str, Any] = {"type": "refund", "properties": {"order": "o-1", "amount": 35}}
CLOSED = {"type": "ticket", "key": "t-1", "properties": {"status": "closed"}}


def test_without_expectations_nothing_may_change():
    assert answer([]) == ("passed", "nothing changed, as expected")
    assert answer([deleted("ticket", "t-1")]) == ("failed", "unexpected: ticket t-1 was deleted")


def test_an_end_state_that_nobody_captured_is_neither_right_nor_wrong():
    assert answer(None) == ("skipped", "the end state was not captured")


def test_every_kind_of_expected_change_is_found():
    changes = [
        created("refund", "r-9", order="o-1", amount=35, at="2026-03-16"),
        changed("ticket", "t-1", "status", "open", "closed"),
        deleted("note", "n-1"),
        Change(what="linked", type="owns", key="c-1", to="o-1"),
        Change(what="unlinked", type="owns", key="c-2", to="o-1"),
    ]

    assert answer(
        changes,
        created=[REFUND],
        changed=[CLOSED],
        deleted=[{"type": "note", "key": "n-1"}],
        linked=[{"type": "owns", "from": "c-1", "to": "o-1"}],
        unlinked=[{"type": "owns", "from": "c-2", "to": "o-1"}],
    ) == ("passed", "5 expected changes found and nothing else")


def test_everything_that_is_missing_is_named_with_what_was_expected():
    assert answer(
        [],
        created=[REFUND],
        changed=[CLOSED],
        deleted=[{"type": "note", "key": "n-1"}],
        linked=[{"type": "owns", "from": "c-1", "to": "o-1"}],
    ) == (
        "failed",
        'missing: refund with order equals "o-1", amount equals 35 was not created, '
        'ticket t-1.status did not change (expected equals "closed"), '
        "note n-1 was not deleted, link owns from c-1 to o-1 was not made",
    )


def test_a_wrong_object_is_explained_by_the_nearest_one():
    changes = [
        created("refund", "r-1", order="o-2", amount=99),
        created("refund", "r-2", order="o-1", amount=75),
    ]

    assert answer(changes, created=[REFUND]) == (
        "failed",
        "missing: no refund as expected; the nearest, refund r-2, has amount 75 (expected equals 35); "
        'unexpected: refund r-1 was created ({"id": "r-1", "order": "o-2", "amount": 99})',
    )


def test_a_wrong_value_is_told_with_the_value_expected():
    assert answer([changed("ticket", "t-1", "status", "open", "lost")], changed=[CLOSED]) == (
        "failed",
        'missing: ticket t-1.status became "lost" (expected equals "closed")',
    )


def test_an_object_that_was_deleted_in_place_of_changed_is_told_so():
    assert answer([deleted("ticket", "t-1")], changed=[CLOSED]) == (
        "failed",
        'missing: ticket t-1.status did not change, the ticket was deleted (expected equals "closed"); '
        "unexpected: ticket t-1 was deleted",
    )


def test_what_happened_to_other_objects_is_not_told_of_the_expected_one():
    changes = [created("ticket", "t-9"), deleted("note", "t-1")]

    _, reason = answer(changes, changed=[CLOSED], others="allowed")

    assert reason == 'missing: ticket t-1.status did not change (expected equals "closed")'


def test_another_property_of_the_expected_object_may_not_change_either():
    changes = [
        changed("ticket", "t-1", "status", "open", "closed"),
        changed("ticket", "t-1", "owner", None, "me"),
    ]

    assert answer(changes, changed=[CLOSED]) == (
        "failed",
        'unexpected: ticket t-1: owner changed from null to "me"',
    )


def test_more_differences_than_anybody_reads_are_counted():
    status, reason = answer([deleted("ticket", f"t-{i}") for i in range(9)])

    assert status == "failed"
    assert reason.endswith("ticket t-3 was deleted, and 5 more")


def test_each_expected_object_needs_an_object_of_its_own():
    twice = [REFUND, REFUND]
    one = [created("refund", "r-1", order="o-1", amount=35)]
    two = [*one, created("refund", "r-2", order="o-1", amount=35)]

    assert answer(one, created=twice)[0] == "failed"
    assert answer(two, created=twice)[0] == "passed"
    assert answer(two, created=[{**REFUND, "count": 2}])[0] == "passed"
    assert answer(two, created=[REFUND])[0] == "failed"
    assert answer(one, created=[{**REFUND, "count": 2}])[0] == "failed"


def test_a_loose_expectation_does_not_take_the_object_that_a_strict_one_needs():
    loose = {"type": "refund"}
    changes = [
        created("refund", "r-1", order="o-1", amount=35),
        created("refund", "r-2", order="o-7", amount=1),
    ]

    assert answer(changes, created=[loose, REFUND])[0] == "passed"
    assert answer(changes, created=[REFUND, loose])[0] == "passed"


def test_the_key_of_a_created_object_can_be_asked_for():
    changes = [created("refund", "r-1", order="o-1", amount=35)]

    assert answer(changes, created=[{**REFUND, "key": {"starts_with": "r-"}}])[0] == "passed"
    assert answer(changes, created=[{**REFUND, "key": "r-7"}]) == (
        "failed",
        'missing: no refund as expected; the nearest, refund r-1, has key "r-1" (expected equals "r-7")',
    )


@pytest.mark.parametrize("ignore", [["log"], ["ticket.seen"], ["ticket.meta.at"]])
def test_what_is_ignored_may_change_and_nothing_beside_it(ignore):
    there = {
        "log": created("log", "l-1", text="x"),
        "ticket.seen": changed("ticket", "t-1", "seen", 1, 2),
        "ticket.meta.at": changed(
            "ticket", "t-1", "meta", {"at": 1, "by": "a"}, {"at": 2, "by": "a"}
        ),
    }
    ignored = there.pop(ignore[0])

    assert answer([ignored], ignore=ignore) == (
        "passed",
        "nothing changed that counts, 1 other difference ignored",
    )
    for other in there.values():
        assert answer([ignored, other], ignore=ignore)[0] == "failed"


def test_ignoring_a_type_never_drops_what_is_expected_of_it():
    assert answer([], created=[REFUND], ignore=["refund"])[0] == "failed"
    assert answer([], changed=[CLOSED], ignore=["ticket.status"])[0] == "failed"


def test_others_allowed_leaves_only_the_expectations():
    changes = [deleted("note", "n-1"), changed("ticket", "t-1", "status", "open", "closed")]

    assert answer(changes, changed=[CLOSED], others="allowed") == (
        "passed",
        "1 expected change found, 1 other difference allowed",
    )
    assert answer(changes[:1], changed=[CLOSED], others="allowed")[0] == "failed"


WALLET = {"gift": {"amount": 100, "id": "gift"}, "card": {"id": "card"}}


def wallet(new):
    return [changed("user", "u-1", "wallet", WALLET, new)]


def inside(path, condition):
    return [{"type": "user", "key": "u-1", "properties": {path: condition}}]


def test_a_path_into_a_property_is_held_against_that_part_alone():
    spent = {"gift": {"amount": 40, "id": "gift"}, "card": {"id": "card"}}

    assert answer(wallet(spent), changed=inside("wallet.gift.amount", 40))[0] == "passed"
    assert answer(wallet(spent), changed=inside("wallet.gift.amount", 50)) == (
        "failed",
        "missing: user u-1.wallet.gift.amount became 40 (expected equals 50)",
    )


def test_a_change_beside_the_path_in_the_same_property_is_unexpected():
    emptied = {"gift": {"amount": 40, "id": "gift"}}

    assert answer(wallet(emptied), changed=inside("wallet.gift.amount", 40)) == (
        "failed",
        'unexpected: user u-1: wallet.card was removed ({"id": "card"})',
    )


def test_a_part_that_stayed_as_it_was_has_not_changed_to_what_is_expected():
    emptied = {"gift": {"amount": 100, "id": "gift"}}

    status, reason = answer(wallet(emptied), changed=inside("wallet.gift.amount", 100))

    assert status == "failed"
    assert reason.startswith("missing: user u-1.wallet.gift.amount did not change")


def test_a_part_inside_something_new_has_changed_and_the_rest_of_it_is_unexpected():
    gifted = {**WALLET, "bonus": {"amount": 5, "id": "bonus"}}

    assert answer(wallet(gifted), changed=inside("wallet.bonus.amount", 5)) == (
        "failed",
        'unexpected: user u-1: wallet.bonus was added ({"amount": 5, "id": "bonus"})',
    )
    assert answer(wallet(gifted), changed=inside("wallet.bonus", {"present": True}))[0] == "passed"


def test_a_list_that_became_something_else_is_told_whole():
    assert answer([changed("trip", "p-1", "legs", [1, 2], "none")]) == (
        "failed",
        'unexpected: trip p-1: legs changed from [1, 2] to "none"',
    )


def test_a_removed_part_can_be_asked_for_as_absent():
    emptied = {"card": {"id": "card"}}

    assert answer(wallet(emptied), changed=inside("wallet.gift", {"absent": True}))[0] == "passed"
    assert answer(wallet({**WALLET, "x": 1}), changed=inside("wallet.gift", {"absent": True}))[
        0
    ] == ("failed")


def test_no_property_and_a_property_that_is_null_are_two_things():
    lost = Change(
        what="changed", type="ticket", key="t-1", property="status", old="open", new_absent=True
    )
    null = changed("ticket", "t-1", "status", "open", None)
    absent = [{"type": "ticket", "key": "t-1", "properties": {"status": {"absent": True}}}]
    is_null = [{"type": "ticket", "key": "t-1", "properties": {"status": None}}]

    assert answer([lost], changed=absent)[0] == "passed"
    assert answer([null], changed=absent)[0] == "failed"
    assert answer([null], changed=is_null)[0] == "passed"
    assert answer([lost], changed=is_null) == (
        "failed",
        "missing: ticket t-1.status was removed (expected equals null)",
    )


def test_a_whole_value_that_is_wrong_is_told_by_the_parts_that_are():
    legs = [{"day": "2026-05-01", "price": 10}, {"day": "2026-05-02", "price": 20}]
    moved = [{"day": "2026-05-01", "price": 10}, {"day": "2026-05-03", "price": 25}, {"day": "x"}]
    wanted = [{"day": "2026-05-04", "price": 10}, {"day": "2026-05-03", "price": 20, "seat": 7}]
    expected = [{"type": "trip", "key": "p-1", "properties": {"legs": wanted}}]

    assert answer([changed("trip", "p-1", "legs", legs, moved)], changed=expected) == (
        "failed",
        'missing: trip p-1.legs.0.day stayed "2026-05-01" (expected equals "2026-05-04"), '
        "trip p-1.legs.1.price became 25 (expected equals 20), "
        "trip p-1.legs.1.seat is not there (expected equals 7), "
        'trip p-1.legs.2 became {"day": "x"} (expected absent)',
    )


def test_a_created_object_is_held_against_the_nearest_by_the_parts_that_differ():
    near = created("trip", "p-1", legs=[{"day": 1}, {"day": 2}], seats=2)
    far = created("trip", "p-0", legs=[{"day": 8}, {"day": 9}], seats=1)
    expected = [{"type": "trip", "properties": {"legs": [{"day": 1}, {"day": 3}], "seats": 2}}]

    assert answer([far, near], created=expected, others="allowed") == (
        "failed",
        "missing: no trip as expected; the nearest, trip p-1, has legs.1.day 2 (expected equals 3)",
    )


def test_lists_are_compared_item_by_item():
    old = [{"day": "2026-05-01", "price": 10}, {"day": "2026-05-02", "price": 20}]
    new = [{"day": "2026-05-01", "price": 10}, {"day": "2026-05-03", "price": 20}, {"day": "x"}]

    assert answer([changed("trip", "p-1", "legs", old, new)]) == (
        "failed",
        'unexpected: trip p-1: legs.1.day changed from "2026-05-02" to "2026-05-03", '
        'trip p-1: legs.2 was added ({"day": "x"})',
    )


def test_numbers_are_equal_by_value_and_never_to_text_or_truth():
    changes = [created("refund", "r-1", order="o-1", amount=35.0)]

    assert answer(changes, created=[REFUND])[0] == "passed"
    for other in ("35", True):
        wrong = {**REFUND, "properties": {"order": "o-1", "amount": other}}
        assert answer(changes, created=[wrong])[0] == "failed"


def test_the_call_that_made_the_unexpected_difference_is_named():
    events = [
        called("close", ticket="t-1", changed=True),
        called("erase", ticket="t-2", changed=True),
        called("close", ticket="t-3", changed=True),
    ]
    changes = [changed("ticket", "t-1", "status", "open", "closed"), deleted("ticket", "t-2")]

    finding = found(changes, *events, changed=[CLOSED])

    assert (finding.reason, finding.call) == ("unexpected: ticket t-2 was deleted", 2)


def test_an_id_that_the_world_made_up_is_found_in_the_answer():
    events = [
        called("pay", order="o-1", changed=True, answer='{"refund_id": "r-77"}'),
        called("close", ticket="t-1", changed=True),
    ]

    assert found([created("refund", "r-77")], *events).call == 1


def test_where_no_call_can_be_told_none_is_named():
    events = [called("a", changed=True), called("b", changed=True)]

    assert found([deleted("ticket", "t-2")], *events).call is None
    assert found([deleted("ticket", "t-2")], *events[:1]).call == 1
    assert found([], *events, changed=[CLOSED]).call is None


def test_of_calls_that_a_server_answered_only_those_that_may_have_written_are_named():
    """Nobody watched the world of a recorded trial, so no call is known to have changed it."""
    calls = [
        called("look", ticket="t-2", answered_by="server", read_only=True),
        called("erase", ticket="t-2", answered_by="server"),
        called("erase", ticket="t-2", answered_by="server", error=True),
        called("erase", ticket="t-2", refused="no"),
    ]

    assert found([deleted("ticket", "t-2")], *calls).call == 2
    assert found([deleted("ticket", "t-2")], calls[0]).call is None


def test_the_reason_does_not_depend_on_the_order_in_which_changes_are_told():
    there = [
        changed("ticket", "t-1", "b", 1, 2),
        changed("ticket", "t-1", "a", 1, 2),
        Change(what="linked", type="owns", key="c", to="o-2"),
        Change(what="linked", type="owns", key="c", to="o-1"),
    ]

    assert answer(there) == answer(there[::-1])
    assert answer(there)[1] == (
        "unexpected: ticket t-1: a changed from 1 to 2, ticket t-1: b changed from 1 to 2, "
        "link owns from c to o-1 was made, link owns from c to o-2 was made"
    )
