"""What is doubtful in right documents is told at its place, as a warning."""

import datetime as dt

from tests import harbour

from seatrial import loading
from seatrial.errors import Problem
from seatrial.loading.advice import doubts

TODAY = dt.date(2026, 4, 1)


def warned(changes: dict[str, str] | None = None, stale_after: int = 365) -> list[Problem]:
    return list(doubts(loading.load(harbour.contents(changes)), TODAY, stale_after))


def said(changes: dict[str, str] | None = None, stale_after: int = 365) -> list[str]:
    return [f"{p.code} {p.path}:{p.line}" for p in warned(changes, stale_after)]


def test_of_documents_in_which_nothing_is_doubtful_nothing_is_said():
    assert said() == []


def test_a_required_case_that_no_suite_runs_is_told():
    suite = harbour.SUITE.replace("  - take-a-berth\n", "")
    case = harbour.CASE if "required: true" in harbour.CASE else harbour.CASE.replace(
        "group: task\n", "group: task\nrequired: true\n"
    )  # fmt: skip

    assert said({"suites/all.yaml": suite, "cases/take.yaml": case}) == [
        "in-no-suite cases/take.yaml:2"
    ]


def test_a_case_whose_agent_has_no_arm_is_told():
    case = harbour.CASE.replace("agent: harbour-desk", "agent: harbor-desk")

    (nobodys,) = warned({"cases/take.yaml": case})

    assert (nobodys.code, nobodys.path) == ("no-arm", "cases/take.yaml")
    assert nobodys.message == (
        "no arm is of agent `harbor-desk`, so that nothing runs the case; did you mean `harbour-desk`?"
    )


def test_a_review_is_stale_after_so_many_days_and_none_lies_ahead():
    def on(day: str) -> dict[str, str]:
        return {"cases/take.yaml": f"{harbour.CASE}reviewed: {day}\n"}

    assert said(on("2025-04-01")) == []
    assert [p.message for p in warned(on("2025-03-31"))] == [
        "the case was last reviewed 366 days ago, more than 365"
    ]
    assert [p.code for p in warned(on("2026-03-01"), stale_after=30)] == ["review-stale"]
    assert [p.message for p in warned(on("2026-04-03"))] == ["`reviewed` lies 2 days ahead"]


def test_a_fixture_that_nothing_uses_is_told():
    spare = harbour.ANSWERS.replace("id: storm", "id: spare")

    assert said({"fixtures/spare.yaml": spare}) == ["unused-fixture fixtures/spare.yaml:3"]


def test_a_suite_of_five_and_more_has_a_share_of_negative_cases():
    def suite_of(count: int, negative: int) -> dict[str, str]:
        cases = [
            harbour.CASE.replace("id: take-a-berth", f"id: take-{n}")
            + ("negative: true\n" if n < negative else "")
            for n in range(count)
        ]
        listed = "\n".join(f"  - take-{n}" for n in range(count))
        return {
            "cases/take.yaml": "---\n".join([*cases, harbour.CASE]),
            "suites/all.yaml": f"kind: suite\nid: all\ncases:\n{listed}\n  - take-a-berth\n",
        }

    assert said(suite_of(3, 0)) == []
    (few,) = [p for p in warned(suite_of(9, 1)) if p.code == "few-negative"]
    assert few.message == "1 of 10 cases are negative (10%), less than 20%"
    assert few.path == "suites/all.yaml"
    assert said(suite_of(9, 2)) == []


def test_a_change_to_what_is_so_at_the_start_can_never_come_about():
    case = """\
kind: case
id: take-a-berth
title: A berth
group: task
agent: harbour-desk
world: harbour
role: clerk
task: A berth, please.
checks:
  - check: end_state
    changed:
      - {type: berth, key: b-2, properties: {state: STATE}}
"""

    assert said({"cases/take.yaml": case.replace("STATE", "taken")}) == [
        "already-so cases/take.yaml:12"
    ]
    for other in ("free", "{bind: state}", '"{{run}}"', "{not_equals: taken}"):
        assert said({"cases/take.yaml": case.replace("STATE", other)}) == [], other


def test_checks_that_an_idle_agent_skips_all_together_are_told():
    def checks(text: str) -> dict[str, str]:
        head = harbour.CASE[: harbour.CASE.index("checks:\n")]
        return {"cases/take.yaml": f"{head}checks:\n{text}"}

    alone = "  - {check: tool_arguments, tool: take_berth, arguments: {berth_id: b-1}}\n"

    assert [p.code for p in warned(checks(alone))] == ["all-skippable"]
    assert said(checks(alone + "  - {check: tool_called, tool: take_berth}\n")) == []
    # A warning is graded, and never makes a trial one that passed or failed.
    weak = "  - {check: tool_called, tool: take_berth, severity: warning}\n"
    assert [p.code for p in warned(checks(alone + weak))] == ["all-skippable"]


def test_a_warning_says_that_it_is_one():
    (warning,) = warned({"fixtures/spare.yaml": harbour.ANSWERS.replace("storm", "spare")})

    assert warning.render().startswith("fixtures/spare.yaml:3:5: warning: nothing uses fixture")


def checked(text: str, **changes: str) -> dict[str, str]:
    """The case that takes a berth, with these checks."""
    head = harbour.CASE[: harbour.CASE.index("checks:\n")]
    for old, new in changes.items():
        head = head.replace(f"{old}:", f"{new}\n{old}:", 1)
    return {"cases/take.yaml": f"{head}checks:\n{text}"}


MOORED = {
    "fixtures/harbour.yaml": harbour.WORLD.replace(
        "roles:\n", "linked:\n  - {type: moored, from: gull, to: b-2}\nroles:\n", 1
    )
}


def test_links_and_objects_that_are_there_already_are_no_change():
    end = "  - check: end_state\n    {}\n"

    def told(part: str) -> list[str]:
        return [p.message for p in warned(MOORED | checked(end.format(part)))]

    assert told("linked: [{type: moored, from: gull, to: b-2}]") == [
        "link moored from `gull` to `b-2` is there at the start already"
    ]
    assert told("linked: [{type: moored, from: gull, to: b-1}]") == []
    assert told("unlinked: [{type: moored, from: gull, to: b-1}]") == [
        "link moored from `gull` to `b-1` is missing at the start already"
    ]
    assert told("unlinked: [{type: moored, from: gull, to: b-2}]") == []
    assert told("linked: [{type: moored, from: {bind: x}, to: b-2}]") == []
    assert told("created: [{type: boat, key: gull}]") == [
        "boat `gull` is there at the start already"
    ]
    assert told("created: [{type: boat, key: tern}]") == []


def test_a_case_that_asks_for_nothing_but_what_there_is_at_the_start_is_told():
    there = "  - {check: object_exists, type: berth, key: b-2, properties: {state: taken}}\n"
    gone = "  - {check: object_absent, type: boat, key: tern}\n"
    tied = "  - {check: object_exists, type: boat, linked: [{type: moored, to: b-2}]}\n"
    none = "  - {check: object_exists, type: boat, key: tern, count: 0}\n"

    def codes(text: str, **changes: str) -> list[str]:
        return [p.code for p in warned(MOORED | checked(text, **changes))]

    assert codes(there + gone + tied + none) == ["already-so"]
    assert codes(there + "  - {check: object_exists, type: boat, key: tern}\n") == []
    assert codes(there + "  - {check: object_absent, type: boat, key: gull}\n") == []
    assert codes(there + "  - {check: tool_called, tool: take_berth}\n") == []
    assert codes(there, tags="weak: It is asked about elsewhere.") == []
    assert codes(there.replace("key: b-2", 'key: "{{run}}"')) == []


def test_a_call_that_the_role_may_not_make_is_no_expectation():
    world = {"fixtures/harbour.yaml": harbour.WORLD.replace("[show_*, take_berth]", "[show_*]")}

    def told(text: str) -> list[str]:
        return [f"{p.code} {p.line}: {p.message}" for p in warned(world | checked(text))]

    forbidden = "  - {check: tool_not_called, tool: take_berth}\n"
    assert told("  - {check: tool_called, tool: take_berth}\n") == [
        "beyond-role 11: role 'clerk' may not call take_berth: it is not in roles.clerk.allow, so that the check "
        "never passes"
    ]
    for other in (
        "{check: tool_order, tools: [show_berth, harbour/take_berth]}",
        "{check: at_least, times: 1, tool: take_berth}",
        "{check: sequence, calls: [show_berth, {tool: take_berth}]}",
    ):
        assert [line[:11] for line in told(f"  - {other}\n")] == ["beyond-role"], other
    for fine in (
        "{check: tool_called, tool: take_berth, attempted: true}",
        "{check: tool_called, tool: take_berth, times: 0}",
        "{check: tool_called, tool: take_berth, severity: warning}",
        "{check: at_least, times: 1}",
    ):
        assert told(f"{forbidden}  - {fine}\n") == [], fine


def test_a_tool_of_a_server_that_only_some_arms_have_is_told():
    server = "kind: fixture\ntype: server\nid: post\ncommand: [post-server]\n"
    with_it = harbour.ARM.replace("id: released", "id: other") + "servers: [post]\n"
    text = checked("  - {check: tool_not_called, tool: post/send}\n")
    files = text | {"fixtures/post.yaml": server, "arms/other.yaml": with_it}

    (told,) = warned(files)

    assert (told.code, told.line) == ("not-every-arm", 11)
    assert told.message == "arm `released` has no server `post`, and cannot call `post/send`"
    case = {"cases/take.yaml": files["cases/take.yaml"] + "servers: [post]\n"}
    assert warned(files | case) == []


def test_a_case_of_skills_alone_is_told_where_an_arm_declares_none_of_them():
    skilled = harbour.ARM.replace("id: released", "id: other") + "skills: {mooring: show_berth}\n"
    text = checked("  - {check: skill_used, skill: mooring}\n")

    (told,) = warned(text | {"arms/other.yaml": skilled})

    assert told.code == "all-skippable"
    assert told.message.startswith("arm `released` declares no skill `mooring`")
