"""A run that may spend so much and no more: what no longer fits is not begun, and says so."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop, shop_trials
from tests.servers import openai_chat
from tests.servers.openai_chat import Breaks, Fails, Says

from seatrial.records import TrialRecord
from seatrial.trace import Trace
from seatrial.verdicts import Cause, Verdict

PRICES = {"currency": "EUR", "input": 1000.0, "output": 2000.0}
NUMBERS = itertools.count()
AGENTS = """\
at_once = {"now": 0, "most": 0}


async def counts(text, seat):
    import anyio
    at_once["now"] += 1
    at_once["most"] = max(at_once.values())
    await anyio.sleep(0.005)
    at_once["now"] -= 1
    return {"text": str(at_once["most"]), "usage": {"input_tokens": 80, "output_tokens": 20}}


def says_nothing_of_tokens(text, seat):
    return "done"
"""


def carried_out(
    root: Path, target: str, budget: str, trials: int = 8
) -> list[tuple[TrialRecord, Trace]]:
    module = f"spenders_{next(NUMBERS)}"  # a module is loaded once per process
    (root / f"{module}.py").write_text(AGENTS, encoding="utf-8")
    arm = bike_shop.arm(adapter={"type": "python", "target": f"{module}:{target}"}, prices=PRICES)
    catalog = bike_shop.catalog(bike_shop.case(), arm)
    return shop_trials.carried_out(root, catalog, trials=trials, budget=budget)


@pytest.mark.parametrize(
    ("budget", "begun"), [("450 tokens", 4), ("400 tokens", 4), ("0.36 EUR", 3), ("99 EUR", 8)]
)
def test_trials_that_no_longer_fit_are_not_begun(tmp_path: Path, budget: str, begun: int):
    ended = carried_out(tmp_path, "counts", budget)

    ran = [record for record, _ in ended if record.usage is not None]
    others = [record for record, _ in ended if record.usage is None]
    assert (len(ran), len(others)) == (begun, 8 - begun)
    assert {(r.verdict, r.cause) for r in others} <= {(Verdict.INVALID, Cause.BUDGET)}
    assert all("budget of" in record.detail for record in others)
    assert len({record.detail for record in others}) <= 1


def test_while_nobody_knows_what_a_trial_takes_one_goes_alone(tmp_path: Path):
    ended = carried_out(tmp_path, "counts", "100000 tokens")

    most = [int(trace.replies[0].text) for _, trace in ended]
    assert most.count(1) == 1
    assert max(most) > 1


def test_budget_is_not_spent_on_an_agent_that_reports_no_tokens(tmp_path: Path):
    ended = carried_out(tmp_path, "says_nothing_of_tokens", "100000 tokens")

    assert [record.cause for record, _ in ended].count(Cause.BUDGET) == 7
    assert "reported no tokens in trial 1" in ended[-1][0].detail


def rents(body: dict[str, Any]) -> Says:
    if sum(message["role"] == "assistant" for message in body["messages"]) % 2:
        return Says(text="It is yours.", prompt_tokens=300, completion_tokens=30)
    return Says(calls=[("get_bike", {"bike": "b-1"})], prompt_tokens=200, completion_tokens=20)


@pytest.mark.parametrize("limit", [500, 3_000, 6_000])
def test_a_model_is_asked_only_what_still_fits_and_the_budget_holds(tmp_path: Path, limit: int):
    with openai_chat.serving(rents) as model:
        arm = bike_shop.arm(
            adapter={"type": "openai", "url": model.url, "max_tokens": 40},
            model={"name": openai_chat.MODEL},
        )
        catalog = bike_shop.catalog(bike_shop.case(), arm)
        ended = shop_trials.carried_out(tmp_path, catalog, trials=20, budget=f"{limit} tokens")

    used = [record.usage for record, _ in ended if record.usage is not None]
    spent = sum(usage.input_tokens + usage.output_tokens for usage in used)
    assert spent <= limit
    assert (spent > 0) == (limit > 2_000)
    refused = [record for record, _ in ended if record.cause is Cause.BUDGET]
    assert refused
    assert len(model.requests) == sum(len(trace.completions) for _, trace in ended)
    whole = list(itertools.filterfalse(lambda one: one[0].cause is Cause.BUDGET, ended))
    assert all(len(trace.completions) == 2 for _, trace in whole)


@pytest.mark.parametrize(
    ("fault", "requests"),
    [(Fails(status=503, retry_after="0"), 3), (Breaks(after=3), 2)],
)
def test_a_request_that_broke_off_is_taken_to_have_cost_the_most_and_a_refused_one_nothing(
    tmp_path: Path, fault: Fails | Breaks, requests: int
):
    with openai_chat.serving(lambda _: fault) as model:
        arm = bike_shop.arm(
            adapter={"type": "openai", "url": model.url, "max_tokens": 40},
            model={"name": openai_chat.MODEL},
        )
        catalog = bike_shop.catalog(bike_shop.case(), arm)
        ((record, _),) = shop_trials.carried_out(tmp_path, catalog, budget="2500 tokens")

    assert len(model.requests) == requests
    refused = isinstance(fault, Fails)
    assert record.cause is (Cause.AGENT_UNREACHABLE if refused else Cause.BUDGET)


def test_requests_that_nobody_counted_are_taken_to_cost_the_most(tmp_path: Path):
    with openai_chat.serving(lambda _: Says(text="Hello.", without_usage=True)) as model:
        arm = bike_shop.arm(
            adapter={"type": "openai", "url": model.url, "max_tokens": 40},
            model={"name": openai_chat.MODEL},
        )
        catalog = bike_shop.catalog(bike_shop.case(), arm)
        ended = shop_trials.carried_out(tmp_path, catalog, trials=20, budget="5000 tokens")

    assert len(model.requests) < 10
    assert any(record.cause is Cause.BUDGET for record, _ in ended)
