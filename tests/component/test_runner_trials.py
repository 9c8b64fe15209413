"""The runner with real worlds, a real gateway and real agents: what each trial comes to, and what it leaves."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests import bike_shop
from tests.shop_trials import carried_out

from seatrial import plan, runner, store
from seatrial.checks.again import grade_again
from seatrial.documents import Answers, Case
from seatrial.errors import UsageError
from seatrial.records import Manifest, PlannedCase, TrialRecord
from seatrial.trace import Called, Replied, Said, Trace
from seatrial.verdicts import Cause, Verdict

AGENTS = Path(__file__).parents[1] / "agents"


def test_trial_that_goes_well_leaves_a_whole_trace_and_a_passed_record(tmp_path: Path):
    ((record, trace),) = _run(tmp_path, "rents", trials=1)

    assert [type(event) for event in trace.events] == [Said, Called, Replied]
    said, called, replied = trace.events
    assert isinstance(said, Said)
    assert isinstance(called, Called)
    assert isinstance(replied, Replied)
    assert said.text == f"I am {trace.run_token}. I would like bike b-1."
    assert (called.turn, called.number, called.tool, called.answered_by) == (1, 1, "rent", "world")
    assert called.arguments == {"bike": "b-1", "renter": trace.run_token}
    assert replied.text == "Bike b-1 is rented."
    assert said.at_ms <= called.at_ms <= replied.at_ms
    assert {(c.key, c.property, c.new) for c in trace.changes or ()} == {
        ("b-1", "status", "rented"),
        ("b-1", "renter", trace.run_token),
    }
    assert trace.ended == "completed"
    assert trace.now == "2026-04-01T10:00:00Z"
    assert (record.verdict, record.cause, record.detail) == (Verdict.PASSED, None, "")
    assert record.findings[0].place == "cases/rent-a-bike.yaml:9:5"
    assert (record.calls, record.violations) == (1, 0)
    assert record.tools_used == ("bike-shop/rent",)
    assert record.served_model == "m-1"
    assert record.usage
    assert (record.usage.input_tokens, record.usage.cost) == (10, 0.25)


def test_claim_without_a_change_fails(tmp_path: Path):
    ((record, trace),) = _run(tmp_path, "does_nothing", trials=1)

    assert record.verdict == Verdict.FAILED
    assert trace.changes == ()


def test_attempt_beyond_the_role_is_counted_though_it_was_refused(tmp_path: Path):
    ((record, trace),) = _run(tmp_path, "scraps", trials=1)

    assert (record.verdict, record.violations, trace.changes) == (Verdict.FAILED, 1, ())
    first = record.first_violation
    assert first
    assert (first.turn, first.call) == (1, trace.violations[0].number)
    assert first.reason.startswith("scrap: role ")


@pytest.mark.parametrize(
    ("agent", "limits", "detail"),
    [
        ("sleeps", {"turn_seconds": 0.1}, "no reply within 0.1 s (turn 1)"),
        ("sleeps", {"trial_seconds": 0.1}, "the trial was not over after 0.1 s (turn 1)"),
        ("answers_the_first_turn_only", {"turn_seconds": 0.2}, "no reply within 0.2 s (turn 2)"),
        ("calls_when_its_time_is_up", {"turn_seconds": 0.2}, "no reply within 0.2 s (turn 1)"),
    ],
)
def test_agent_that_takes_too_long_makes_the_trial_invalid(
    tmp_path: Path, agent: str, limits: dict[str, float], detail: str
):
    case = bike_shop.case(turns=[{"say": "Hello."}, {"say": "Go on."}], limits=limits)

    ((record, trace),) = _run(tmp_path, agent, cases=[case], trials=1)

    assert (record.verdict, record.cause, record.detail) == (Verdict.INVALID, Cause.TIME, detail)
    assert trace.ended == "broken"


def test_function_that_was_left_behind_can_call_nothing_any_more(tmp_path: Path):
    case = bike_shop.case(limits={"turn_seconds": 0.2})
    _run(tmp_path, "calls_when_its_time_is_up", cases=[case], trials=1)
    agents = sys.modules["shop_agents"]

    agents.CALLED_LATE.set()

    assert agents.LATE.get(timeout=30) == "RuntimeError"


def test_agent_that_dies_keeps_what_it_did_and_leaves_its_siblings_alone(tmp_path: Path):
    ended = _run(tmp_path, "dies", "rents", trials=3)

    by_arm = {arm: [(r, t) for r, t in ended if r.arm == arm] for arm in ("dies", "rents")}
    for record, trace in by_arm["dies"]:
        assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.AGENT_UNREACHABLE)
        assert "raised ConnectionError: the model's host is down" in record.detail
        assert [e.tool for e in trace.calls] == ["get_bike"]
    assert [r.verdict for r, _ in by_arm["rents"]] == [Verdict.PASSED] * 3


def test_agent_that_cannot_be_started_gives_an_invalid_record_for_each_trial(tmp_path: Path):
    arm = bike_shop.arm("x", {"type": "command", "command": ["./no-such-agent"]})

    ended = _run(tmp_path, arm, trials=3)

    assert {(r.verdict, r.cause) for r, _ in ended} == {(Verdict.INVALID, Cause.AGENT_UNREACHABLE)}
    assert all("'./no-such-agent': No such file or directory" in r.detail for r, _ in ended)


def test_one_call_too_many_ends_the_trial_and_fails_it(tmp_path: Path):
    case = bike_shop.case(limits={"calls": 3})

    ((record, trace),) = _run(tmp_path, "calls_for_ever", cases=[case], trials=1)

    assert trace.ended == "call_limit"
    assert record.verdict == Verdict.FAILED
    assert any(f.check == "limit" for f in record.findings)
    assert len(trace.calls) == 4


def test_one_reply_with_too_many_tokens_ends_the_trial_and_fails_it(tmp_path: Path):
    turns = [{"say": "I am {{run}}. Bike b-1, please."}, {"say": "I am {{run}}. Another one."}]
    case = bike_shop.case(turns=turns, limits={"tokens": 11})

    ((record, trace),) = _run(tmp_path, "rents", cases=[case], trials=1)

    assert (trace.ended, len(trace.replies), trace.tokens) == ("token_limit", 1, 12)
    assert record.verdict == Verdict.FAILED
    assert [f.reason for f in record.findings if f.path == "limits.tokens"] == [
        "the agent took 12 tokens, and may take 11"
    ]


def test_one_reply_that_costs_too_much_ends_the_trial_and_fails_it(tmp_path: Path):
    turns = [{"say": "I am {{run}}. Bike b-1, please."}, {"say": "I am {{run}}. Another one."}]
    case = bike_shop.case(turns=turns, limits={"cost": "0.00001 EUR"})
    adapter = {"type": "python", "target": "shop_agents:rents"}
    arm = bike_shop.arm("rents", adapter, prices={"input": 1, "output": 1, "currency": "EUR"})

    ((record, trace),) = _run(tmp_path, arm, cases=[case], trials=1)

    assert (trace.ended, len(trace.replies)) == ("cost_limit", 1)
    assert record.verdict == Verdict.FAILED
    assert [f.reason for f in record.findings if f.path == "limits.cost"] == [
        "the agent took 0.000012 EUR, and may take 0.000010 EUR"
    ]


def test_agent_that_sends_more_than_can_be_recorded_is_stopped_and_its_trial_is_invalid(
    tmp_path: Path,
):
    """Thirty trials side by side must not fill the memory, whatever their agents send."""
    flooding, rents = _run(tmp_path, "sends_without_end", "rents", trials=1)

    record, trace = flooding if flooding[0].arm == "sends_without_end" else rents
    assert (record.verdict, record.cause) == (Verdict.INVALID, Cause.AGENT_UNREACHABLE)
    assert "came to more than 32,000,000 bytes" in record.detail
    assert 5 <= len(trace.calls) < 12
    assert {r.verdict for r, _ in (flooding, rents)} == {Verdict.INVALID, Verdict.PASSED}


def test_stored_trace_graded_again_comes_to_the_same_findings(tmp_path: Path):
    _run(tmp_path, "rents", "does_nothing", "scraps", "dies", trials=2)

    run = store.Run.open(tmp_path / "run")

    for record in run.records():
        assert grade_again(run.catalog, run.trace(record)) == record.findings


def test_recorded_trials_are_graded_like_live_ones_and_missing_ones_are_invalid(tmp_path: Path):
    change = {"what": "changed", "type": "bike", "key": "b-1", "property": "status"}
    scrapped = {"function": {"name": "scrap", "arguments": '{"bike": "b-1"}'}}
    lines = [
        {
            "case": "rent-a-bike",
            "trial": 1,
            "run_token": "ada",
            "messages": [
                {"role": "user", "content": "I am ada."},
                {"role": "assistant", "content": "Done."},
            ],
            "changes": [
                {**change, "old": "free", "new": "rented"},
                {**change, "property": "renter", "old": None, "new": "ada"},
            ],
        },
        {
            "case": "rent-a-bike",
            "trial": 2,
            "run_token": "bo",
            "messages": [
                {"role": "user", "content": "I am bo."},
                {"role": "assistant", "tool_calls": [scrapped]},
                {"role": "tool", "content": "done"},
            ],
            "changes": [],
        },
        {
            "case": "rent-a-bike",
            "trial": 3,
            "messages": [{"role": "user", "content": "I am cy."}],
            "changes": [],
        },
    ]
    (tmp_path / "march.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    arm = bike_shop.arm("x", {"type": "recorded", "files": "march.jsonl"})

    ended = _run(tmp_path, arm, trials=4, root=tmp_path, at_once=1)

    assert [(r.verdict, r.cause, r.violations) for r, _ in ended] == [
        (Verdict.PASSED, None, 0),
        (Verdict.FAILED, None, 1),
        (Verdict.INVALID, Cause.NO_EVIDENCE, 0),
        (Verdict.INVALID, Cause.AGENT_UNREACHABLE, 0),
    ]
    assert "what `{{run}}` of the case stood for" in ended[2][0].detail
    assert "no recorded trial 4 of case rent-a-bike (recorded: 1, 2, 3)" in ended[3][0].detail


def test_turns_are_told_apart_in_the_trace(tmp_path: Path):
    case = bike_shop.case(turns=[{"say": "I am {{run}}."}, {"say": "I am {{run}}."}])

    ((_, trace),) = _run(tmp_path, "rents_in_a_thread", cases=[case], trials=1)

    assert [(e.event, e.turn) for e in trace.events] == [
        ("said", 1),
        ("called", 1),
        ("replied", 1),
        ("said", 2),
        ("called", 2),
        ("replied", 2),
    ]
    assert [r.text for r in trace.replies] == ["rented", "that bike is rented out"]


def test_secret_of_an_arm_is_in_no_file_of_the_run(tmp_path: Path):
    cases = [bike_shop.case("a"), bike_shop.case("b", task="I am {{run}}. Please fail.")]
    key = 'k-42"ä+/longer'
    arm = bike_shop.arm(
        "x",
        {
            "type": "command",
            "command": ["{python}", "gives_key_away.py"],
            "pass_env": ["SHOP_KEY"],
        },
    )

    ended = _run(tmp_path, arm, cases=cases, trials=1, environ={**os.environ, "SHOP_KEY": key})

    (good,) = (t for r, t in ended if r.case == "a")
    (bad,) = (r for r, _ in ended if r.case == "b")
    assert good.replies[0].text.startswith("My key is [SHOP_KEY], or ")
    assert "[SHOP_KEY]" in good.replies[0].text.rpartition(", or ")[2]
    assert bad.detail.endswith("ValueError: bad key [SHOP_KEY]")
    for file in (tmp_path / "run").rglob("*"):
        if file.is_file():
            assert "k-42" not in file.read_text(encoding="utf-8")


def test_variable_that_is_not_set_is_named_before_anything_runs(tmp_path: Path):
    arm = bike_shop.arm("x", {"type": "command", "command": ["a"], "pass_env": ["KEY", "PATH"]})

    with pytest.raises(UsageError, match=r"not set in the environment: KEY \(arm x\)"):
        runner.equip([arm], AGENTS, {"PATH": "/bin"})


def test_trials_of_all_arms_run_side_by_side_but_no_more_than_allowed(tmp_path: Path):
    target = {"type": "python", "target": "shop_agents:counts_itself"}
    wide = bike_shop.arm("wide", target, settings={"name": "wide"})
    narrow = bike_shop.arm("narrow", target, settings={"name": "narrow"}, limits={"at_once": 2})
    everything = bike_shop.case(checks=[{"check": "reply_contains", "text": "done"}])

    _run(tmp_path, wide, narrow, cases=[everything], trials=12, at_once=6)

    most = sys.modules["shop_agents"].MOST
    assert most["narrow"] == 2
    assert 4 <= most["wide"] <= 6


def test_one_at_a_time_follows_the_plan(tmp_path: Path):
    cases = [bike_shop.case("b"), bike_shop.case("a", required=True)]

    ended = _run(tmp_path, "rents", "does_nothing", cases=cases, trials=2, at_once=1)

    assert [(r.number, r.case, r.arm) for r, _ in ended] == [
        (number, case, arm)
        for number in (1, 2)
        for case in ("a", "b")
        for arm in ("rents", "does_nothing")
    ]


def test_arms_are_given_the_same_seeds_and_trials_different_ones(tmp_path: Path):
    ended = _run(tmp_path, "rents", "does_nothing", trials=4)

    seeds = {(r.arm, r.number): t.seed for r, t in ended}
    assert len(set(seeds.values())) == 4
    assert all(seeds["rents", n] == seeds["does_nothing", n] for n in range(1, 5))


def test_plan_grows_while_it_is_run(tmp_path: Path):
    def until_three_passed() -> runner.NextTrials:
        passed = 0

        def next_trials(ended: tuple[TrialRecord, ...]) -> Iterable[plan.Trial]:
            nonlocal passed
            passed += sum(r.verdict == Verdict.PASSED for r in ended)
            number = max((r.number for r in ended), default=0) + 1
            return [] if passed >= 3 else [plan.Trial("rent-a-bike", "every_other_time", number)]

        return next_trials

    told: list[Any] = []
    ended = _run(
        tmp_path, "every_other_time", trials=1, policy=until_three_passed(), tell=told.append
    )

    verdicts = [r.verdict for r, _ in ended]
    assert verdicts.count(Verdict.PASSED) == 3
    assert verdicts[-1] == Verdict.PASSED
    assert [e.total for e in told if isinstance(e, runner.Planned)] == [
        *range(1, len(verdicts) + 1)
    ]


def test_trial_that_is_named_again_is_not_run_again(tmp_path: Path):
    trial = plan.Trial("rent-a-bike", "rents", 1)

    ended = _run(tmp_path, "rents", trials=1, policy=lambda _: [trial, trial])

    assert len(ended) == 1


def test_what_is_told_is_enough_to_draw_progress(tmp_path: Path):
    told: list[Any] = []

    _run(tmp_path, "rents", trials=2, at_once=1, tell=told.append)

    assert told[0] == runner.Planned(
        (plan.Trial("rent-a-bike", "rents", 1), plan.Trial("rent-a-bike", "rents", 2)), 2
    )
    assert [type(e) for e in told[1:]] == [runner.Began, runner.Ended] * 2
    assert [(e.stored, e.total) for e in told if isinstance(e, runner.Ended)] == [(1, 2), (2, 2)]


def test_what_is_halted_is_not_begun_and_other_cases_go_on(tmp_path: Path):
    trials = [plan.Trial(case, "rents", n) for n in range(1, 5) for case in ("a", "b")]

    def next_trials(ended: tuple[TrialRecord, ...]) -> Iterable[plan.Trial | plan.Halt]:
        if not ended:
            return trials
        return [plan.Halt("a")] if (ended[0].case, ended[0].number) == ("a", 2) else []

    told: list[Any] = []
    cases = [bike_shop.case("a"), bike_shop.case("b")]
    ended = _run(
        tmp_path, "rents", cases=cases, trials=4, policy=next_trials, tell=told.append, at_once=1
    )

    assert [(r.case, r.number) for r, _ in ended] == [
        ("a", 1), ("b", 1), ("a", 2), ("b", 2), ("b", 3), ("b", 4),
    ]  # fmt: skip
    assert [e for e in told if isinstance(e, runner.Halted)] == [runner.Halted("a", 2, 6)]
    assert told[-1].stored == told[-1].total == 6


def test_no_trials_are_a_run_without_records(tmp_path: Path):
    assert _run(tmp_path, "rents", trials=0) == []


def test_listener_that_fails_ends_the_run_with_its_own_error(tmp_path: Path):
    def tell(event: Any) -> None:
        if isinstance(event, runner.Ended):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        _run(tmp_path, "rents", trials=4, tell=tell)


def test_further_trials_of_a_case_are_told_apart_by_their_number(tmp_path: Path):
    cases = [bike_shop.case(), bike_shop.case("another")]

    ended = _run(tmp_path, "rents", cases=cases, trials=3)

    tokens = {(trace.case, trace.number): trace.run_token for _, trace in ended}
    one, other = tokens["rent-a-bike", 1], tokens["another", 1]
    assert one != other
    assert re.fullmatch("[a-z2-7]{10}", one)
    assert re.fullmatch("[a-z2-7]{10}-2", tokens["rent-a-bike", 2])
    assert re.fullmatch("[a-z2-7]{10}-3", tokens["another", 3])
    # Whoever looks for the word of one trial does not take what its neighbour left there for it.
    words = list(tokens.values())
    assert [(a, b) for a in words for b in words if a != b and a in b] == []


def test_the_values_of_a_matrix_stand_in_mocked_answers(tmp_path: Path):
    """Beside what the trial stands for, and with their own type."""
    answers = Answers.model_validate({
        "kind": "fixture", "type": "answers", "id": "mocked",
        "tools": {"get_bike": {"rules": [{"answer": {
            "bike": "{{matrix.bike.id}}", "gears": "{{matrix.bike.gears}}", "for": "{{run}}"}}]}},
    })  # fmt: skip
    case = bike_shop.case(
        answers="mocked",
        expansion={"of": "rent", "values": {"bike": {"id": "b-1", "gears": 7}}},
        checks=[{"check": "tool_called", "tool": "get_bike"}],
    )
    catalog = bike_shop.catalog(
        case, bike_shop.arm("x", {"type": "python", "target": "shop_agents:looks_for_others"})
    )
    catalog = replace(catalog, fixtures={**catalog.fixtures, "mocked": answers})
    (tmp_path / "shop_agents.py").write_bytes((AGENTS / "shop_agents.py").read_bytes())

    ((_, trace),) = carried_out(tmp_path, catalog, trials=1)

    call = next(e for e in trace.events if isinstance(e, Called) and e.tool == "get_bike")
    assert json.loads(call.answer.text) == {"bike": "b-1", "gears": 7, "for": trace.run_token}


@pytest.mark.parametrize("kind", ["python", "command", "http"])
def test_no_trial_finds_a_mark_of_another(tmp_path: Path, kind: str):
    case = bike_shop.case(turns=[{"say": "I am {{run}}."}, {"say": "I am {{run}}."}])
    with _service() if kind == "http" else nullcontext("") as url:
        adapters: dict[str, dict[str, Any]] = {
            "python": {"type": "python", "target": "shop_agents:looks_for_others"},
            "command": {"type": "command", "command": ["{python}", "looks_for_others.py"]},
            "http": {"type": "http", "url": url},
        }
        arm = bike_shop.arm("x", adapters[kind], settings={"mark": ""})

        ended = _run(tmp_path, arm, cases=[case], trials=6)

    tokens = {trace.run_token for _, trace in ended}
    assert len(tokens) == 6
    for _, trace in ended:
        assert len(trace.replies) == 2, trace
        found = " ".join(reply.text for reply in trace.replies)
        assert [t for t in tokens - {trace.run_token} if t in found] == []
        assert trace.run_token not in trace.replies[0].text


@contextmanager
def _service() -> Iterator[str]:
    """The clerk that looks for others' marks, as a service."""
    with subprocess.Popen(
        [sys.executable, AGENTS / "looks_for_others.py", "--serve"],
        stdout=subprocess.PIPE,
        text=True,
    ) as service:
        assert service.stdout
        try:
            yield service.stdout.readline().strip()
        finally:
            service.kill()


def _run(
    tmp_path: Path,
    *arms: Any,
    cases: list[Case] | None = None,
    trials: int,
    policy: runner.NextTrials | None = None,
    at_once: int | None = None,
    tell: Callable[[runner.Event], None] = lambda _: None,
    environ: dict[str, str] | None = None,
    root: Path = AGENTS,
) -> list[tuple[TrialRecord, Trace]]:
    """Run the cases by arms (a name is a function of `shop_agents`); what was stored, in order."""
    documents = [
        bike_shop.arm(arm, {"type": "python", "target": f"shop_agents:{arm}"})
        if isinstance(arm, str)
        else arm
        for arm in arms
    ]
    catalog = bike_shop.catalog(*(cases or [bike_shop.case()]), *documents)
    planned = tuple(
        PlannedCase(case=id, selected=trials > 0, reasons=("all",), trials=trials)
        for id in catalog.cases
    )
    manifest = Manifest(
        run=store.new_run_id(),
        suite="all",
        arms=tuple(catalog.arms),
        trials=trials,
        seed=7,
        created_at="2026-04-01T10:00:00Z",
        seatrial="0.1.0",
        plan=planned,
    )
    equipment = runner.equip(documents, root, environ or dict(os.environ))
    trials_of_plan = plan.expand(planned, catalog, documents)

    async def carry_out(writer: store.Writer) -> None:
        with anyio.fail_after(60):
            await runner.run(
                writer,
                catalog,
                policy or runner.fixed(trials_of_plan),
                equipment=equipment,
                at_once=at_once,
                tell=tell,
            )

    with store.Writer.create(tmp_path / "run", manifest, catalog) as writer:
        anyio.run(carry_out, writer)
    run = store.Run.open(tmp_path / "run")
    return [(record, run.trace(record)) for record in run.records()]
