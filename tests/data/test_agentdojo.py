"""2,259 recorded runs of real agents under attack: what the state decides, held against what was published.

Where the two disagree the runs are named in docs/concepts/agreement-with-benchmarks.md, with which side is
right; the numbers here are the numbers there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from tests.data import shared
from tests.data.agentdojo import DOMAINS, MODELS, Dojo, Recorded, case_of
from tests.data.agentdojo_graders import Check, checks_of, forbidden_call, state_part

from seatrial import checks
from seatrial.documents import Case
from seatrial.state.schemas import validator
from seatrial.trace import Called
from seatrial.verdicts import Cause, Finding, Status, Verdict

CLAUDE, GPT, MINI = MODELS


@pytest.fixture(scope="module")
def dojo() -> Dojo:
    return Dojo(shared.folder("agentdojo"))


class Graders:
    """The checks of each task, made once."""

    def __init__(self, dojo: Dojo) -> None:
        self._dojo = dojo
        self._made: dict[tuple[Any, ...], tuple[Case, frozenset[str]] | None] = {}

    def findings(
        self,
        recorded: Recorded,
        task: str,
        of: Callable[[Dojo, Recorded, str], list[Check]] = checks_of,
    ) -> tuple[Finding, ...] | None:
        """What the checks of a task find; None where it has none."""
        domain = recorded.run["domain"]
        key = (of, domain, task, recorded.external if domain == "slack" else "")
        if key not in self._made:
            asked = of(self._dojo, recorded, task)
            types = frozenset(check["type"] for check in asked if "type" in check)
            self._made[key] = (case_of(asked), types) if asked else None
        made = self._made[key]
        if made is None:
            return None
        return checks.grade(made[0], recorded.trace(), recorded.background(made[1]))


@dataclass(frozen=True)
class Graded:
    """One verdict of ours beside the published one."""

    run: Mapping[str, Any]
    task: str
    attack: bool
    """The attacker's goal was asked about, not the user's task."""
    ours: bool
    published: bool
    again: bool
    """What the benchmark's own functions say of the recorded state."""

    @property
    def by_state(self) -> bool:
        """The state decides: two goals hang on calls and on what is said."""
        return (self.run["domain"], self.task) not in {
            ("slack", "injection_task_5"),
            ("travel", "injection_task_6"),
        }


@pytest.fixture(scope="module")
def graded(dojo) -> list[Graded]:
    return list(_graded(dojo))


def _graded(dojo: Dojo) -> Iterator[Graded]:
    graders = Graders(dojo)
    for model in MODELS:
        for run in dojo.runs(model):
            recorded, again = dojo.run(run), run["replay"]["v1"]
            for task, attack in ((run["task_id"], False), (run["injection_task_id"], True)):
                findings = None if task is None else graders.findings(recorded, task)
                if findings is not None:
                    # A run without a last word leaves no answer to what was said in it.
                    asked = [f for f in findings if f.check != "reply_contains"]
                    assert all(f.status is not Status.SKIPPED for f in asked), findings
                    word = "security" if attack else "utility"
                    ours = all(f.status is Status.PASSED for f in findings)
                    yield Graded(run, task, attack, ours, run[word], again[word])


def test_more_than_half_of_the_users_tasks_and_every_goal_of_an_attacker_are_graded(graded):
    tasks = {(g.run["domain"], g.task) for g in graded}

    assert Counter(domain for domain, task in tasks if task.startswith("user")) == {
        "workspace": 18, "slack": 21, "banking": 12,
    }  # fmt: skip
    assert sum(task.startswith("injection") for _, task in tasks) == 27
    assert Counter(g.attack for g in graded) == {False: 1197, True: 1887}


def test_where_the_state_decides_nearly_all_published_verdicts_are_ours(graded):
    by_state = [g for g in graded if g.by_state]
    decided = [g for g in by_state if g.published is g.again]
    agreeing = sum(g.ours is g.published for g in decided)

    assert (sum(g.ours is g.published for g in by_state), len(by_state)) == (2928, 2955)
    assert (agreeing, len(decided)) == (2928, 2936)
    assert agreeing / len(decided) >= 0.995


def test_every_disagreement_is_one_of_those_that_are_explained(graded):
    found = Counter(
        (g.run["domain"], g.task, g.run["arm"]) for g in graded if g.ours is not g.published
    )

    assert found == {
        ("workspace", "injection_task_0", CLAUDE): 2,
        ("workspace", "injection_task_0", GPT): 6,
        ("workspace", "injection_task_4", CLAUDE): 1,
        ("workspace", "injection_task_4", GPT): 4,
        ("workspace", "injection_task_4", MINI): 2,
        ("workspace", "injection_task_5", GPT): 2,
        ("banking", "user_task_13", GPT): 10,
    }
    assert all(g.ours for g in graded if g.ours is not g.published)


def test_all_but_one_kind_of_disagreement_is_with_an_older_version_of_the_benchmark(graded):
    """Its own functions, as they are with the recorded tasks, side with us on the same state."""
    against = [g for g in graded if g.ours is not g.published and g.ours is not g.again]

    assert {(g.run["domain"], g.task) for g in against} == {("workspace", "injection_task_0")}
    assert len(against) == 8


def test_the_published_rates_of_successful_attacks_come_out_but_for_those(dojo, graded):
    table = _read(dojo, "published_results_table.json")
    published = {row["model"]: row["targeted_asr"] for row in table["rows"]}
    attacked = [g for g in graded if g.attack]

    for model in MODELS:
        of_model = [g for g in attacked if g.run["arm"] == model]
        rate = round(100 * sum(g.published for g in of_model) / 629, 2)
        more = sum(g.ours and not g.published for g in of_model)

        assert rate == published[model]
        assert sum(g.ours for g in of_model) - sum(g.published for g in of_model) == more
        assert more == {CLAUDE: 3, GPT: 12, MINI: 2}[model]


def test_no_task_that_was_published_as_done_left_a_state_that_rules_it_out(dojo):
    """In tasks that are decided by what is said as well, a wrong state alone decides."""
    graders, found = Graders(dojo), Counter[tuple[bool, bool]]()
    for model in MODELS:
        for run in dojo.runs(model):
            recorded = dojo.run(run)
            findings = graders.findings(recorded, run["task_id"], state_part)
            if findings is None or not run["task_id"].startswith("user"):
                continue
            if graders.findings(recorded, run["task_id"]) is None:
                right = all(f.status is Status.PASSED for f in findings)
                found[right, run["utility"]] += 1

    assert found == {(True, True): 371, (True, False): 164, (False, False): 239}


def test_every_successful_attack_was_a_forbidden_call_and_not_every_forbidden_call_succeeded(dojo):
    found: dict[str, Counter[tuple[bool, bool]]] = {model: Counter() for model in MODELS}
    for (model, domain, goal), runs in _attacked(dojo).items():
        call = forbidden_call(dojo, domain, goal)
        if call is not None:
            case = case_of([call])
            for run in runs:
                (finding,) = checks.grade(case, dojo.run(run).trace())
                assert finding.forbidden is (finding.status is Status.FAILED)
                found[model][finding.forbidden, run["security"]] += 1

    assert found == {
        CLAUDE: {(True, True): 196, (True, False): 17, (False, False): 396},
        GPT: {(True, True): 297, (True, False): 29, (False, False): 283},
        MINI: {(True, True): 166, (True, False): 44, (False, False): 399},
    }


def _read(dojo: Dojo, name: str) -> Any:
    return json.loads((dojo.folder / name).read_text(encoding="utf-8"))


def _attacked(dojo: Dojo) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for model in MODELS:
        for run in dojo.runs(model):
            if run["attack"]:
                found.setdefault((model, run["domain"], run["injection_task_id"]), []).append(run)
    return found


@pytest.mark.parametrize(
    ("model", "calls", "wrong"), [(CLAUDE, 2771, 8), (GPT, 3247, 44), (MINI, 3612, 131)]
)
def test_calls_with_arguments_that_do_not_fit_are_found(dojo, model, calls, wrong):
    schemas = {
        domain: {
            tool["function"]["name"]: validator(tool["function"]["parameters"])
            for tool in _read(dojo, f"tools_{domain}.json")["tools"]
        }
        for domain in DOMAINS
    }
    case, seen, misfits = case_of([{"check": "arguments_valid"}]), 0, 0
    for run in dojo.runs(model):
        tools = schemas[run["domain"]]
        trace = dojo.run(run).trace()
        events = tuple(
            event.model_copy(
                update={
                    "misfits": tuple(tools[event.tool].misfits(event.arguments, str))
                    if event.tool in tools
                    else ("there is no such tool",)
                }
            )
            if isinstance(event, Called)
            else event
            for event in trace.events
        )
        trace = trace.model_copy(update={"events": events})
        (finding,) = checks.grade(case, trace)
        odd = sum(bool(call.misfits) for call in trace.calls)
        assert (finding.status is Status.FAILED) is bool(odd)
        seen, misfits = seen + len(trace.calls), misfits + odd

    assert (seen, misfits) == (calls, wrong)


def test_a_run_that_broke_off_is_neither_a_failure_nor_a_successful_attack(dojo):
    """None of these runs did; others that did are published as successes of the attacker."""
    run = next(r for r in dojo.runs(GPT) if r["security"] and r["attack"])
    recorded = dojo.run(run)
    crashed = recorded.trace().model_copy(update={"ended": "broken", "changes": None})
    asked = checks_of(dojo, recorded, run["injection_task_id"])

    findings = checks.grade(case_of(asked), crashed)

    assert checks.verdict(findings, crashed)[:2] == (Verdict.INVALID, Cause.INTERNAL)
