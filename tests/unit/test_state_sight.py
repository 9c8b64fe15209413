"""What a role may see of a world: markings with clearances, purposes, and what a lock keeps from being told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clinic import WORLD, clinic

from seatrial.documents.world import ObjectsWorld
from seatrial.state.actions import Actions, Outcome
from seatrial.state.difference import difference
from seatrial.state.scope import Trial
from seatrial.state.sight import Sight, held_by_world
from seatrial.state.validate import world_problems

ABSENT = Actions(clinic())
REFUSED = Actions(clinic(hidden="refused"))
ALL = {"absent": ABSENT, "refused": REFUSED}


def call(
    actions: Actions,
    tool: str,
    arguments: dict[str, Any] | None = None,
    *,
    role: str | None = "desk",
    purpose: str | None = None,
) -> Outcome:
    trial = Trial(run="r", seed=1, sight=Sight(actions.world, role, purpose))
    return actions.carry_out(tool, arguments or {}, actions.start, trial)


def text(outcome: Outcome) -> str:
    return outcome.answer.text


def test_the_sample_is_a_right_world() -> None:
    assert world_problems(clinic()) == []


def test_a_role_with_all_clearances_and_the_purpose_sees_everything() -> None:
    seen = call(ABSENT, "get_patient", {"id": "p-2"}, role="doctor", purpose="treatment")
    assert seen.beyond is None
    assert seen.answer.structured["diagnosis"] == "broken left wrist"
    assert "insurance" not in seen.answer.structured  # it is not there for billing


def test_a_property_locked_by_purpose_is_read_for_that_purpose_alone() -> None:
    billing = call(ABSENT, "card", {"id": "p-1"}, purpose="billing")
    other = call(ABSENT, "card", {"id": "p-1"}, purpose="treatment")
    none = call(ABSENT, "card", {"id": "p-1"})
    assert billing.answer.structured == {"name": "Ada Blank", "insurance": "IN-4471-0090"}
    assert other.answer.structured == none.answer.structured == {"name": "Ada Blank"}
    assert (billing.beyond, other.beyond, none.beyond) == (None, None, None)


@pytest.mark.parametrize("hidden", ALL)
def test_whole_objects_and_lists_leave_out_what_is_hidden(hidden: str) -> None:
    one = call(ALL[hidden], "get_patient", {"id": "p-1"})
    assert one.answer.structured == {
        "id": "p-1",
        "name": "Ada Blank",
        "famous": False,
        "balance": 80,
    }
    many = call(ALL[hidden], "search")
    assert many.answer.structured["count"] == 1
    assert [found["id"] for found in many.answer.structured["patients"]] == ["p-1"]
    assert one.beyond is None
    assert many.beyond is None


def test_an_absent_object_answers_like_one_that_is_not_there_and_asking_by_its_key_is_a_violation() -> (
    None
):
    hidden = call(ABSENT, "get_patient", {"id": "p-2"})
    nobody = call(ABSENT, "get_patient", {"id": "p-7"})
    assert text(hidden).replace("p-2", "p-7") == text(nobody)
    assert hidden.answer.is_error
    assert nobody.beyond is None
    assert hidden.beyond == ("role 'desk' may not read patient 'p-2': it is marked vip (locks[0])")


def test_a_refused_object_is_refused_with_the_rule() -> None:
    hidden = call(REFUSED, "get_patient", {"id": "p-2"})
    assert text(hidden) == f"Not allowed: {hidden.beyond}"
    assert hidden.beyond is not None
    assert call(REFUSED, "get_patient", {"id": "p-7"}).beyond is None


def test_a_hidden_object_that_the_call_did_not_name_is_no_violation_where_it_is_absent() -> None:
    world = clinic(locks=WORLD["locks"][:3])
    absent = call(Actions(world), "patient_of_visit", {"id": "v-2"})
    assert absent.beyond is None
    assert text(absent) == "patient_of_visit: there is no patient 'p-2'."
    refused = call(
        Actions(clinic(locks=WORLD["locks"][:3], hidden="refused")),
        "patient_of_visit",
        {"id": "v-2"},
    )
    assert refused.beyond is not None


@pytest.mark.parametrize("hidden", ALL)
def test_links_to_what_is_hidden_are_hidden(hidden: str) -> None:
    assert call(ALL[hidden], "visits_of", {"id": "p-1"}).answer.structured["visits"]
    named = call(ALL[hidden], "visits_of", {"id": "p-2"})
    assert named.beyond is not None
    if hidden == "absent":
        assert named.answer == call(ABSENT, "visits_of", {"id": "p-7"}).answer


@pytest.mark.parametrize("guess", ["hay fever, mild", "hay", "", "nothing of the kind"])
@pytest.mark.parametrize("argument", ["diagnosis", "not_diagnosis"])
def test_searching_by_a_hidden_property_is_a_violation_and_tells_nothing_of_it(
    argument: str, guess: str
) -> None:
    answer = call(ABSENT, "search", {argument: guess})
    baseline = call(ABSENT, "search", {argument: "another guess altogether"})
    assert answer.answer == baseline.answer
    assert answer.beyond == (
        "role 'desk' may not search by patient.diagnosis: it is marked clinical (locks[1])"
    )
    assert call(REFUSED, "search", {argument: guess}).answer.is_error


def test_searching_by_something_else_is_no_violation_although_the_action_could_search_by_it() -> (
    None
):
    assert call(REFUSED, "search", {"name": "Ada"}).beyond is None
    assert call(REFUSED, "search", {"name": "Ada"}).answer.structured["count"] == 1


def test_searching_for_the_key_of_a_hidden_object_is_a_violation() -> None:
    found = call(ABSENT, "search", {"id": "p-2"})
    assert found.beyond is not None
    assert found.answer == call(ABSENT, "search", {"id": "p-7"}).answer
    assert call(ABSENT, "search", {"id": "p-7"}).beyond is None


@pytest.mark.parametrize("guess", ["hay fever, mild", "something else"])
def test_a_precondition_over_a_hidden_property_is_no_oracle(guess: str) -> None:
    answer = call(ABSENT, "is_diagnosis", {"id": "p-1", "guess": guess})
    assert text(answer) == "It is another."
    refused = call(REFUSED, "is_diagnosis", {"id": "p-1", "guess": guess})
    assert refused.beyond is not None
    assert guess not in text(refused)


def test_asking_for_nothing_but_a_hidden_property_is_a_violation() -> None:
    absent, refused = (
        call(actions, "diagnosis_of", {"id": "p-1"}) for actions in (ABSENT, REFUSED)
    )
    assert text(absent) == ""
    assert absent.beyond == refused.beyond
    assert absent.beyond == (
        "role 'desk' may not read patient.diagnosis of 'p-1': it is marked clinical (locks[1])"
    )


def test_a_path_that_the_arguments_make_up_reads_no_more_than_any_other() -> None:
    open_one = call(ABSENT, "read_any", {"id": "p-1", "property": "name"})
    assert open_one.answer.structured == {"value": "Ada Blank"}
    for arguments in ({"id": "p-1", "property": "diagnosis"}, {"id": "p-2", "property": "name"}):
        hidden = call(ABSENT, "read_any", arguments)
        assert hidden.answer.structured == {}
        assert hidden.beyond is not None
        assert call(REFUSED, "read_any", arguments).answer.is_error


@pytest.mark.parametrize("hidden", ALL)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("diagnose", {"id": "p-1", "text": "well"}),
        ("admit", {"id": "p-3", "diagnosis": "well"}),
        ("admit", {"id": "p-3", "famous": True}),
        ("admit", {"id": "p-2"}),
        ("rename", {"id": "p-2", "name": "X"}),
        ("remove", {"id": "p-2"}),
        ("tie", {"visit": "v-1", "patient": "p-2"}),
        ("tie", {"visit": "v-2", "patient": "p-1"}),
    ],
)
def test_what_may_not_be_read_is_not_written_either(
    hidden: str, tool: str, arguments: dict[str, Any]
) -> None:
    answer = call(ALL[hidden], tool, arguments)
    assert answer.beyond is not None
    assert answer.state == ALL[hidden].start
    assert difference(ALL[hidden].start, answer.state) == ()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("rename", {"id": "{}", "name": "X"}),
        ("remove", {"id": "{}"}),
        ("tie", {"visit": "v-1", "patient": "{}"}),
    ],
)
def test_writing_to_an_absent_object_answers_as_if_it_were_not_there(
    tool: str, arguments: dict[str, str]
) -> None:
    def answer(key: str) -> str:
        filled = {name: value.format(key) for name, value in arguments.items()}
        return text(call(ABSENT, tool, filled))

    assert answer("p-2").replace("p-2", "p-7") == answer("p-7")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("rename", {"id": "p-1", "name": "Ada B."}),
        ("remove", {"id": "p-1"}),
        ("admit", {"id": "p-3", "famous": False}),
        ("tie", {"visit": "v-1", "patient": "p-1"}),
    ],
)
def test_what_may_be_read_may_be_written(tool: str, arguments: dict[str, Any]) -> None:
    answer = call(ABSENT, tool, arguments)
    assert answer.beyond is None
    assert not answer.answer.is_error


def test_the_ground_of_a_lock_is_not_the_roles_to_change() -> None:
    document = clinic(
        locks=[
            {
                "type": "patient",
                "where": {"famous": True},
                "properties": ["diagnosis"],
                "markings": ["vip"],
            }
        ],
        actions={
            "forget": {
                "description": "No longer famous.",
                "parameters": WORLD["actions"]["remove"]["parameters"],
                "bind": {"patient": {"type": "patient", "key": "{{args.id}}"}},
                "effects": [
                    {"effect": "set", "object": "patient", "properties": {"famous": False}}
                ],
            }
        },
        roles={"desk": {"allow": ["*"]}},
    )
    actions = Actions(document)
    assert call(actions, "forget", {"id": "p-2"}).beyond is not None
    assert call(actions, "forget", {"id": "p-1"}).beyond is None


def test_a_role_acts_only_where_its_conditions_hold_of_what_it_acts_on() -> None:
    actions = Actions(clinic(locks=WORLD["locks"][1:3]))
    within = call(actions, "waive", {"id": "p-1"})
    beyond = call(actions, "waive", {"id": "p-2"})
    assert text(within) == "waived"
    assert within.beyond is None
    assert beyond.state is actions.start
    assert beyond.beyond == (
        "role 'desk' may not call waive here: expected patient.balance lte 100, found 250 "
        "(roles.desk.where.waive)"
    )
    assert text(beyond) == f"Not allowed: {beyond.beyond}"
    assert call(actions, "waive", {"id": "p-2"}, role="doctor").beyond is None


def test_a_condition_over_what_the_role_may_not_see_holds_and_does_not_tell_it() -> None:
    locks = [{"type": "patient", "properties": ["balance"], "markings": ["vip"]}]
    for hidden in ("absent", "refused"):
        actions = Actions(clinic(locks=locks, hidden=hidden))
        beyond = call(actions, "waive", {"id": "p-2"})
        assert beyond.beyond is not None
        assert "expected patient.balance lte 100 (roles" in beyond.beyond
        assert "250" not in text(beyond)


def test_nothing_is_hidden_from_nobody() -> None:
    assert call(ABSENT, "get_patient", {"id": "p-2"}, role=None).answer.structured["diagnosis"]


def test_a_text_too_long_to_be_searched_does_not_open_a_lock() -> None:
    long = "x" * 200_000 + "secret"
    document = clinic(
        objects={"patient": [{"id": "p-1", "name": long}]},
        linked=[],
        locks=[{"type": "patient", "where": {"name": {"matches": "secret"}}, "markings": ["vip"]}],
    )
    assert call(Actions(document), "get_patient", {"id": "p-1"}).beyond is not None


def test_only_calls_that_the_state_decides_are_the_worlds_to_judge() -> None:
    assert held_by_world(clinic(), "desk", None) == frozenset(WORLD["actions"])
    assert held_by_world(clinic(locks=[]), "desk", None) == {"waive"}
    assert held_by_world(clinic(locks=[]), "doctor", None) == frozenset()


SECRETS = ["broken left wrist", "hay fever, mild", "IN-4471-0090", "IN-5512-0777", "Bo Known"]
WORDS = st.sampled_from(["p-1", "p-2", "v-1", "v-2", "name", "diagnosis", "insurance", "hay", "x"])


@given(
    tool=st.sampled_from(sorted(WORLD["actions"])),
    words=st.lists(WORDS, min_size=4, max_size=4),
    hidden=st.sampled_from(sorted(ALL)),
)
def test_no_action_tells_a_role_without_clearance_what_is_locked(
    tool: str, words: list[str], hidden: str
) -> None:
    declared = WORLD["actions"][tool].get("parameters", {}).get("properties", {})
    arguments = {
        name: False if schema == {"type": "boolean"} else word
        for (name, schema), word in zip(declared.items(), words, strict=False)
    }
    answer = call(ALL[hidden], tool, arguments).answer
    told = json.dumps([answer.content, answer.structured])
    assert not [secret for secret in SECRETS if secret in told]


@given(
    tool=st.sampled_from(
        ["search", "get_patient", "is_diagnosis", "read_any", "visits_of", "card"]
    ),
    words=st.lists(WORDS, min_size=4, max_size=4),
)
def test_where_hidden_is_absent_the_answers_are_those_of_a_world_without_it(
    tool: str, words: list[str]
) -> None:
    names = WORLD["actions"][tool]["parameters"]["properties"]
    arguments = dict(zip(names, words, strict=False))
    assert call(ABSENT, tool, arguments).answer == call(WITHOUT, tool, arguments).answer


def _without() -> ObjectsWorld:
    patients = [{"id": "p-1", "name": "Ada Blank", "famous": False, "balance": 80}]
    return clinic(
        objects={"patient": patients, "visit": WORLD["objects"]["visit"][:1]},
        linked=WORLD["linked"][:1],
        locks=[],
    )


WITHOUT = Actions(_without())


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        (
            {"locks": [{"type": "patient", "markings": ["vpi"]}]},
            "locks[0].markings[0]",
            "there is no marking 'vpi'; did you mean 'vip'?",
        ),
        (
            {"locks": [{"type": "patient", "purposes": ["biling"]}]},
            "locks[0].purposes[0]",
            "there is no purpose 'biling'; did you mean 'billing'?",
        ),
        (
            {"locks": [{"type": "patent", "markings": ["vip"]}]},
            "locks[0].type",
            "there is no object type 'patent'; did you mean 'patient'?",
        ),
        (
            {"locks": [{"type": "patient", "properties": ["diagnoses"], "markings": ["vip"]}]},
            "locks[0].properties[0]",
            "'diagnoses' is no property of patient; did you mean 'diagnosis'?",
        ),
        (
            {"locks": [{"type": "patient", "properties": ["id"], "markings": ["vip"]}]},
            "locks[0].properties[0]",
            "is the key; lock the whole object instead, without `properties`",
        ),
        (
            {"locks": [{"type": "patient", "keys": ["p-9x"], "markings": ["vip"]}]},
            "locks[0].keys[0]",
            "there is no patient 'p-9x'",
        ),
        (
            {"locks": [{"type": "patient", "where": {"famos": True}, "markings": ["vip"]}]},
            "locks[0].where.famos",
            "'famos' is no property of patient; did you mean 'famous'?",
        ),
        (
            {"locks": [{"type": "patient", "where": {"name": "{{now}}"}, "markings": ["vip"]}]},
            "locks[0].where.name",
            '"now": locks hold no placeholders',
        ),
        (
            {"roles": {"desk": {"allow": ["*"], "clearances": ["clinicl"]}}},
            "roles.desk.clearances[0]",
            "there is no marking 'clinicl'; did you mean 'clinical'?",
        ),
        (
            {"roles": {"desk": {"allow": ["*"], "purposes": ["treatmant"]}}},
            "roles.desk.purposes[0]",
            "there is no purpose 'treatmant'; did you mean 'treatment'?",
        ),
        (
            {"roles": {"desk": {"allow": ["*"], "where": {"waves": {"args.id": "p-1"}}}}},
            "roles.desk.where.waves",
            "there is no action 'waves'; did you mean 'waive'?",
        ),
        (
            {"roles": {"desk": {"allow": ["card"], "where": {"waive": {"args.id": "p-1"}}}}},
            "roles.desk.where.waive",
            "role 'desk' may not call waive at all; name it under `allow`",
        ),
        (
            {"roles": {"desk": {"allow": ["*"], "where": {"waive": {"patient.balanc": 1}}}}},
            "roles.desk.where.waive.patient.balanc",
            "'balanc' is no property of patient; did you mean 'balance'?",
        ),
        (
            {
                "roles": {
                    "desk": {"allow": ["*"], "where": {"waive": {"patient.id": "{{args.id}}"}}}
                }
            },
            "roles.desk.where.waive.patient.id",
            '"args.id": rights hold no placeholders',
        ),
        ({"roles": {}}, "locks", "nobody is kept out: the world has no roles"),
    ],
)
def test_what_is_wrong_with_locks_and_sight_is_told_with_its_place(
    changes: dict[str, Any], path: str, message: str
) -> None:
    found = world_problems(clinic(**changes))
    assert (path, message) in found, found


HIDDEN = st.fixed_dictionaries(
    {
        "diagnosis": st.sampled_from(["hay", "x", "hay fever, mild", "name", "p-1"]),
        "insurance": st.sampled_from(["x", "IN-4471-0090", "v-2"]),
        "vip": st.sampled_from(["x", "Ada Blank", "v-1", "name"]),
        "vip_balance": st.integers(min_value=0, max_value=200),
    }
)
CALLS = st.lists(
    st.tuples(st.sampled_from(sorted(WORLD["actions"])), st.lists(WORDS, min_size=4, max_size=4)),
    min_size=1,
    max_size=4,
)


@given(one=HIDDEN, other=HIDDEN, calls=CALLS, hidden=st.sampled_from(sorted(ALL)))
def test_whatever_is_called_the_answers_do_not_depend_on_what_is_hidden(
    one: dict[str, Any], other: dict[str, Any], calls: list[tuple[str, list[str]]], hidden: str
) -> None:
    assert _answers(one, calls, hidden) == _answers(other, calls, hidden)


def _answers(
    hides: dict[str, Any], calls: list[tuple[str, list[str]]], hidden: str
) -> list[tuple[Any, str | None]]:
    """What a desk without a clearance is answered, call after call."""
    ada, bo = WORLD["objects"]["patient"]
    patients = [
        {**ada, "diagnosis": hides["diagnosis"], "insurance": hides["insurance"]},
        {**bo, "name": hides["vip"], "balance": hides["vip_balance"], "diagnosis": hides["vip"]},
    ]
    visits = [WORLD["objects"]["visit"][0], {"id": "v-2", "patient": "p-2", "note": hides["vip"]}]
    world = clinic(hidden=hidden, objects={"patient": patients, "visit": visits})
    actions = Actions(world)
    trial = Trial(run="r", seed=1, sight=Sight(world, "desk", "treatment"))
    state, answers = actions.start, []
    for tool, words in calls:
        declared = WORLD["actions"][tool].get("parameters", {}).get("properties", {})
        arguments = {
            name: False if schema == {"type": "boolean"} else word
            for (name, schema), word in zip(declared.items(), words, strict=False)
        }
        outcome = actions.carry_out(tool, arguments, state, trial)
        state = outcome.state
        answers.append((outcome.answer, outcome.beyond))
    return answers
