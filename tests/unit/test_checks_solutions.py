"""What a right agent does, as far as a case and its checks tell; and what they do not tell."""

from tests import bike_shop

from seatrial.checks.solutions import NEUTRAL, Solved, Unsolved, solution_of
from seatrial.documents import Case


def solved(*checks, skills=None, **more):
    base = {
        "kind": "case", "id": "a-case", "title": "A case", "group": "task", "agent": "rental",
        "world": "bike-shop", "role": "clerk", "task": "Please.", "checks": list(checks),
    }  # fmt: skip
    if "turns" in more:
        del base["task"]
    return solution_of(Case.model_validate(base | more), bike_shop.WORLD, skills)


def calls(found, turn=0):
    assert isinstance(found, Solved), found
    return [(call.tool, call.arguments) for call in found.turns[turn].calls]


RENT = {"check": "tool_called", "tool": "rent", "arguments": {"bike": "b-1", "renter": "Ada"}}


def test_the_calls_that_checks_ask_for_are_made_with_the_arguments_that_they_name():
    either = {"bike": {"one_of": ["b-2", "b-1"]}}
    found = solved(RENT, {"check": "tool_called", "tool": "get_bike", "arguments": either})

    assert calls(found) == [
        ("rent", {"bike": "b-1", "renter": "Ada"}),
        ("get_bike", {"bike": "b-2"}),
    ]


def test_an_order_and_arguments_told_by_several_checks_make_one_call():
    found = solved(
        {"check": "tool_arguments", "tool": "rent", "arguments": {"renter": "Ada"}},
        {"check": "tool_called", "tool": "get_bike", "arguments": {"bike": "b-1"}},
        {"check": "at_least", "tool": "rent", "times": 1, "arguments": {"bike": "b-1"}},
        {"check": "tool_order", "tools": ["get_bike", "rent"]},
    )

    assert calls(found) == [
        ("get_bike", {"bike": "b-1"}),
        ("rent", {"bike": "b-1", "renter": "Ada"}),
    ]


def test_calls_whose_arguments_exclude_each_other_are_two():
    other = {**RENT, "arguments": {"bike": "b-2", "renter": "Ada"}}

    assert [arguments["bike"] for _, arguments in calls(solved(RENT, other))] == ["b-1", "b-2"]


def test_what_has_to_come_before_any_change_comes_first():
    found = solved(
        RENT,
        {"check": "no_write_before", "call": {"tool": "get_bike", "arguments": {"bike": "b-1"}}},
    )

    assert [tool for tool, _ in calls(found)] == ["get_bike", "rent"]


def test_a_skill_is_read_by_the_call_that_its_arm_declares():
    arm = bike_shop.arm(
        "clerk", skills={"rates": {"tool": "get_bike", "arguments": {"bike": "b-9"}}}
    )

    found = solved({"check": "skill_used", "skill": "rates"}, skills=arm.skills)

    assert calls(found) == [("get_bike", {"bike": "b-9"})]


def test_an_argument_that_no_check_tells_is_never_guessed():
    found = solved(
        {"check": "tool_called", "tool": "rent", "arguments": {"bike": {"matches": "^b-"}}}
    )

    assert found == Unsolved((
        "no check says exactly what `bike` of `rent` is",
        "no check says what `renter` of `rent` is",
    ))  # fmt: skip


def test_a_change_that_no_call_is_named_for_is_not_solved():
    changed = [{"type": "bike", "key": "b-1", "properties": {"status": "rented"}}]

    found = solved(
        {"check": "end_state", "changed": changed},
        {"check": "tool_called", "tool": "get_bike", "arguments": {"bike": "b-1"}},
    )

    assert found == Unsolved(("no check says by which call the world comes to change as expected",))


def test_the_reply_holds_all_that_checks_ask_for():
    found = solved(
        {"check": "reply_contains", "text": ["b-1", "free"], "any_of": ["now", "today"]},
        {"check": "reply_number", "value": 12.5, "unit": "EUR", "decimal": ","},
    )

    assert isinstance(found, Solved)
    assert found.turns[0].reply == "b-1. free. now. 12,5 EUR."
    assert not found.written


def test_where_a_question_is_asked_back_the_reply_ends_with_one():
    found = solved({"check": "asks_back"}, {"check": "reply_contains", "text": "which bike"})

    assert isinstance(found, Solved)
    assert found.turns[0].reply.endswith("?")


def test_where_nothing_is_asked_of_the_reply_it_claims_nothing():
    found = solved({"check": "claimed_without_change"})

    assert isinstance(found, Solved)
    assert found.turns[0].reply == NEUTRAL


def test_a_reply_that_fits_a_pattern_has_to_be_written():
    found = solved({"check": "reply_matches", "pattern": "^b-[0-9]$"})

    assert found == Unsolved(("a reply that fits a pattern must be written out",))


def test_each_turn_is_solved_by_its_own_checks_and_the_last_by_those_of_the_case():
    found = solved(
        RENT,
        {"check": "reply_contains", "text": "free", "turn": 1},
        turns=[{"say": "Is b-1 free?"}, {"say": "Then rent it to Ada."}],
    )

    assert isinstance(found, Solved)
    assert found.turns[0].reply == "free."
    assert [len(turn.calls) for turn in found.turns] == [0, 1]


def test_a_written_solution_stands_as_it_is_and_lacks_only_its_reply():
    found = solved(
        {"check": "reply_contains", "text": "rented"},
        solution={"calls": [{"tool": "rent", "arguments": {"bike": "{{run}}", "renter": "Ada"}}]},
    )

    assert calls(found) == [("rent", {"bike": "{{run}}", "renter": "Ada"})]
    assert isinstance(found, Solved)
    assert (found.written, found.turns[0].reply) == (True, "rented.")
