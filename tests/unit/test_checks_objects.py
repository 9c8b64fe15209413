"""`object_exists` and `object_absent`: what there is in the trial's own world at its end."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.traces import changed, created, deleted, said, trace

from seatrial import checks
from seatrial.checks import Background, Scope
from seatrial.documents import Check
from seatrial.state import state_from_json
from seatrial.trace import Change

READ: TypeAdapter[Check] = TypeAdapter(Check)
START = state_from_json(
    {
        "prompt": {
            "p-1": {"id": "p-1", "name": "greeting", "text": "Hello"},
            "p-2": {"id": "p-2", "name": "farewell", "text": "Bye"},
        },
        "workspace": {"w-1": {"id": "w-1"}, "w-2": {"id": "w-2"}},
    },
    [("in", "p-1", "w-1"), ("in", "p-2", "w-2")],
)


def answer(kind, changes, *, start=START, **asked):
    check = READ.validate_python({"check": f"object_{kind}", **asked})
    background = Background(start=lambda types: start)
    scope = Scope(trace=trace(said(), changes=changes), background=background)
    found = checks.find(check, scope)
    return found.status.value, found.reason


GREETING = {"type": "prompt", "properties": {"name": "greeting"}}


def test_an_object_of_the_start_counts_as_it_is_at_the_end():
    assert answer("exists", [], **GREETING) == (
        "passed",
        'there is a prompt with name equals "greeting": p-1',
    )
    renamed = [changed("prompt", "p-1", "name", "greeting", "hello")]
    assert answer("exists", renamed, **GREETING) == (
        "failed",
        'there is no prompt with name equals "greeting"; of 2 prompts the nearest, p-1, has '
        'name "hello" (expected equals "greeting")',
    )
    gone = [deleted("prompt", "p-1", name="greeting", text="Hello")]
    assert answer("exists", gone, **GREETING)[0] == "failed"
    assert answer("absent", gone, **GREETING) == (
        "passed",
        'there is no prompt with name equals "greeting"',
    )


def test_only_what_the_trial_created_counts_when_that_is_asked():
    asked = {**GREETING, "created_during_trial": True}

    assert answer("exists", [], **asked) == (
        "failed",
        'there is no prompt with name equals "greeting" that this trial created; there is no prompt '
        "that this trial created at all",
    )
    assert answer("absent", [], **asked)[0] == "passed"
    made = [created("prompt", "p-9", name="greeting")]
    assert answer("exists", made, **asked)[0] == "passed"
    assert answer("absent", made, **asked) == (
        "failed",
        'there is a prompt with name equals "greeting" that this trial created: p-9',
    )


def test_a_namesake_in_another_workspace_does_not_count():
    here = {"linked": [{"type": "in", "to": "w-1"}]}
    there = {"linked": [{"type": "in", "to": "w-2"}]}

    assert answer("exists", [], **GREETING, **here)[0] == "passed"
    assert answer("absent", [], **GREETING, **there)[0] == "passed"
    assert answer("exists", [], **GREETING, **there) == (
        "failed",
        'there is no prompt with name equals "greeting", link in to w-2; of 2 prompts the nearest, '
        "p-1, has no link in (expected present)",
    )
    moved = [
        Change(what="linked", type="in", key="p-1", to="w-2"),
        Change(what="unlinked", type="in", key="p-1", to="w-1"),
    ]
    assert answer("exists", moved, **GREETING, **there)[0] == "passed"
    assert answer("exists", [], type="workspace", linked=[{"type": "in", "from": "p-2"}]) == (
        "passed",
        "there is a workspace with link in from p-2: w-2",
    )


def test_how_many_there_must_be_is_a_condition():
    assert answer("exists", [], type="prompt", count=2) == ("passed", "there are 2 of prompt")
    assert answer("exists", [], type="prompt", count={"gt": 2}) == (
        "failed",
        "there are 2 of prompt; expected gt 2",
    )
    assert answer("exists", [], type="agent", count=0)[0] == "passed"


def test_an_object_is_found_by_its_key():
    assert answer("exists", [], type="prompt", key="p-2")[0] == "passed"
    assert answer("absent", [], type="prompt", key={"starts_with": "q"})[0] == "passed"
    assert answer("exists", [], type="prompt", key="p-3")[0] == "failed"


def test_without_the_end_state_there_is_no_answer():
    for kind in ("exists", "absent"):
        assert answer(kind, None, **GREETING) == (
            "skipped",
            "the end state was not captured, so whether there is a prompt with name equals "
            '"greeting" is not known',
        )


def test_without_the_start_only_what_was_created_can_answer():
    made = [created("prompt", "p-9", name="greeting")]

    assert answer("exists", made, start=None, **GREETING)[0] == "passed"
    assert answer("absent", made, start=None, **GREETING)[0] == "failed"
    assert answer("exists", made, start=None, count=1, **GREETING)[0] == "skipped"
    for kind in ("exists", "absent"):
        assert answer(kind, [], start=None, **GREETING) == (
            "skipped",
            "the state in which the world started is not known, so whether there is a prompt with "
            'name equals "greeting" is not known',
        )
        assert answer(kind, [], start=None, created_during_trial=True, **GREETING)[0] != "skipped"
        assert answer(kind, [], start=None, linked=[{"type": "in", "to": "w"}], **GREETING)[0] == (
            "skipped"
        )


def test_changes_of_a_world_that_was_another_one_then_give_no_answer():
    stale = [changed("prompt", "p-1", "name", "greetings", "hello")]

    status, reason = answer("exists", stale, **GREETING)

    assert status == "skipped"
    assert reason.startswith("the recorded changes do not fit the world as it is now written (")


def test_a_link_has_one_other_end():
    for tie in ({"type": "in"}, {"type": "in", "from": "a", "to": "b"}):
        with pytest.raises(ValidationError, match="write either `from` or `to`"):
            READ.validate_python({"check": "object_exists", "type": "a", "linked": [tie]})
