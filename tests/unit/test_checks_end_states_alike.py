"""`end_state` where several end states are right, ids are known to the trial alone, and values are alike."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from tests.traces import changed, created, said, trace

from seatrial import checks
from seatrial.checks import Scope
from seatrial.documents.checks import EndState
from seatrial.trace import Change


def answer(changes, **asked):
    check = EndState.model_validate({"check": "end_state", **asked})
    finding = checks.find(check, Scope(trace=trace(said(), changes=changes)))
    return finding.status.value, finding.reason


def linked(type: str, key: str, to: str) -> Change:
    return Change(what="linked", type=type, key=key, to=to)


# --- several right end states ---

CREDIT = {"changed": [{"type": "customer", "key": "c-1", "properties": {"credit": 35}}]}
TRANSFER = {"created": [{"type": "transfer", "properties": {"amount": 35, "to": "c-1"}}]}
CLOSED = {"changed": [{"type": "ticket", "key": "t-1", "properties": {"status": "closed"}}]}


def test_any_of_the_right_end_states_will_do_each_together_with_what_all_have():
    closed = changed("ticket", "t-1", "status", "open", "closed")

    assert answer(
        [closed, created("transfer", "x-1", amount=35, to="c-1")],
        any_of=[CREDIT, TRANSFER],
        **CLOSED,
    ) == ("passed", "2 expected changes found and nothing else (any_of[1])")
    assert answer([closed], any_of=[CREDIT, {}], **CLOSED)[0] == "passed"
    assert answer([], any_of=[CREDIT, {}], **CLOSED)[0] == "failed"


def test_doing_both_of_two_right_things_is_wrong():
    both = [
        changed("customer", "c-1", "credit", 0, 35),
        created("transfer", "x-1", amount=35, to="c-1"),
    ]

    assert answer(both, any_of=[CREDIT, TRANSFER]) == (
        "failed",
        "none of 2 right end states; the nearest is any_of[0]: unexpected: transfer x-1 was created "
        '({"id": "x-1", "amount": 35, "to": "c-1"})',
    )


def test_a_wrong_end_state_is_explained_by_the_right_one_that_is_nearest():
    assert answer([created("transfer", "x-1", amount=75, to="c-1")], any_of=[CREDIT, TRANSFER]) == (
        "failed",
        "none of 2 right end states; the nearest is any_of[1]: missing: no transfer as expected; the "
        "nearest, transfer x-1, has amount 75 (expected equals 35)",
    )


# --- values that only the trial knows ---

REFUND = {"type": "refund", "key": {"bind": "new"}, "properties": {"order": "o-1"}}
ORDER = {"type": "order", "key": "o-1", "properties": {"refund": {"bind": "new"}}}


def test_a_bound_id_must_be_the_same_wherever_it_is_used():
    made = created("refund", "r-17", order="o-1")

    assert answer(
        [made, changed("order", "o-1", "refund", None, "r-17"), linked("of", "r-17", "o-1")],
        created=[REFUND],
        changed=[ORDER],
        linked=[{"type": "of", "from": {"bind": "new"}, "to": "o-1"}],
    ) == ("passed", "3 expected changes found and nothing else")
    assert answer(
        [made, changed("order", "o-1", "refund", None, "r-99")], created=[REFUND], changed=[ORDER]
    ) == (
        "failed",
        'missing: order o-1.refund became "r-99" (expected equals "r-17" (new))',
    )


def test_of_several_objects_that_could_be_meant_the_one_is_taken_with_which_all_agrees():
    changes = [
        created("refund", "r-1", order="o-1"),
        created("refund", "r-2", order="o-1"),
        changed("order", "o-1", "refund", None, "r-2"),
    ]

    assert answer(changes, created=[REFUND], changed=[ORDER], others="allowed")[0] == "passed"
    status, reason = answer(changes, created=[REFUND], changed=[ORDER])
    assert status == "failed"
    assert reason.startswith("unexpected: refund r-1 was created")


def test_a_name_may_be_used_inside_of_values():
    made = created("refund", "r-17", order="o-1")
    inside = {
        "type": "order",
        "key": "o-1",
        "properties": {
            "refunds": [{"bind": "new"}, "r-0"],
            "note": {"contains": {"bind": "new"}},
        },
    }
    right = [
        made,
        changed("order", "o-1", "refunds", [], ["r-17", "r-0"]),
        changed("order", "o-1", "note", "", "See r-17."),
    ]
    wrong = [*right[:2], changed("order", "o-1", "note", "", "See r-71.")]

    assert answer(right, created=[REFUND], changed=[inside])[0] == "passed"
    assert answer(wrong, created=[REFUND], changed=[inside]) == (
        "failed",
        'missing: order o-1.note became "See r-71." (expected contains "r-17")',
    )


def test_two_names_are_two_objects_and_may_lead_to_each_other():
    parent = {"type": "node", "key": {"bind": "a"}, "properties": {"child": {"bind": "b"}}}
    child = {"type": "node", "key": {"bind": "b"}, "properties": {"child": {"absent": True}}}

    def nodes(first, second):
        return [
            Change(what="created", type="node", key="n-1", new={"child": first}),
            Change(what="created", type="node", key="n-2", new=second),
        ]

    assert answer(nodes("n-2", {}), created=[parent, child])[0] == "passed"
    assert answer(nodes("n-1", {}), created=[parent, child])[0] == "failed"


def test_a_chain_of_a_dozen_generated_ids_is_followed():
    chain = [
        {
            "type": "step",
            "key": {"bind": f"s{n}"},
            "properties": {"after": {"bind": f"s{n - 1}"} if n else None},
        }
        for n in range(12)
    ]
    order = [5, 0, 11, 3, 8, 1, 10, 2, 7, 4, 9, 6]
    changes = [
        Change(what="created", type="step", key=f"x{n}", new={"after": f"x{n - 1}" if n else None})
        for n in order
    ]

    assert answer(changes, created=chain)[0] == "passed"
    broken = [
        c if c.key != "x7" else c.model_copy(update={"new": {"after": "x5"}}) for c in changes
    ]
    assert answer(broken, created=chain)[0] == "failed"


def test_an_object_that_was_not_created_leaves_its_name_without_a_value():
    assert answer([], created=[REFUND], changed=[ORDER]) == (
        "failed",
        'missing: refund with key bound as new, order equals "o-1" was not created, '
        "order o-1.refund did not change (expected bound as new)",
    )
    link = {"type": "of", "from": {"bind": "new"}, "to": "o-1"}
    assert answer([linked("of", "x", "o-2")], created=[REFUND], linked=[link])[1].startswith(
        'missing: refund with key bound as new, order equals "o-1" was not created, '
        "link of from what new stands for to o-1 was not made"
    )


def test_an_agent_that_creates_hundreds_of_objects_does_not_hold_the_check_up():
    many = [created("refund", f"r-{n}", order="o-1") for n in range(400)]
    pairs = [
        {"type": "refund", "key": {"bind": a}, "properties": {"order": "o-1"}} for a in ("a", "b")
    ]

    status, reason = answer(many, created=pairs)

    assert status == "failed"
    assert reason.endswith("; the first 100 ways to give names their values were tried")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"created": [{"type": "refund", "properties": {"ids": [{"bind": "x"}]}}]},
         "the name 'x' gets no value"),
        ({"created": [{"type": "refund", "key": {"bind": "x"}, "count": 2}]},
         "several objects cannot all have the key of one name"),
        ({"created": [{"type": "refund", "key": {"bind": "x", "equals": "r-1"}}]},
         "`bind` is for a value that only the trial knows"),
        ({"created": [{"type": "refund", "key": {"bind": None}}]}, "`bind` needs a name"),
        ({"any_of": [{}]}, "`any_of` with one alternative is none"),
        ({"others": "allowed", "any_of": [{}, {"deleted": [{"type": "a", "key": "b"}]}]},
         "this check cannot fail"),
        ({"normalize": {"refund.note": {}}}, "an empty normalization changes nothing"),
        ({"normalize": {"refund.note": {"tolerance": 0}}}, "greater than 0"),
    ],
)  # fmt: skip
def test_what_could_not_work_is_refused_when_it_is_written(asked, says):
    with pytest.raises(ValidationError, match=says):
        EndState.model_validate({"check": "end_state", **asked})


# --- what makes no difference ---

NOTE = {"type": "note", "key": "n-1", "properties": {"text": "Call back on Monday"}}


@pytest.mark.parametrize(
    ("how", "old", "new", "right"),
    [
        ({"case": "ignore"}, "", "call back on monday", True),
        ({"case": "ignore"}, "", "call back  on monday", False),
        ({"whitespace": "ignore"}, "", " Call back\n on Monday ", True),
        ({"whitespace": "ignore"}, "", "call back on Monday", False),
        ({"case": "ignore", "whitespace": "ignore"}, "", "CALL BACK ON MONDAY\n", True),
    ],
)
def test_case_and_white_space_of_an_expected_text_may_make_no_difference(how, old, new, right):
    found = answer(
        [changed("note", "n-1", "text", old, new)], changed=[NOTE], normalize={"note.text": how}
    )

    assert found[0] == ("passed" if right else "failed")


@pytest.mark.parametrize(
    ("how", "old", "new", "counts"),
    [
        ({"case": "ignore"}, "Open", "open", False),
        ({"case": "ignore"}, "Open", "shut", True),
        ({"order": "ignore"}, [1, 2, 2], [2, 1, 2], False),
        ({"order": "ignore"}, [1, 2, 2], [1, 1, 2], True),
        ({"order": "ignore"}, [1, 2], [1, 2, 2], True),
        ({"order": "ignore"}, [{"a": [1, 2]}], [{"a": [2, 1]}], False),
        ({"order": "ignore"}, [1, True], [True, 1.0], False),
        ({"order": "ignore"}, [1, True], [1, 1], True),
        ({"tolerance": 0.01}, 35.01, 35.02, False),
        ({"tolerance": 0.01}, 35, 35.02, True),
        ({"tolerance": 1}, "35", "36", True),
        ({"tolerance": 1}, 1, True, True),
        ({"order": "ignore", "tolerance": 1}, [1, 5, 9], [10, 2, 4], False),
        ({"order": "ignore", "tolerance": 1}, [1, 2, 3], [2, 3, 4], False),
        ({"order": "ignore", "tolerance": 1}, [1, 1, 3], [2, 2, 5], True),
        ({"time": "minute"}, "2026-03-16T09:00:10Z", "2026-03-16T10:00:59+01:00", False),
        ({"time": "minute"}, "2026-03-16T09:00:10Z", "2026-03-16T09:01:00Z", True),
        ({"time": "day"}, "2026-03-16 09:00", "2026-03-16 22:59", False),
        ({"time": "hour"}, "2026-03-16 09:00", "2026-03-16 09:59:59.5", False),
        ({"time": "second"}, "2026-03-16 09:00:01.2", "2026-03-16 09:00:01.9", False),
        ({"time": "minute"}, "soon", "Soon", True),
    ],
)
def test_a_difference_that_makes_none_is_no_unexpected_change(how, old, new, counts):
    change = changed("order", "o-1", "value", old, new)

    assert answer([change])[0] == "failed"
    assert answer([change], normalize={"order.value": how})[0] == ("failed" if counts else "passed")


def test_what_holds_at_a_place_holds_below_it_and_nowhere_else():
    old = {"lines": [{"name": "Drill", "note": "a"}], "name": "Shop"}
    new = {"lines": [{"name": "drill", "note": "a"}], "name": "Shop"}
    change = changed("order", "o-1", "cart", old, new)

    assert answer([change], normalize={"order": {"case": "ignore"}})[0] == "passed"
    assert answer([change], normalize={"order.cart": {"case": "ignore"}})[0] == "passed"
    assert answer([change], normalize={"order.cart.lines.*.name": {"case": "ignore"}}) == (
        "passed",
        "nothing changed that counts, 1 other difference ignored",
    )
    assert (
        answer([change], normalize={"order.cart.lines.0.name": {"case": "ignore"}})[0] == "passed"
    )
    for elsewhere in ("cart.cart", "order.cart.name", "order.cart.lines.*.note", "order.car"):
        assert answer([change], normalize={elsewhere: {"case": "ignore"}})[0] == "failed"


def test_a_property_whose_name_has_dots_can_be_named():
    change = changed("host", "h-1", "net.name", "A", "a")

    assert answer([change], normalize={"host.net.name": {"case": "ignore"}})[0] == "passed"
    assert answer([change], ignore=["host.net.name"])[0] == "passed"
    assert answer([change], ignore=["host.net"])[0] == "failed"


def test_star_stands_for_any_key_or_index_in_what_is_ignored():
    change = changed("order", "o-1", "lines", [{"seen": 1, "n": 1}], [{"seen": 2, "n": 1}])
    other = changed("order", "o-1", "lines", [{"seen": 1, "n": 1}], [{"seen": 2, "n": 2}])

    assert answer([change], ignore=["order.lines.*.seen"])[0] == "passed"
    assert answer([other], ignore=["order.lines.*.seen"]) == (
        "failed",
        "unexpected: order o-1: lines.0.n changed from 1 to 2",
    )


def test_normalizing_takes_no_expected_change_away():
    asked = {"type": "note", "key": "n-1", "properties": {"text": "DONE"}}
    how = {"note.text": {"case": "ignore"}}

    assert answer([], changed=[asked], normalize=how)[0] == "failed"
    assert answer(
        [changed("note", "n-1", "text", "done", "Done")], changed=[asked], normalize=how
    ) == (
        "passed",
        "1 expected change found and nothing else",
    )


def test_of_a_list_in_any_order_the_items_without_their_like_are_told():
    asked = {"type": "order", "key": "o-1", "properties": {"tags": ["a", "b", "c"]}}

    assert answer(
        [changed("order", "o-1", "tags", [], ["c", "x", "a"])],
        changed=[asked],
        normalize={"order.tags": {"order": "ignore"}},
    ) == (
        "failed",
        'missing: order o-1.tags.* became "x" (expected equals "b")',
    )


def test_all_operators_see_what_makes_no_difference_but_patterns_and_schemas():
    def note(condition):
        asked = {"type": "note", "properties": {"text": condition}}
        return answer(
            [created("note", "n-1", text="Call Ada", tags=["VIP"], n=3)],
            created=[asked],
            normalize={"note": {"case": "ignore"}},
        )[0]

    assert note({"starts_with": "call"}) == note({"contains": "ADA"}) == "passed"
    assert note({"one_of": ["x", "CALL ADA"]}) == note({"between": ["CALL", "call b"]}) == "passed"
    assert note({"not_equals": "call ada"}) == note({"not_contains": "ada"}) == "failed"
    assert note({"matches": "Call"}) == note({"schema": {"type": "string"}}) == "passed"
    assert note({"matches": "call"}) == "failed"
    tags = {"type": "note", "properties": {"tags": {"contains": "vip"}, "n": {"gte": 3}}}
    assert (
        answer(
            [created("note", "n-1", tags=["VIP"], n=3)],
            created=[tags],
            normalize={"note": {"case": "ignore"}},
        )[0]
        == "passed"
    )


def test_long_lists_in_any_order_are_compared_at_once():
    old = list(range(20_000))
    change = changed("order", "o-1", "ids", old, old[::-1])

    assert answer([change], normalize={"order.ids": {"order": "ignore"}})[0] == "passed"
    assert (
        answer([change], normalize={"order": {"order": "ignore", "tolerance": 0.1}})[0] == "passed"
    )
