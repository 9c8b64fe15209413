"""What a selection is made from beside the documents: the base, and the dependency record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seatrial.comparability import GRADING_COMPONENTS, HARNESS, between, is_own
from seatrial.documents import Case, Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What the documents are compared with."""

    name: str
    """The revision as a person would write it."""
    catalog: Catalog | None
    """The documents there; None when they cannot be read."""
    unreadable: str = ""
    """Why they cannot be read."""
    changed_files: frozenset[str] = field(default_factory=frozenset)
    """Files that are not what they were, added and deleted ones among them; relative to the root."""
    unversioned_files: frozenset[str] = field(default_factory=frozenset)
    """Files that git does not keep: whether they changed cannot be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What the trials of one case in one batch of the baseline leaned on."""

    valid: int
    """Trials that count; without any, nothing is known of the case."""
    conditions: Mapping[str, str]
    """Component → digest: the case, its world and answers, the tools and sources of the arm."""
    called: frozenset[str]
    """Tools that were called in any trial, `server/tool`."""
    listed: frozenset[str]
    """Tools that were listed in any trial, the same way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """The dependency record of an agent: what each case leaned on when its baseline was recorded."""

    cases: Mapping[str, tuple[Used, ...]]
    """Case → its batches, the release first."""

    def fitting(self, case: Case, today: Mapping[str, str]) -> tuple[Used, ...]:
        """The batches that can stand for a case under today's conditions."""
        return tuple(
            used
            for used in self.cases.get(case.id, ())
            if used.valid and not _apart(used, case, today)
        )

    def why_none(self, case: Case, today: Mapping[str, str]) -> str:
        """Why no batch can stand for a case."""
        with_trials = [used for used in self.cases.get(case.id, ()) if used.valid]
        if not with_trials:
            return "no valid trial of it in the baseline"
        names = _apart(with_trials[-1], case, today)
        told = ", ".join(
            "what it was run with was not recorded" if name == "fingerprint" else name
            for name in names
        )
        return f"the baseline cannot stand for it ({told})"


def _apart(used: Used, case: Case, today: Mapping[str, str]) -> tuple[str, ...]:
    if not used.conditions:
        return ("fingerprint",)
    # Stored traces are graded again by the gate, but not by functions of the repository.
    passed_over = frozenset[str]() if case.check_files() else GRADING_COMPONENTS
    names = between(used.conditions, {**today, "harness": HARNESS})
    return tuple(name for name in names if not is_own(name) and name not in passed_over)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of the cases beside their documents."""

    today: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Case → component → digest of what its trials would lean on now."""
    records: Mapping[str, Dependencies | str] = field(default_factory=dict)
    """Agent → its dependency record, or why there is none."""

    def why_not_carried(self, case: Case) -> str:
        """Why the baseline cannot stand for a case; empty where it can."""
        record = self.records.get(case.agent, "no baseline was looked for")
        if isinstance(record, str):
            return f"nothing can stand for it: {record}"
        today = self.today.get(case.id, {})
        return "" if record.fitting(case, today) else record.why_none(case, today)

    def called(self, case: Case) -> frozenset[str] | None:
        """The tools that a case called in the baseline; None where that is not known."""
        record = self.records.get(case.agent, "")
        if isinstance(record, str):
            return None
        fitting = record.fitting(case, self.today.get(case.id, {}))
        return frozenset().union(*(used.called for used in fitting)) if fitting else None
