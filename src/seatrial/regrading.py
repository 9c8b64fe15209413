"""Stored traces, graded again by other checks: a whole run into a folder, or a baseline in memory.

Only where nothing but the checks has changed. A trace that was made in another world, or by another
instruction, says nothing about what today's checks ask; its trial keeps the findings it had.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from seatrial.arms import idle
from seatrial.checks import verdict
from seatrial.checks.again import Grader
from seatrial.checks.regrading import regraded
from seatrial.checks.scope import Function
from seatrial.comparability import (
    GRADING_COMPONENTS,
    between,
    expanded,
    is_own,
)
from seatrial.compare import Side
from seatrial.compare.pooling import differences
from seatrial.documents import Case, Catalog
from seatrial.records import Regraded, TrialRecord
from seatrial.store import Run, Writer, new_run_id
from seatrial.trace import Replied, Said
from seatrial.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Checks:
    """The documents of a run with the checks of other documents, where those fit its traces."""

    catalog: Catalog
    kept: Mapping[str, str]
    """Case → why the checks that it was graded by stay."""

    @classmethod
    def of(
        cls,
        stored: Catalog,
        then: Mapping[str, Mapping[str, str]],
        now: Catalog,
        today: Mapping[str, Mapping[str, str]],
    ) -> Checks:
        """The documents of a run with the checks of the documents as they are now.

        Args:
            stored: the documents of the run.
            then: what its trials leaned on, by case.
            now: the documents as they are now.
            today: what trials would lean on now, by case.
        """
        cases, sources = dict(stored.cases), dict(stored.sources)
        kept: dict[str, str] = {}
        for id, case in stored.cases.items():
            why = _no_longer_fits(id, then, today)
            if why:
                kept[id] = why
                continue
            cases[id] = _checked_as(case, now.cases[id])
            if found := now.sources.get(("case", id)):
                sources["case", id] = found
        changed = replace(stored, cases=cases, sources=sources)
        suites = {}
        for id, suite in stored.suites.items():
            before = tuple(c.id for c in stored.suite_cases(suite))
            # A selector chooses by the folder of a file, which may lie elsewhere now.
            same = before == tuple(c.id for c in changed.suite_cases(suite))
            suites[id] = suite if same else suite.model_copy(update={"cases": before})
        return cls(replace(changed, suites=suites), kept)


def regrade(
    run: Run,
    now: Catalog,
    today: Mapping[str, Mapping[str, str]],
    folder: Path | None,
    *,
    runs: Path,
    revision: str | None,
    dirty: bool,
    functions: Mapping[str, Function] = MappingProxyType({}),
) -> Path:
    """Grade every trace of a run again and write the outcome as a run of its own.

    Args:
        run: the run; it stays as it is.
        now: the documents whose checks grade it.
        today: what trials lean on now, by case.
        folder: where to write; below `runs` when None.
        runs: where runs are kept.
        revision: the commit of the documents.
        dirty: they are not what that commit says.
        functions: what checks of kind `python` name.

    Returns:
        The folder.

    Raises:
        UsageError: the folder is not empty, or the run has not ended.
        StorageError: the run was altered, a trace is missing or cannot be read, or the folder cannot be written.
    """
    run.demand_end()  # what is written here is sealed anew, and may not launder what was altered
    then = {
        key.rpartition("@")[0]: expanded(components, run.manifest.toolsets)
        for key, components in run.manifest.fingerprints.items()
    }
    by = Checks.of(run.catalog, then, now, today)
    prints = {
        key: {
            **components,
            **{
                name: today[case][name]
                for case in [key.rpartition("@")[0]]
                if case in today and case not in by.kept
                for name in GRADING_COMPONENTS
            },
        }
        for key, components in run.manifest.fingerprints.items()
    }
    manifest = run.manifest.model_copy(
        update={
            "run": new_run_id(),
            "fingerprints": prints,
            "regraded": Regraded(
                run=run.manifest.run,
                at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                revision=revision,
                dirty=dirty,
                kept=dict(by.kept),
            ),
        }
    )
    target = folder or runs / manifest.run
    grader = Grader(by.catalog, functions)
    weak = _weak(run, by, grader)
    manifest = manifest.model_copy(
        update={
            "plan": tuple(
                entry.model_copy(update={"weak": weak[entry.case]}) if entry.case in weak else entry
                for entry in manifest.plan
            )
        }
    )
    with Writer.create(target, manifest, by.catalog) as writer:
        for record in run.records():
            trace = run.trace(record)
            if record.case not in by.kept and record.case in by.catalog.cases:
                record = regraded(record, trace, by.catalog.cases[record.case], grader)
            writer.add(record, trace)
    return target


def side_graded_by(run: Run, arm: str, candidate: Side, by: Catalog) -> Side:
    """One arm of a stored run as a side of a comparison, graded by the other side's checks.

    Graded again are the cases in which only the checks differ, or how Seatrial grades, and whose checks
    are all at hand: not those with functions of the repository, which a run does not hold. All others
    are as they are stored.

    Args:
        run: the run, mostly a baseline.
        arm: whose trials.
        candidate: the side that it will be compared with.
        by: the documents of that side.
    """
    side = Side.of(run.manifest, run.catalog, arm, run.records(arm), where=run.where)
    wanted = {
        case
        for case in side.concerned()
        if case in by.cases
        and not by.cases[case].check_files()  # whose functions are the repository's, not the run's
        and (names := set(differences(side, candidate, case)))
        and names <= GRADING_COMPONENTS
    }
    if not wanted:
        return side
    # Without its trace a trial cannot be graded again, and its case not be compared.
    wanted -= {r.case for r in run.records(arm) if r.trace_at is None}
    return replace(
        side, records=_graded(run, arm, frozenset(wanted), by), regraded=frozenset(wanted)
    )


def passed_by_change(run: Run, arm: str, before: Catalog, cases: frozenset[str]) -> dict[str, int]:
    """Case → trials that pass by the run's own checks and would not by those of other documents.

    Args:
        run: the candidate's run.
        arm: the candidate.
        before: the documents whose checks have been changed.
        cases: the cases that are graded by other checks now.
    """
    found: dict[str, int] = {}
    if not cases:
        return found
    grader = Grader(before, arms=run.catalog.arms)
    for record in run.records(arm):
        if record.case not in cases or record.verdict is not Verdict.PASSED or record.forbidden:
            continue
        if record.trace_at is None:
            continue
        was = regraded(record, run.trace(record), before.cases[record.case], grader)
        if was.verdict is Verdict.FAILED or was.forbidden:
            found[record.case] = found.get(record.case, 0) + 1
    return found


def _weak(run: Run, by: Checks, grader: Grader) -> dict[str, bool]:
    """Which cases an agent that does nothing passes by the checks that they have now.

    What it would have left behind is told by the trace of any trial that was carried to its end: the same
    messages, its own reply to each, and nothing changed.
    """
    found: dict[str, bool] = {}
    for record in run.records():
        case = by.catalog.cases.get(record.case)
        if case is None or record.case in by.kept or record.case in found:
            continue
        trace = run.trace(record)
        if trace.ended != "completed" or len(trace.replies) < len(case.messages):
            continue
        events = tuple(
            event.model_copy(update={"text": idle.REPLY, "usage": None})
            if isinstance(event, Replied)
            else event
            for event in trace.events
            if isinstance(event, Said | Replied)
        )
        still = trace.model_copy(
            # How a conversation would have ended with somebody who does nothing, nobody knows.
            update={
                "events": events,
                "changes": None if trace.changes is None else (),
                "ended_as": None,
                "exit_intent": None,
            }
        )
        found[record.case] = verdict(grader.findings(still), still)[0] is Verdict.PASSED
    return found


def _graded(run: Run, arm: str, cases: frozenset[str], by: Catalog) -> Iterator[TrialRecord]:
    grader = Grader(by, arms=run.catalog.arms)
    for record in run.records(arm):
        if record.case in cases:
            record = regraded(record, run.trace(record), by.cases[record.case], grader)
        yield record


def _no_longer_fits(
    case: str, then: Mapping[str, Mapping[str, str]], today: Mapping[str, Mapping[str, str]]
) -> str:
    if case not in today:
        return "the case is no longer there"
    if case not in then:
        return "what it was run with was not recorded"
    # What is of the arm, and how Seatrial treats it, are as they were when the trace was made.
    made = [
        name
        for name in between(then[case], today[case])
        if name not in GRADING_COMPONENTS and name != "harness" and not is_own(name)
    ]
    return f"its {', '.join(made)} changed since it was run" if made else ""


def _checked_as(case: Case, now: Case) -> Case:
    """The case as it was run, with the checks it has now."""
    raw, other = (
        found.model_dump(mode="json", by_alias=True, exclude_unset=True) for found in (case, now)
    )
    raw.pop("checks", None)
    raw |= {"checks": other["checks"]} if "checks" in other else {}
    for key in ("turns", "golden"):
        if key in other:
            raw[key] = other[key]
    # Its payload is what the trials met; what the attacker wants is what they are graded by.
    met = raw.get("attack") or {}
    if wanted := other.get("attack"):
        raw["attack"] = {**met, "goal": wanted["goal"]}
    elif "text" not in met:
        raw.pop("attack", None)
    return Case.model_validate(raw)
