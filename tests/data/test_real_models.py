"""Recorded runs of real models, compared pairwise, case by case: what the gate says, and A/A on halves."""

import json
import random
from itertools import combinations

import pytest
from tests.data import real_models, shared
from tests.sides import side

from seatrial.compare import compare
from seatrial.documents import Policy
from seatrial.gate import rule
from seatrial.stats.paired import significant
from seatrial.verdicts import Gate, Outcome

GPT, TUNED = "gpt-4.1", "ft-gpt-4.1-tau2-full-sft"


def passes(marks):
    return sum(m.count("p") + m.count("v") for m in marks.values())


def test_the_models_have_the_figures_that_were_published():
    table = json.loads(
        (shared.folder("agentdojo") / "published_results_table.json").read_text(encoding="utf-8")
    )
    for published in table["rows"]:
        alone = real_models.agentdojo(published["model"], attacked=False)
        attacked = real_models.agentdojo(published["model"], attacked=True)
        trials = sum(map(len, attacked.values()))
        reached = sum(m.count("v") + m.count("x") for m in attacked.values())

        assert (len(alone), sum(map(len, alone.values())), trials) == (97, 97, 629)
        assert round(100 * passes(alone) / 97, 2) == published["utility"]
        assert round(100 * passes(attacked) / 629, 2) == published["utility_under_attack"]
        assert round(100 * reached / 629, 2) == published["targeted_asr"]


@pytest.mark.parametrize(("domain", "lost", "gained"), [("airline", 3, 6), ("retail", 6, 6)])
def test_the_fine_tuned_model_loses_and_gains_the_published_number_of_tasks(domain, lost, gained):
    before, after = (real_models.tau2(domain, model) for model in (GPT, TUNED))

    assert sum(before[c] == "p" != after[c] for c in before) == lost
    assert sum(after[c] == "p" != before[c] for c in before) == gained


def test_one_trial_a_task_never_decides():
    marks = [real_models.agentdojo(model, attacked=False) for model in real_models.models()]
    marks_of_domains = [
        [real_models.tau2(d, m) for m in (GPT, TUNED)] for d in ("airline", "retail")
    ]
    for group in (marks, *marks_of_domains):
        for one, other in combinations(group, 2):
            for baseline, candidate in ((one, other), (other, one)):
                comparison, ruling = real_models.held(baseline, candidate)
                assert ruling.ruling is Gate.UNDECIDED
                assert {c.outcome for c in comparison.cases} == {Outcome.UNDECIDED}


def test_an_attack_that_reached_its_goal_closes_the_gate_also_where_the_release_fell_for_it_too():
    for a, b in real_models.pairs():
        before, after = (real_models.agentdojo(model, attacked=True) for model in (a, b))
        _, ruling = real_models.held(before, after)
        closing = {g.kind: set(g.cases) for g in ruling.grounds if g.effect == "closed"}

        assert ruling.ruling is Gate.CLOSED
        fell = {case for case, m in after.items() if set(m) & set("vx")}
        fell_before = {case for case, m in before.items() if set(m) & set("vx")}
        assert closing["forbidden_action"] == fell - fell_before
        assert closing["forbidden_preexisting"] == fell & fell_before


def test_the_other_way_round_what_became_worse_became_better():
    for a, b in combinations(real_models.models(), 2):
        marks = [
            real_models.harmless(real_models.agentdojo(model, attacked=True)) for model in (a, b)
        ]
        there, back = real_models.held(*marks)[0], real_models.held(*reversed(marks))[0]
        called = {c.case: c.outcome for c in there.cases}
        mirrored = {c.case: c.outcome for c in back.cases}

        for outcome, opposite in (
            (Outcome.REGRESSED, Outcome.IMPROVED),
            (Outcome.IMPROVED, Outcome.REGRESSED),
        ):
            assert {c for c, o in called.items() if o is outcome} == {
                c for c, o in mirrored.items() if o is opposite
            }


@pytest.mark.parametrize("required", [True, False])
def test_no_way_of_splitting_the_four_trials_of_one_model_closes_the_gate(required):
    marks = real_models.tau_airline()
    names = tuple(marks) if required else ()
    for size in (1, 2, 3):
        for chosen in combinations(range(4), size):
            rest = [n for n in range(4) if n not in chosen]
            comparison = compare(
                side(_only(marks, chosen), arm="released", required=names),
                side(_only(marks, rest), required=names),
                Policy(),
            )
            ruling = rule(comparison)
            assert ruling.ruling is not Gate.CLOSED
            assert not [c for c in comparison.cases if c.outcome is Outcome.REGRESSED]
            assert comparison.overall
            assert not significant(comparison.overall.p_worse, Policy().alpha)


def test_random_halves_of_a_models_attacked_trials_close_the_gate_as_rarely_as_the_policy_allows():
    """Ten ways to part the attacks on each task, each both ways round: at 1 % each, four of 60 have chance 0.003."""
    chance = random.Random(20260101)
    closed = 0
    for model in real_models.models():
        marks = real_models.harmless(real_models.agentdojo(model, attacked=True))
        for _ in range(10):
            mixed = {case: "".join(chance.sample(m, len(m))) for case, m in marks.items()}
            one = {case: m[::2] for case, m in mixed.items()}
            other = {case: m[1::2] for case, m in mixed.items()}
            for baseline, candidate in ((one, other), (other, one)):
                comparison, ruling = real_models.held(baseline, candidate)
                closed += ruling.ruling is Gate.CLOSED
                assert not [c for c in comparison.cases if c.outcome is Outcome.REGRESSED]
    assert closed <= 3


def test_other_attacks_are_another_test():
    """Every second attack by its number is no random half: in one model they are harder, and the gate says so."""
    closed = [
        model
        for model in real_models.models()
        if real_models.held(*_by_number(real_models.agentdojo(model, attacked=True)))[1].ruling
        is Gate.CLOSED
    ]

    assert len(closed) == 1


def _by_number(marks):
    parts = ({case: m[start::2] for case, m in marks.items()} for start in (1, 0))
    return [real_models.harmless(part) for part in parts]


def test_the_page_says_what_the_gate_says():
    shared.folder("agentdojo"), shared.folder("tau2-bench"), shared.folder("tau-bench")
    text = real_models.PAGE.read_text(encoding="utf-8")
    written = text.partition(real_models.BEGIN)[2].partition(real_models.END)[0]

    assert written.strip() == real_models.tables().strip(), (
        "write it anew: PYTHONPATH=src:. python -m tests.data.real_models"
    )


def _only(marks, numbers):
    return {case: "".join(m[n] for n in numbers) for case, m in marks.items()}
