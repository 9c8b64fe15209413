"""What a suite asks: its policy, its trials, its cases."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seatrial.documents import Case, Suite
from seatrial.documents.suite import BUDGET, Selector
from seatrial.gate.policies import stricter
from seatrial.loosening.sides import Sides, shown
from seatrial.records import Loosening, PolicyChange

NEUTRAL = frozenset({"kind", "id", "title", "extends", "abstract", "schema_version"})
"""Keys of a suite that nothing is judged by."""
LOOKED_AT = frozenset({"cases", "trials", "budget", "gate", "must_tie", "select", "arms"})
"""All others; a key that stands in neither is one that nobody thought about."""

_WHAT = {
    "profile": "less must be shown",
    "alpha": "more evidence is asked before a case counts as worse",
    "beta": "a case that dropped is cleared sooner",
    "drop": "only larger drops of a case must be caught",
    "margin": "the mean pass rate may fall further",
    "invalid_cap": "more trials may be invalid",
}


def gone(sides: Sides) -> Iterator[PolicyChange]:
    """Suites that the change takes away, with their gates."""
    for id in sides.before.suites:
        if id not in sides.now.suites:
            text = f"the suite {id} is taken away, and with it its gate"
            yield sides.told("suite_removed", ("suite", id), text, old=id)


def of(sides: Sides, old: Suite, new: Suite) -> Iterator[PolicyChange]:
    """In what the suite of the change asks less."""
    _, points = stricter(old.gate, new.gate)
    for point in points:
        was, now = getattr(old.gate, point), getattr(new.gate, point)
        yield sides.told(
            "gate_loosened", ("suite", old.id),
            f"suite {old.id}: `{point}` of the gate is {now} instead of {was}: {_WHAT[point]}",
            path=f"gate.{point}", old=was, new=now,
        )  # fmt: skip
    if new.trials < old.trials:
        text = f"suite {old.id}: {new.trials} trials of a case instead of {old.trials}"
        yield sides.told(
            "trials_lowered", ("suite", old.id), text, path="trials", old=old.trials, new=new.trials
        )
    if old.budget != new.budget and not _spends_less(old.budget, new.budget):
        effect: Loosening = "loosened" if _spends_less(new.budget, old.budget) else "changed"
        text = f"suite {old.id}: a run may spend {new.budget or 'whatever it takes'} instead of "
        text += old.budget or "whatever it takes"
        yield sides.told(
            "budget_raised", ("suite", old.id), text, path="budget", old=old.budget, new=new.budget,
            effect=effect,
        )  # fmt: skip
    if (old.select.tools, new.select.tools) == ("listed", "called"):
        text = f"suite {old.id}: a tool that reads otherwise no longer runs the cases that could list it"
        yield sides.told(
            "selection_narrowed", ("suite", old.id), text, path="select.tools", old="listed", new="called"
        )  # fmt: skip
    if left_out := [arm for arm in old.arms if arm not in new.arms and new.arms]:
        text = f"suite {old.id}: {', '.join(left_out)} no longer runs it where no arm is named"
        yield sides.told(
            "suite_arms_changed", ("suite", old.id), text, path="arms", old=list(old.arms), new=list(new.arms),
        )  # fmt: skip
    elif new.arms and not old.arms:
        text = f"suite {old.id}: only {', '.join(new.arms)} run it where no arm is named"
        yield sides.told(
            "suite_arms_changed", ("suite", old.id), text, path="arms", old=[], new=list(new.arms),
        )  # fmt: skip
    for number, tie in enumerate(old.must_tie):
        if tie not in new.must_tie:
            text = f"suite {old.id}: {_entry(tie)} must no longer tie"
            yield sides.told(
                "must_tie_removed", ("suite", old.id), text, path=f"must_tie[{number}]", new_path="", old=tie
            )  # fmt: skip
    yield from _entries(sides, old, new)
    yield from _cases(sides, old, new)


def _entries(sides: Sides, old: Suite, new: Suite) -> Iterator[PolicyChange]:
    """Selectors that are gone; of ids the cases tell."""
    for number, entry in enumerate(old.cases):
        if isinstance(entry, Selector) and entry not in new.cases:
            yield sides.told(
                "suite_entry_removed", ("suite", old.id),
                f"suite {old.id} no longer selects {_entry(entry)}",
                path=f"cases[{number}]", new_path="", old=entry,
            )  # fmt: skip


def _cases(sides: Sides, old: Suite, new: Suite) -> Iterator[PolicyChange]:
    """Cases that the suite no longer has."""
    kept = {case.id: case for case in sides.now.suite_cases(new)}
    before = {case.id: case for case in sides.before.suite_cases(old)}
    come = [case for id, case in kept.items() if id not in sides.before.cases]
    for id, case in before.items():
        if id in kept:
            continue
        word = "required case" if case.required else "case"
        heir = next((one for one in come if _is_heir(case, one)), None)
        if heir is not None:
            yield sides.told(
                "case_renamed", ("case", id),
                f"the {word} {id} is called {heir.id} now, so that nothing is held against what was released of it",
                old=id, new=heir.id, case=id, renamed=heir.id,
            )  # fmt: skip
            continue
        how = "is no longer in the suite" if id in sides.now.cases else "is deleted"
        text = f"the {word} {id} {how}"
        yield sides.told("case_removed", ("case", id), text, old=id, case=id)


def _is_heir(old: Case, new: Case) -> bool:
    """The same case under another id, as far as what people are told and asked goes."""
    return (
        (old.agent, old.task, old.turns, old.golden) == (new.agent, new.task, new.turns, new.golden)
        and old.world == new.world
        and old.persona == new.persona
    )


def _entry(entry: str | Selector) -> str:
    if isinstance(entry, str):
        return entry
    return "cases with " + shown(entry.model_dump(mode="json", exclude_defaults=True))


def _spends_less(old: str | None, new: str | None) -> bool:
    """Whether the second budget is no larger for certain."""
    if new is None:
        return False
    if old is None:
        return True
    was, now = re.match(BUDGET, old), re.match(BUDGET, new)
    return (
        was is not None and now is not None and was[2] == now[2] and float(now[1]) <= float(was[1])
    )
