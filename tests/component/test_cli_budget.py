"""`seatrial run --budget`, and what a run tells of money and models at its end."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import bike_shop
from tests.servers import openai_chat
from tests.servers.openai_chat import Says
from tests.shell import seatrial

from seatrial import store
from seatrial.verdicts import Cause

AGENT = """\
def answers(text, seat):
    return {"text": "No.", "usage": {"input_tokens": 80, "output_tokens": 20}}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


def workspace(root: Path, budget: str | None = None, prices: dict[str, Any] | None = None) -> None:
    (root / "clerks.py").write_text(AGENT, encoding="utf-8")
    given: dict[str, Any] = {"prices": prices} if prices else {}
    arm = bike_shop.arm(adapter={"type": "python", "target": "clerks:answers"}, **given)
    case = bike_shop.case()
    suite = bike_shop.suite([case], trials=6, **({"budget": budget} if budget else {}))
    bike_shop.write_tree(root, bike_shop.catalog(case, arm, suite))


def test_run_stops_spending_at_its_budget_and_says_what_it_spent(root: Path):
    workspace(root)

    code, out, err = seatrial(
        root, "run", "-s", "all", "-a", "clerk-1", "--budget", "350 tokens", "--out", "run"
    )

    assert (code, err) == (0, err)
    assert "3 invalid (budget)" in out
    assert "Spent 300 tokens of a budget of 350 tokens." in out
    run = store.Run.open(root / "run")
    assert run.manifest.budget == "350 tokens"
    assert [record.cause for record in run.records()].count(Cause.BUDGET) == 3


def test_suite_sets_the_budget_and_costs_are_told_by_case_and_arm(root: Path):
    prices = {"currency": "EUR", "input": 1000.0, "output": 2000.0}
    workspace(root, budget="0.30 EUR", prices=prices)

    code, out, _ = seatrial(root, "run", "-s", "all", "-a", "clerk-1", "--out", "run")

    assert code == 0
    assert "0/2 passed, 4 invalid (budget), 0.24 EUR" in out
    assert "Cost of clerk-1: 0.24 EUR" in out
    assert "Spent 0.24 EUR of a budget of 0.30 EUR." in out


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        ("5 EUR", "a budget in EUR needs the prices of each arm in EUR: clerk-1 (no prices)"),
        ("much", "'much' is no budget; write for example `5 EUR` or `200000 tokens`"),
    ],
)
def test_budget_that_cannot_be_held_is_refused_before_anything_runs(
    root: Path, budget: str, says: str
):
    workspace(root)

    code, _, err = seatrial(
        root, "run", "-s", "all", "-a", "clerk-1", "--budget", budget, "--out", "run"
    )

    assert code == 2
    assert says in err
    assert not (root / "run").exists()


def test_baseline_that_was_named_must_be_there_and_is_named_again_in_what_to_type_next(root: Path):
    workspace(root)
    run = ("run", "-s", "all", "-a", "clerk-1", "--trials", "1")

    code, _, err = seatrial(root, *run, "--baseline", "old one", "--out", "run")

    assert (code, "'old one'" in err) == (2, True), err
    assert not (root / "run").exists()
    code, _, err = seatrial(root, *run, "--out", "old one")
    assert (code, "--baseline" in err) == (0, False), err
    code, _, err = seatrial(root, *run, "--baseline", "old one", "--out", "new")
    assert code == 0, err
    assert "seatrial gate new --baseline 'old one', seatrial report new --baseline 'old one'" in err


def test_run_tells_when_another_model_than_the_pinned_one_was_served(root: Path):
    workspace(root)
    arm = bike_shop.arm(
        adapter={"type": "python", "target": "clerks:answers"}, model={"name": "m-2026-01-01"}
    )
    bike_shop.write_tree(root, bike_shop.catalog(arm))
    source = root / "clerks.py"
    source.write_text(AGENT.replace('"No."', '"No.", "model": "m-2026-05-05"'), encoding="utf-8")

    code, out, _ = seatrial(root, "run", "-s", "all", "-a", "clerk-1", "--out", "run")

    assert code == 0
    assert "clerk-1 was served m-2026-05-05, which is not its pinned model" in out


def with_a_person(root: Path, url: str, **model: Any) -> None:
    """The case of the workspace, told by somebody whom a model plays."""
    prices = {"currency": "EUR", "input": 1000.0, "output": 2000.0}
    (root / "clerks.py").write_text(AGENT, encoding="utf-8")
    arm = bike_shop.arm(adapter={"type": "python", "target": "clerks:answers"}, prices=prices)
    case = bike_shop.case()
    suite = bike_shop.suite([case], trials=2)
    bike_shop.write_tree(root, bike_shop.catalog(case, arm, suite))
    (file,) = (root / "cases").rglob("*.yaml")
    written = yaml.safe_load(file.read_text("utf-8"))
    del written["task"]
    file.write_text(yaml.safe_dump({**written, "persona": "ada"}), encoding="utf-8")
    person = {
        "kind": "fixture", "type": "persona", "id": "ada", "goal": "You need a bike for today.",
        "exit_intents": {"refused": "it cannot be done"},
        "model": {"name": openai_chat.MODEL, "url": url, **model},
    }  # fmt: skip
    (root / "fixtures" / "ada.yaml").write_text(yaml.safe_dump(person), encoding="utf-8")


def test_what_people_cost_counts_into_the_budget_and_is_told_apart_also_when_a_run_goes_on(
    root: Path,
):
    talk = openai_chat.in_turn(Says(text="A bike, please."), Says(text="[exit_intent: refused]"))
    prices = {"currency": "EUR", "input": 100.0, "output": 100.0}  # a request costs 0.012
    with openai_chat.serving(talk) as served:
        with_a_person(root, served.url, prices=prices)
        code, out, err = seatrial(
            root, "run", "-s", "all", "-a", "clerk-1", "--budget", "9 EUR", "--out", "run"
        )
        assert code == 0, err
        assert "0/2 passed, 0.24 EUR, people 0.048 EUR" in out
        assert "Cost of clerk-1: 0.24 EUR\nCost of the simulated people: 0.048 EUR" in out
        assert "Spent 0.29 EUR of a budget of 9.00 EUR." in out

        code, out, err = seatrial(root, "run", "--resume", "run")

    assert "Spent 0.29 EUR of a budget of 9.00 EUR." in out, err


def test_what_people_cost_is_told_as_a_part_where_a_request_was_not_counted(root: Path):
    uncounted = [True]

    def talk(body: dict[str, Any]) -> Says:
        if any(message["role"] == "assistant" for message in body["messages"]):
            return Says(text="[exit_intent: refused]")
        return Says(text="A bike, please.", without_usage=bool(uncounted and uncounted.pop()))

    prices = {"currency": "EUR", "input": 100.0, "output": 100.0}  # a request costs 0.012
    with openai_chat.serving(talk) as served:
        with_a_person(root, served.url, prices=prices)
        code, out, err = seatrial(root, "run", "-s", "all", "-a", "clerk-1", "--out", "run")

    assert code == 0, err
    assert (
        "Cost of the simulated people: 0.024 EUR, without that of 1 trial, of which not all is known"
        in out
    )


def test_budget_of_money_needs_the_prices_of_people_too(root: Path):
    with_a_person(root, "http://127.0.0.1:9")

    code, _, err = seatrial(
        root, "run", "-s", "all", "-a", "clerk-1", "--budget", "5 EUR", "--out", "run"
    )

    assert code == 2
    assert "each arm and of each person with a model in EUR: persona ada (no prices)" in err
    assert "into the arm or the person's `model`, or give tokens" in err
