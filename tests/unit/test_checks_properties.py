"""What holds of checks for any trace, any changes and any expectations."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests import bike_shop

from seatrial import checks
from seatrial.checks import Background, Scope
from seatrial.checks.assignment import assign
from seatrial.checks.leaves import leaves
from seatrial.checks.lenses import Lens
from seatrial.documents.checks import EndState, Normalization
from seatrial.state import MISSING, same, state_from_json
from seatrial.trace import Answer, Called, Change, Listed, Noted, Replied, Said, Trace
from seatrial.verdicts import Status, Verdict

words = st.sampled_from(["a", "b", "c"])
texts = st.text(max_size=6)
numbers = st.integers(-3, 3) | st.sampled_from([0.0, 1.0, 0.5, -0.0])
scalars = st.none() | st.booleans() | numbers | words | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | texts, inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(words, values, max_size=3)

changes = st.builds(
    lambda what, type, key, property, to, old, new: Change(
        what=what,
        type=type,
        key=key,
        property=property if what == "changed" else None,
        to=to if what in ("linked", "unlinked") else None,
        old=old,
        new=new,
    ),
    st.sampled_from(["created", "changed", "deleted", "linked", "unlinked"]),
    words,
    words,
    words,
    words,
    mappings,
    mappings,
) | st.builds(
    Change,
    what=st.just("changed"),
    type=words,
    key=words,
    property=words,
    old=values,
    new=values,
    old_absent=st.booleans(),
    new_absent=st.booleans(),
)
hostile_changes = st.builds(
    Change,
    what=st.sampled_from(["created", "changed", "deleted", "linked", "unlinked"]),
    type=words | texts,
    key=words | texts,
    property=st.none() | words | texts,
    to=st.none() | texts,
    old=values,
    new=values,
)
conditions = st.one_of(
    values.map(lambda value: {"equals": value}),
    st.sampled_from([{"present": True}, {"absent": True}, {"gte": 0}, {"matches": "a|b"}]),
    texts.map(lambda text: {"contains": text}),
)
paths = st.lists(words | st.sampled_from(["0", "*", "count"]), min_size=1, max_size=3).map(".".join)
properties = st.dictionaries(paths, conditions, max_size=3)
bindable = conditions | st.sampled_from([{"bind": "x"}, {"bind": "y"}])
bindable_properties = st.dictionaries(paths, bindable, max_size=3)
normalizations = st.fixed_dictionaries(
    {"order": st.just("ignore")},
    optional={
        "case": st.just("ignore"),
        "whitespace": st.just("ignore"),
        "tolerance": st.sampled_from([0.5, 1]),
        "time": st.sampled_from(["second", "minute", "hour", "day"]),
    },
)
expected_changes = st.fixed_dictionaries(
    {},
    optional={
        "created": st.lists(
            st.fixed_dictionaries(
                {"type": words, "properties": bindable_properties}, optional={"key": bindable}
            ),
            max_size=2,
        ),
        "deleted": st.lists(st.fixed_dictionaries({"type": words, "key": words}), max_size=2),
        "linked": st.lists(
            st.fixed_dictionaries(
                {
                    "type": words,
                    "from": words | st.just({"bind": "x"}),
                    "to": words | st.just({"bind": "y"}),
                }
            ),
            max_size=2,
        ),
    },
)
end_states = st.fixed_dictionaries(
    {"check": st.just("end_state")},
    optional={
        "any_of": st.lists(expected_changes, min_size=2, max_size=3),
        "normalize": st.dictionaries(paths, normalizations, max_size=2),
        "created": st.lists(
            st.fixed_dictionaries(
                {"type": words, "properties": bindable_properties, "count": st.integers(1, 3)},
                optional={"key": conditions},
            ),
            max_size=2,
        ),
        "changed": st.lists(
            st.fixed_dictionaries(
                {
                    "type": words,
                    "key": words,
                    "properties": st.dictionaries(paths, conditions, min_size=1, max_size=2),
                }
            ),
            max_size=2,
        ),
        "deleted": st.lists(st.fixed_dictionaries({"type": words, "key": words}), max_size=2),
        "linked": st.lists(
            st.fixed_dictionaries({"type": words, "from": words, "to": words}), max_size=2
        ),
        "ignore": st.lists(st.lists(words, min_size=1, max_size=3).map(".".join), max_size=2),
    },
)


def graded(check: dict[str, Any], changes: list[Change]) -> tuple[Status, str]:
    trace = Trace(case="c", arm="a", number=1, changes=tuple(changes))
    found = checks.find(EndState.model_validate(check), Scope(trace=trace))
    return found.status, found.reason


def expecting(changes: list[Change]) -> dict[str, Any]:
    """The strict end state that says exactly what these changes are."""
    check: dict[str, Any] = {"check": "end_state"}
    for change in changes:
        one: dict[str, Any] = {"type": change.type, "key": change.key}
        match change.what:
            case "created":
                one |= {"key": {"equals": change.key}}
                one |= {"properties": {k: {"equals": v} for k, v in change.new.items()}}
            case "changed":
                asked = {"absent": True} if change.new_absent else {"equals": change.new}
                one |= {"properties": {change.property: asked}}
            case "linked" | "unlinked":
                one = {"type": change.type, "from": change.key, "to": change.to}
            case "deleted":
                pass
        check.setdefault(change.what, []).append(one)
    return check


def distinct(changes: list[Change]) -> list[Change]:
    """A real difference says one thing of one place."""
    return list({(c.what, c.type, c.key, c.property, c.to): c for c in changes}.values())


differences = st.lists(changes, max_size=5).map(distinct)


@given(differences)
def test_an_end_state_that_says_exactly_what_changed_passes(happened):
    assert graded(expecting(happened), happened)[0] is Status.PASSED


@given(differences, changes)
def test_adding_an_unrelated_change_always_fails_a_strict_end_state(happened, further):
    unrelated = further.model_copy(update={"type": "z"})

    assert graded(expecting(happened), [*happened, unrelated])[0] is Status.FAILED


@given(differences, st.data())
def test_leaving_out_an_expected_change_always_fails(happened, data):
    if happened:
        left_out = data.draw(st.sampled_from(happened))
        rest = [change for change in happened if change is not left_out]

        assert graded(expecting(happened), rest)[0] is Status.FAILED


@given(end_states, differences, st.lists(paths, max_size=2))
def test_ignoring_more_never_turns_a_pass_into_a_fail(check, happened, more):
    before, _ = graded(check, happened)
    after, _ = graded({**check, "ignore": [*check.get("ignore", ()), *more]}, happened)

    assert (before, after) != (Status.PASSED, Status.FAILED)


@given(end_states, differences, st.data())
def test_normalizing_more_never_turns_a_pass_into_a_fail(check, happened, data):
    """As long as nothing is asked to be different, which normalizing more can only make less true."""
    more = data.draw(st.dictionaries(paths, normalizations, max_size=2))
    before, _ = graded(check, happened)
    after, _ = graded({**check, "normalize": {**check.get("normalize", {}), **more}}, happened)

    kept = all(more.get(path, how) == how for path, how in check.get("normalize", {}).items())
    assert not kept or (before, after) != (Status.PASSED, Status.FAILED)


@given(differences, st.lists(expected_changes, min_size=1, max_size=2))
def test_another_right_end_state_never_turns_a_pass_into_a_fail(happened, others):
    alternatives = [{k: v for k, v in expecting(happened).items() if k != "check"}, *others]

    for order in (alternatives, alternatives[::-1]):
        assert graded({"check": "end_state", "any_of": order}, happened)[0] is Status.PASSED


@given(values, values, normalizations)
def test_values_are_alike_exactly_when_nothing_differs_that_matters(a, b, how):
    lens = Lens.of("t", {"t": Normalization.model_validate(how)})

    assert lens.alike(a, a)
    assert lens.alike(a, b) == lens.alike(b, a)
    assert lens.alike(a, b) is not any(lens.differing(a, b))
    assert same(a, b) <= lens.alike(a, b)
    assert Lens().alike(a, b) == same(a, b)


@given(differences, st.permutations(["r-1", "r-2", "r-3"]))
def test_generated_ids_may_be_any_as_long_as_they_are_the_same_everywhere(happened, ids):
    """Expectations that name each new key once hold for every renaming of the keys."""
    made = [
        Change(what="created", type="refund", key=id, new={"for": f"o-{n}"})
        for n, id in enumerate(ids)
    ]
    links = [Change(what="linked", type="of", key=id, to=f"o-{n}") for n, id in enumerate(ids)]
    check = expecting(happened)
    check.setdefault("created", []).extend(
        {"type": "refund", "key": {"bind": f"n{n}"}, "properties": {"for": f"o-{n}"}}
        for n in range(3)
    )
    check.setdefault("linked", []).extend(
        {"type": "of", "from": {"bind": f"n{n}"}, "to": f"o-{n}"} for n in range(3)
    )
    crossed = [links[0].model_copy(update={"key": ids[1]}), *links[1:]]

    assert graded(check, [*happened, *made, *links])[0] is Status.PASSED
    assert graded(check, [*happened, *made, *crossed])[0] is Status.FAILED


@given(end_states, differences)
def test_allowing_others_never_turns_a_pass_into_a_fail(check, happened):
    loose = {**check, "others": "allowed"}
    try:
        EndState.model_validate(loose)
    except ValidationError:  # it could not fail
        return
    before, _ = graded(check, happened)
    after, _ = graded(loose, happened)

    assert (before, after) != (Status.PASSED, Status.FAILED)


@given(end_states, differences, st.randoms(use_true_random=False))
def test_the_order_of_changes_decides_nothing(check, happened, random: random.Random):
    shuffled = list(happened)
    random.shuffle(shuffled)

    assert graded(check, happened) == graded(check, shuffled)


@given(st.lists(st.lists(st.integers(0, 4), unique=True, max_size=4), max_size=4))
def test_a_matching_is_as_large_as_the_best_of_all_permutations(options):
    given_columns = assign(options)
    taken = [column for column in given_columns if column is not None]
    free = [*range(5), *[-1] * len(options)]
    best = max(
        sum(column in row for column, row in zip(order, options, strict=False))
        for order in permutations(free, len(options))
    )

    assert len(taken) == len(set(taken)) == best
    assert all(c is None or c in row for c, row in zip(given_columns, options, strict=True))


@given(values, values)
def test_nothing_differs_inside_equal_values_and_something_inside_others(old, new):
    assert (list(leaves(old, new)) == []) is same(old, new)
    assert list(leaves(old, old)) == []
    for leaf in leaves(old, new):
        assert (leaf.old is MISSING) + (leaf.new is MISSING) < 2


turns = st.integers(0, 4)
events = st.one_of(
    st.builds(Said, turn=turns, text=texts),
    st.builds(Replied, turn=turns, text=texts),
    st.builds(Noted, turn=turns, text=texts),
    st.builds(Listed, turn=turns, server=texts, tools=st.just(("a",))),
    st.builds(
        Called,
        turn=turns,
        number=st.integers(1, 9),
        server=words,
        tool=words | texts,
        arguments=mappings | st.dictionaries(texts, values, max_size=2),
        answer=st.builds(Answer.of_text, texts, is_error=st.booleans(), structured=values),
        answered_by=st.sampled_from(["world", "mock", "server", "gateway"]),
        refused=st.none() | texts,
        read_only=st.none() | st.booleans(),
        changed=st.booleans(),
        destructive=st.none() | st.booleans(),
        misfits=st.sampled_from([None, (), ("a is required",)]),
        at_ms=st.integers(0, 5),
        took_ms=st.integers(0, 5),
    ),
)
traces = st.builds(
    Trace,
    case=st.just("c"),
    arm=st.just("a"),
    number=st.just(1),
    events=st.lists(events, max_size=6).map(tuple),
    changes=st.none() | st.lists(hostile_changes, max_size=4).map(tuple),
    ended=st.sampled_from(["completed", "call_limit", "step_limit", "broken"]),
)
steps = words | st.one_of(
    st.fixed_dictionaries({"tool": words, "arguments": properties}),
    st.fixed_dictionaries({"any_of": st.lists(words, min_size=1, max_size=2)}),
)
which = st.sampled_from(["last", "any", 1, 2])


def kind(name: str, required: dict[str, Any] | None = None, **optional: Any) -> Any:
    return st.fixed_dictionaries({"check": st.just(name), **(required or {})}, optional=optional)


objects: dict[str, Any] = {
    "properties": properties,
    "key": conditions,
    "created_during_trial": st.booleans(),
    "linked": st.lists(st.fixed_dictionaries({"type": words, "to": words}), max_size=1),
}
some_checks = st.one_of(
    end_states,
    kind("no_violation"),
    kind(
        "tool_called",
        {"tool": words | st.just("a/b"), "arguments": properties},
        times=conditions,
        attempted=st.booleans(),
    ),
    kind("tool_not_called", {"tool": words, "arguments": properties}),
    kind("tool_order", {"tools": st.lists(words, min_size=2, max_size=4)}),
    kind(
        "tool_arguments",
        {
            "tool": words,
            "arguments": st.dictionaries(paths, conditions, min_size=1, max_size=2),
            "which": st.sampled_from(["every", "any", "first", "last"]),
        },
    ),
    kind(
        "sequence",
        {"calls": st.lists(steps, min_size=1, max_size=4)},
        order=st.sampled_from(["strict", "in_order", "any_order"]),
    ),
    kind("any_of", {"calls": st.lists(words, min_size=2, max_size=3)}),
    kind("at_most", {"times": st.integers(1, 3)}, tool=words, arguments=properties),
    kind("at_least", {"times": st.integers(1, 3)}, tool=words, arguments=properties),
    kind("no_write_before", {"call": steps}, attempted=st.booleans()),
    kind("arguments_valid", tool=words),
    kind("skill_used", {"skill": words}),
    kind("skill_not_used", {"skill": words}),
    kind("object_exists", {"type": words}, count=conditions, **objects),
    kind("object_absent", {"type": words}, **objects),
    kind(
        "claimed_without_change",
        says=st.lists(words, max_size=2),
        types=st.lists(words, max_size=2),
    ),
    kind(
        "asks_back", where=st.sampled_from(["end", "anywhere"]), ignore=st.lists(words, max_size=1)
    ),
    st.fixed_dictionaries(
        {
            "check": st.sampled_from(["reply_contains", "reply_not_contains"]),
            "text": words,
            "turn": which,
            "ignore_case": st.booleans(),
        }
    ),
    kind("reply_matches", {"pattern": st.sampled_from(["a+", "^b$", "(a|b)c"])}, turn=which),
    kind("reply_number", {"value": st.integers(0, 3)}, unit=words, turn=which),
    kind("reply_schema", {"schema": st.just({"type": "object"})}, turn=which),
    kind("python", {"function": st.sampled_from(["m:answers", "m:breaks", "m:absent"])}),
)


def breaks(trace: Trace) -> object:
    raise LookupError(trace.case)


background = Background(
    start=lambda types: state_from_json({"a": {"b": {"a": 1}}, "c": {}}, [("a", "b", "c")]),
    functions={"m:answers": lambda trace: ("passed", "fine"), "m:breaks": breaks},
    skills={"a": "b"},
)


@given(st.lists(some_checks, min_size=1, max_size=4), traces)
def test_findings_never_raise_and_always_say_something(asked, trace):
    case = bike_shop.case("any", checks=asked)

    findings = checks.grade(case, trace, background)
    verdict, cause, detail = checks.verdict(findings, trace)

    assert [f.path for f in findings[: len(asked)]] == [f"checks[{i}]" for i in range(len(asked))]
    assert all(f.reason and f.reason.isprintable() for f in findings)
    assert all(f.cause is None or f.status is Status.SKIPPED for f in findings)
    assert (cause is not None) == (verdict is Verdict.INVALID)
    assert (verdict is Verdict.PASSED) == (detail == "")


@given(some_checks, traces)
def test_a_trace_read_back_from_disk_is_graded_alike(asked, trace):
    case = bike_shop.case("any", checks=[asked])

    again = Trace.model_validate_json(trace.model_dump_json())

    assert checks.grade(case, again, background) == checks.grade(case, trace, background)
