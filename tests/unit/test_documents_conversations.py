"""Conversations in documents: what a script, a golden conversation and a person may say, and the page about them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError
from tests import bike_shop, harbour

from seatrial.comparability import between, fingerprints
from seatrial.documents import Case, Catalog, Persona
from seatrial.documents.checks.golden import facts
from seatrial.errors import InvalidDocuments
from seatrial.loading import load

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "hold-conversations.md"
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
CASE = {
    "kind": "case", "id": "a", "title": "A", "group": "task", "agent": "clerk",
    "world": "bike-shop", "role": "clerk",
}  # fmt: skip
PERSON = {
    "kind": "fixture", "type": "persona", "id": "ada", "goal": "Have a bike.",
    "opening": "Hello.", "otherwise": "Please go on.",
}  # fmt: skip
CHECKS = [{"check": "no_violation"}]


def refused(model: Any, raw: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as error:
        model.model_validate(raw)
    return error.value.errors()[0]["msg"]


def case(**more: Any) -> dict[str, Any]:
    return {**CASE, "checks": CHECKS, **more}


def person(**more: Any) -> dict[str, Any]:
    return {**PERSON, **more}


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_of_the_page_is_valid(example: str):
    written = yaml.safe_load(example)
    if written.get("kind") == "fixture":
        Persona.model_validate(written)
    elif "model" in written:
        Persona.model_validate({**person(), "otherwise": None, **written})
    elif "solution" in written:
        Case.model_validate(case(persona="ada", **written))
    else:
        Case.model_validate(case(**written))


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"task": "Hi.", "persona": "ada"}, "a case has one of"),
        ({"turns": [{"say": "Hi.", "by": "ada"}]}, "`ada` is none of the case's `speakers` (none)"),
        (
            {"turns": [{"say": "Hi."}], "speakers": {"ada": "Ada"}},
            "turn 1: there are `speakers`, and it does not say `by` whom",
        ),
        (
            {"turns": [{"say": "Hi.", "by": "ada"}], "speakers": {"ada": "Ada", "jo": "Jo"}},
            "`jo` never says anything",
        ),
        ({"persona": ["ada", "ada"]}, "names somebody twice"),
        ({"task": "Hi.", "on_failed_turn": "stop"}, "belongs to `turns` or `golden`"),
        ({"golden": [{"say": "Hi.", "reply": "Hello there."}]}, "holds no number, date or id"),
        ({"golden": [{"say": "Hi.", "calls": [], "others": "any"}]}, "asks for nothing"),
        ({"golden": [{"say": "Hi.", "match": "exact"}]}, "`match` goes with a `reply`"),
        (
            {"turns": [{"say": "Hi.", "checks": [{"check": "ended_as", "ended": "exit_intent"}]}]},
            "`ended_as` belongs under the case's own `checks`",
        ),
        (
            {"persona": "ada", "solution": {"reply": "a", "turns": [{"reply": "b"}]}},
            "write either `calls` and `reply`",
        ),
    ],
)
def test_a_conversation_that_says_two_things_or_nothing_is_refused(more: dict[str, Any], why: str):
    assert why in refused(Case, case(**more))


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"otherwise": None}, "write `rules` or `model`"),
        ({"opening": None}, "needs an `opening`"),
        ({"model": {"name": "m-1", "url": "http://127.0.0.1:1/v1"}}, "not by both"),
        ({"rules": [{"say": "Bye.", "ends": "exit_intent"}]}, "either `say` or `ends`"),
        ({"rules": [{"when": {"asks": True}}]}, "either `say` or `ends`"),
        ({"rules": [{"when": {}, "say": "Yes."}]}, "says nothing of the reply"),
        (
            {"rules": [{"ends": "exit_intent", "intent": "dear"}]},
            "`dear` is none of the person's `exit_intents` (none)",
        ),
        (
            {"rules": [{"ends": "exit_intent"}], "exit_intents": {"dear": "too dear"}},
            "write `intent`",
        ),
        ({"hides": "PLEASE go"}, "which it `hides`"),
        ({"min_turns": 5, "max_turns": 4}, "no conversation could end well"),
        (
            {"otherwise": None, "model": {"name": "m:latest", "url": "http://127.0.0.1:1/v1"}},
            "moves",
        ),
        (
            {
                "otherwise": None,
                "model": {"name": "m-1", "url": "http://x", "extra_body": {"model": "other"}},
            },
            "Seatrial itself writes model",
        ),
    ],
)
def test_a_person_that_cannot_be_played_is_refused(more: dict[str, Any], why: str):
    assert why in refused(Persona, {k: v for k, v in person(**more).items() if v is not None})


@pytest.mark.parametrize(
    ("case_keys", "people", "told"),
    [
        ({"persona": "adda"}, [{}], "there is no fixture `adda`; did you mean `ada`?"),
        ({"persona": "harbour"}, [{}], "is of type `world`, expected `persona`"),
        (
            {"persona": ["ada", "jo"]},
            [{"name": "Ada"}, {"id": "jo"}],
            "persona `jo` has no `name`",
        ),
        (
            {"persona": ["ada", "jo"]},
            [{"name": "Ada"}, {"id": "jo", "name": "Ada"}],
            "have the same `name`",
        ),
        (
            {"persona": "ada", "checks": [{"check": "ended_as", "ended": "goal_achieved"}]},
            [{}],
            "with these people no conversation ends as goal_achieved",
        ),
        (
            {
                "persona": "ada",
                "checks": [{"check": "ended_as", "ended": "exit_intent", "intent": "dear"}],
            },
            [{"rules": [{"ends": "exit_intent"}]}],
            "nobody who speaks has an exit intent `dear`",
        ),
        (
            {"persona": "ada", "checks": [{"check": "reply_contains", "text": "b", "turn": 11}]},
            [{}],
            "there is no turn 11: the case has 10",
        ),
        ({"persona": "ada"}, [{"opening": "Hi {{nwo}}."}], "did you mean `{{now}}`?"),
        (
            {"golden": [{"say": "Hi.", "calls": [{"tool": "take_berth", "argument": {}}]}]},
            [],
            "unknown key `argument`; did you mean `arguments`?",
        ),
        (
            {"golden": [{"say": "Hi.", "calls": ["take_birth"]}]},
            [],
            "offers no tool `take_birth`; did you mean `take_berth`?",
        ),
    ],
)
def test_what_does_not_fit_between_a_case_and_its_people_is_told_at_its_place(
    case_keys: dict[str, Any], people: list[dict[str, Any]], told: str
):
    written = case(**{"agent": "harbour-desk", "world": "harbour", "role": "clerk", **case_keys})
    files = harbour.contents(
        {"cases/conversation.yaml": yaml.safe_dump({**written, "id": "talks"})}
    )
    for number, more in enumerate(people):
        files[f"fixtures/p{number}.yaml"] = yaml.safe_dump(person(**more)).encode()

    with pytest.raises(InvalidDocuments) as error:
        load(files)

    (problem,) = error.value.problems
    assert told in problem.message
    assert problem.path == ("fixtures/p0.yaml" if "{{now}}" in told else "cases/conversation.yaml")


def test_a_person_is_a_component_of_the_fingerprint_and_a_title_of_one_is_not():
    arm = bike_shop.arm("x")

    def found(**more: Any) -> dict[str, str]:
        talks = Case.model_validate(case(persona="ada"))
        catalog = bike_shop.catalog(talks, arm)
        fixtures = {**catalog.fixtures, "ada": Persona.model_validate(person(**more))}
        whole = Catalog(catalog.cases, catalog.suites, catalog.arms, fixtures)
        return fingerprints(whole, [arm], {}).by_case["a@x"]

    assert between(found(), found(title="Somebody")) == ()
    assert between(found(), found(goal="Have two bikes.")) == ("persona",)


def test_what_is_expected_in_a_golden_step_is_graded_and_what_is_said_is_met():
    arm = bike_shop.arm("x")

    def found(**step: Any) -> dict[str, str]:
        golden = Case.model_validate(case(golden=[{"say": "Hi.", "reply": "b-1.", **step}]))
        return fingerprints(bike_shop.catalog(golden, arm), [arm], {}).by_case["a@x"]

    assert between(found(), found(reply="b-2.")) == ("checks",)
    assert between(found(), found(calls=["rent"])) == ("checks",)
    assert between(found(), found(say="Ho.")) == ("case",)
    assert between(found(), found(seconds=3)) == ("case",)


def test_the_facts_of_a_reply_are_its_numbers_dates_and_ids():
    text = "Order o-1001 is refunded (49.90 euros) by 12 May 2026, at 08:10. Thank you!"

    assert facts(text) == ("o-1001", "49.90", "12", "2026", "08:10")
