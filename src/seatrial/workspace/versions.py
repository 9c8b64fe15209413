"""Which version of an agent answers which case: the one configured, the one deployed, or one by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from seatrial.documents import Arm, Case, Catalog
from seatrial.errors import UsageError
from seatrial.records import PlannedCase

CONFIGURED = "configured"
LATEST = "latest"

_TOLD = 5


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers in a run."""

    arms: tuple[Arm, ...]
    by_case: dict[str, tuple[str, ...]]
    """Case → ids of the arms that answer it; of cases that not every arm of their agent answers."""

    def told(self, planned: Iterable[PlannedCase]) -> tuple[PlannedCase, ...]:
        """The plan with the arms that answer each case."""
        return tuple(
            entry.model_copy(update={"arms": self.by_case[entry.case]})
            if entry.case in self.by_case
            else entry
            for entry in planned
        )


def answering(
    catalog: Catalog, cases: Sequence[Case], arms: Sequence[Arm], *, named: bool, version: str
) -> Answering:
    """Who answers these cases. The environment of a case is left as it is.

    Args:
        catalog: all documents.
        cases: those of the suite.
        arms: the arms that were named, or all that fit.
        named: they were named.
        version: `configured`: a case that pins a version is answered by it, the others by the arms. `latest`: each
            case by the version that is deployed in its environment, which need not be the newest. Otherwise the
            version itself, deployed or not.

    Raises:
        UsageError: a case has nobody who would answer it, or it cannot be told which of several arms is meant.
    """
    if version != CONFIGURED and named:
        raise UsageError(
            f"--agent-version {version} says which arms answer, and so does --arm",
            hint="leave out one of them",
        )
    nobody: dict[str, list[str]] = {}
    several: dict[str, list[str]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for case in cases:
        own = [arm for arm in catalog.arms.values() if arm.agent == case.agent]
        if version == LATEST:
            fitting = [arm for arm in own if case.environment in arm.deployed]
            what = f"no version of {case.agent} is deployed in environment {case.environment!r}"
        elif version == CONFIGURED and case.version is None:
            found[case.id] = tuple(arm.id for arm in arms if arm.agent == case.agent)
            continue
        else:
            wanted = version if version != CONFIGURED else case.version
            fitting = [arm for arm in own if arm.version == wanted]
            there = ", ".join(sorted({arm.version for arm in own}))
            what = f"{case.agent} has no version {wanted!r} (there is {there or 'none'})"
        among = [arm for arm in fitting if arm in arms] if version == CONFIGURED and named else []
        if among:
            fitting = among
        elif len(fitting) > 1:
            ids = ", ".join(arm.id for arm in fitting)
            several.setdefault(f"several arms are {fitting[0].version}: {ids}", []).append(case.id)
        if not fitting:
            nobody.setdefault(what, []).append(case.id)
        found[case.id] = tuple(arm.id for arm in fitting)
    _refuse(nobody, several)
    used = {id for ids in found.values() for id in ids}
    the_arms = tuple(arm for arm in arms if version == CONFIGURED or arm.id in used)
    the_arms += tuple(
        catalog.arms[id] for id in sorted(used) if id not in {arm.id for arm in the_arms}
    )
    everybody = {
        case.id: tuple(arm.id for arm in the_arms if arm.agent == case.agent) for case in cases
    }
    return Answering(the_arms, {id: own for id, own in found.items() if own != everybody[id]})


def _refuse(nobody: dict[str, list[str]], several: dict[str, list[str]]) -> None:
    told = [
        f"{what}: {', '.join(cases[:_TOLD])}" + (" …" if len(cases) > _TOLD else "")
        for what, cases in (*nobody.items(), *several.items())
    ]
    if told:
        hint = (
            "name the arm with --arm"
            if several and not nobody
            else "write `deployed:` in its arm, or name another version with --agent-version"
        )
        raise UsageError("; ".join(told), hint=hint)
