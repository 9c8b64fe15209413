"""Checks of what was called: enough, not too often, nothing too early, and with arguments that fit."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.traces import called, said, trace

from seatrial import checks
from seatrial.checks import Background, Scope
from seatrial.documents import Check, Condition
from seatrial.documents.checks import Step

READ: TypeAdapter[Check] = TypeAdapter(Check)


def answer(check, *events, turn=None, background=None, **asked):
    read = READ.validate_python({"check": check, **asked})
    scope = Scope(trace=trace(said(), *events), turn=turn, background=background or Background())
    found = checks.find(read, scope)
    return found.status.value, found.reason


def at(check, *events, **asked):
    read = READ.validate_python({"check": check, **asked})
    found = checks.find(read, Scope(trace=trace(said(), *events)))
    return found.turn, found.call


# --- any_of ---

WAYS: Any = {"calls": ["mail", {"tool": "message", "arguments": {"urgent": True}}]}


def test_any_of_several_calls_that_serve_the_same_end_will_do():
    assert answer("any_of", called("message", urgent=True), **WAYS) == (
        "passed",
        "message with urgent equals true was called (call 1, turn 1)",
    )
    assert answer("any_of", called("mail"), **WAYS)[0] == "passed"


def test_none_of_them_or_only_in_vain_is_told_by_what_there_is():
    assert answer("any_of", called("post"), **WAYS) == (
        "failed",
        "none of mail, message with urgent equals true was called (1 call in all)",
    )
    assert answer(
        "any_of", called("mail", error=True), called("message", urgent=False), **WAYS
    ) == (
        "failed",
        "mail was called in vain only, answered with an error the last time (call 1, turn 1); "
        "message with urgent equals true was called with urgent false at the nearest (call 2, turn 1)",
    )


# --- at_most, at_least ---


def test_at_most_counts_calls_in_vain_and_names_the_first_too_many():
    searches = [called("search"), called("search", error=True), called("search")]

    assert answer("at_most", *searches, tool="search", times=3)[0] == "passed"
    assert answer("at_most", *searches, tool="search", times=2) == (
        "failed",
        "3 calls of search; expected at most 2, exceeded at call 3, turn 1",
    )
    assert answer("at_most", *searches, times=2)[1] == (
        "3 calls; expected at most 2, exceeded at call 3, turn 1"
    )
    assert answer("at_most", called("pay", n=1), called("pay", n=9), tool="pay",
                  arguments={"n": {"gt": 5}}, times=1)[0] == "passed"  # fmt: skip
    assert answer("at_most", tool="search", times=1)[0] == "passed"


def test_at_least_counts_calls_that_worked():
    looks = [called("look"), called("look", error=True), called("look", refused="no")]

    assert answer("at_least", *looks, tool="look", times=1)[0] == "passed"
    assert answer("at_least", *looks, tool="look", times=2) == (
        "failed",
        "1 call of look and 2 attempts in vain; expected at least 2",
    )
    assert answer("at_least", *looks, called("other"), times=2)[0] == "passed"
    assert answer("at_least", called("look", of=1), tool="look", arguments={"of": 2}, times=1) == (
        "failed",
        "0 calls of look with of equals 2; expected at least 1",
    )


@pytest.mark.parametrize("check", ["at_most", "at_least"])
def test_a_bound_of_nothing_is_refused(check):
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        READ.validate_python({"check": check, "times": 0})


# --- no_write_before ---

READS: Any = {"read_only": True}
WRITES: Any = {"read_only": False}
SILENT: Any = {}
FIRST: Any = {"call": "verify"}


def test_what_has_to_come_first_comes_before_anything_is_written():
    assert answer(
        "no_write_before",
        called("look", **READS),
        called("verify", **READS),
        called("pay", **WRITES),
        **FIRST,
    ) == ("passed", "1 call before, none of them writes; verify was called (call 2, turn 1)")
    wrong = [called("look", **READS), called("pay", **WRITES), called("verify", **READS)]
    assert answer("no_write_before", *wrong, **FIRST) == (
        "failed",
        "pay was called (call 2, turn 1) before verify (call 3, turn 1)",
    )
    assert at("no_write_before", *wrong, **FIRST) == (1, 2)


def test_writing_without_what_has_to_come_first_is_too_early_too():
    assert answer("no_write_before", called("pay", **WRITES), **FIRST) == (
        "failed",
        "pay was called (call 1, turn 1) and verify never was",
    )
    assert answer("no_write_before", called("look", **READS), **FIRST) == (
        "passed",
        "1 call before, none of them writes; verify was never called",
    )


def test_a_tool_that_declares_nothing_leaves_no_answer_unless_it_changed_the_world():
    silent = called("touch", **SILENT)

    assert answer("no_write_before", silent, called("verify", **READS), **FIRST) == (
        "skipped",
        "touch (call 1, turn 1) declares neither that it only reads nor that it is destructive, so "
        "whether anything was written before verify is not known",
    )
    assert answer("no_write_before", called("verify", **READS), silent, **FIRST)[0] == "passed"
    for writes in (called("touch", changed=True), called("touch", destructive=False)):
        assert answer("no_write_before", writes, **FIRST)[0] == "failed"
    assert answer("no_write_before", silent, called("pay", **WRITES), **FIRST)[0] == "failed"


def test_an_attempt_in_vain_wrote_nothing_unless_attempts_count():
    events = [called("pay", error=True, **WRITES), called("verify", **READS)]

    assert answer("no_write_before", *events, **FIRST)[0] == "passed"
    assert answer("no_write_before", *events, **FIRST, attempted=True)[0] == "failed"


def test_what_has_to_come_first_in_vain_does_not_count_and_is_not_too_early_itself():
    failing = called("verify", error=True, **WRITES)

    assert answer("no_write_before", failing, called("pay", **WRITES), **FIRST)[0] == "failed"
    assert (
        answer(
            "no_write_before",
            failing,
            called("verify", **WRITES),
            called("pay", **WRITES),
            **FIRST,
            attempted=True,
        )[0]
        == "passed"
    )


# --- arguments_valid ---


def test_every_call_fits_the_schema_it_was_held_against():
    fits, wrong = called("pay", misfits=()), called("pay", misfits=("to is required",), error=True)

    assert answer("arguments_valid", fits, fits) == (
        "passed",
        "2 calls, all of them fit the schemas of their tools",
    )
    assert answer("arguments_valid", fits, wrong, wrong) == (
        "failed",
        "pay: to is required (call 2, turn 1); 2 of 3 calls do not fit",
    )
    assert answer("arguments_valid", fits, wrong, called("look", misfits=()), tool="look")[0] == (
        "passed"
    )


def test_calls_that_nobody_held_against_a_schema_leave_no_answer():
    unknown = called("pay")

    assert answer("arguments_valid", unknown, called("pay", misfits=()), unknown) == (
        "skipped",
        "pay (call 1, turn 1) was not held against a schema when it was called, nor were 1 more",
    )
    assert answer("arguments_valid", unknown, called("pay", misfits=("wrong",)))[0] == "failed"
    assert answer("arguments_valid", unknown, tool="look")[0] == "skipped"


# --- skills ---

SKILLS = Background(
    skills={"refunds": Step(tool="read", arguments={"path": Condition(equals="refunds.md")})}
)


def test_a_skill_was_used_when_the_call_was_made_by_which_its_arm_knows_it():
    read, other = called("read", path="refunds.md"), called("read", path="other.md")

    assert answer("skill_used", other, read, skill="refunds", background=SKILLS) == (
        "passed",
        "skill refunds was read by read (call 2, turn 1)",
    )
    assert answer("skill_used", other, skill="refunds", background=SKILLS) == (
        "failed",
        'skill refunds was not used: read with path equals "refunds.md" was called with path '
        '"other.md" at the nearest (call 1, turn 1)',
    )
    assert answer("skill_not_used", other, skill="refunds", background=SKILLS)[0] == "passed"
    assert answer("skill_not_used", read, skill="refunds", background=SKILLS) == (
        "failed",
        "skill refunds was read by read (call 1, turn 1)",
    )


def test_a_skill_that_the_arm_does_not_declare_leaves_no_answer():
    for check in ("skill_used", "skill_not_used"):
        assert answer(check, called("read"), skill="refunds") == (
            "skipped",
            "arm an-arm declares no skill 'refunds'",
        )


def test_a_step_is_a_tool_or_one_of_several():
    for step in ({}, {"tool": "a", "any_of": ["b"]}, {"any_of": ["b"], "arguments": {"x": 1}}):
        with pytest.raises(ValidationError):
            READ.validate_python({"check": "sequence", "calls": [step]})
