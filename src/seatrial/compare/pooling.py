"""Which of the release's trials a candidate can be held against, case by case.

The release itself, each batch of its ledger and its arm run again beside the candidate are *parts*. A part
counts in a case where nothing but the arm's own components differs from the candidate, and where the
model that was served is not another one behind the same pinned name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from seatrial.comparability import GRADING_COMPONENTS, between, is_own
from seatrial.compare.sides import Served, Side, Trials, count

MODEL = "model"
"""The component that differs where another model was served behind the pinned name."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the release and the candidate stand to each other in one case."""

    apart: tuple[str, ...] = ()
    """What keeps every part of the release from being compared; empty where one can be."""
    why: str = ""
    """What there is to say of it beyond the names."""
    own: tuple[str, ...] = ()
    """The arm's own components that differ."""
    parts: int = 0
    """Batches of stored trials that count."""
    again: bool = False
    """Only the release's trials beside the candidate can be compared, and they stand for the stored ones."""
    regraded: bool = False
    """Stored trials that count were graded again."""
    checks_changed: bool = False
    """The candidate is graded by other checks than the release was, and nobody has held it to those."""

    @property
    def component(self) -> str:
        """The first component that differs."""
        return self.apart[0] if self.apart else ""


@dataclass(slots=True)
class Pool:
    """The release's trials, counted, and how each case stands."""

    stored: dict[str, Trials] = field(default_factory=dict)
    """Case → its trials that count; where none do, those of the release itself, for people."""
    live: dict[str, Trials] | None = None
    """Case → trials of the release beside the candidate, also where none was run yet; None where it was not run
    again. A case is missing where it cannot be run, or where its trials stand for the stored ones."""
    standing: dict[str, Standing] = field(default_factory=dict)
    served: tuple[str, ...] = ()
    """The models that answered in what counts."""
    mixed: bool = False
    """A pinned model was not the same all the time in the release's own trials."""
    candidate_mixed: bool = False
    strays: tuple[str, ...] = ()
    """What answered in the release's own trials and is not its pinned model."""
    fingerprints: tuple[str, ...] = ()
    """What the release's own trials ran on."""


@dataclass(frozen=True, slots=True)
class _Part:
    side: Side
    trials: dict[str, Trials]
    served: Served

    @property
    def strays(self) -> tuple[str, ...]:
        return self.served.strays(self.side.pin)

    @classmethod
    def of(cls, side: Side) -> _Part:
        return cls(side, *count(side))

    def leaves_out(self, case: str) -> bool:
        """The released arm cannot be run in this case as it was released."""
        rerun = self.side.manifest.rerun
        return rerun is not None and case in rerun.left_out


def pool(
    baseline: Side | None,
    ledger: Iterable[Side],
    again: Side | None,
    candidate: Side,
    served: Served,
    cases: Iterable[str],
) -> Pool:
    """Count what can be compared.

    Args:
        baseline: the release; None where there is none, then nothing else counts either.
        ledger: further whole batches of the released arm.
        again: the released arm beside the candidate.
        candidate: what they are compared with.
        served: the models that answered in the candidate's trials.
        cases: the cases of both sides.
    """
    if baseline is None:
        return Pool()
    parts = [_Part.of(side) for side in (baseline, *ledger)]
    beside = _Part.of(again) if again is not None else None
    found = Pool(live={} if beside else None, mixed=_is_mixed(parts[0]))
    found.candidate_mixed = _mixes(candidate, served)
    found.strays, found.fingerprints = parts[0].strays, parts[0].served.fingerprints
    used: dict[str, None] = {}
    for case in cases:
        _count_in(case, parts, beside, candidate, served, found, used)
    found.served = tuple(sorted(used)) or parts[0].served.models
    return found


def recorded(release: Side, ledger: Iterable[Side] = ()) -> dict[str, tuple[int, int]]:
    """Case → trials of the release that passed, and all that count: those of whole first batches.

    A batch of its ledger counts in the cases in which nothing differs from the release itself.
    """
    found = {case: t.for_means for case, t in count(release)[0].items()}
    for part in ledger:
        for case, trials in count(part)[0].items():
            if not differences(release, part, case):
                passed, valid = found.get(case, (0, 0))
                more_passed, more = trials.for_means
                found[case] = (passed + more_passed, valid + more)
    return found


def _count_in(
    case: str,
    parts: Sequence[_Part],
    beside: _Part | None,
    candidate: Side,
    served: Served,
    found: Pool,
    used: dict[str, None],
) -> None:
    stored = [part for part in parts if case in part.trials]
    counting = [part for part in stored if not _apart(part, candidate, served, case)]
    alive = beside if beside is not None and case in beside.trials else None
    if alive is not None and _apart(alive, candidate, served, case):
        alive = None
    if counting:
        found.stored[case] = _joined(part.trials[case] for part in counting)
    elif alive is not None:
        found.stored[case] = alive.trials[case]
    elif stored:
        found.stored[case] = stored[0].trials[case]
    if counting and found.live is not None and beside is not None and not beside.leaves_out(case):
        found.live[case] = alive.trials[case] if alive is not None else Trials()
    told = (counting or ([alive] if alive is not None else stored))[:1]
    for part in counting or told:
        used |= dict.fromkeys(part.served.models)
    # What there is to say of a case without a trial of the release, the release itself says.
    first = told[0] if told else parts[0]
    here, there = candidate.fingerprint(case), first.side.fingerprint(case)
    apart = () if counting or alive is not None else _apart(first, candidate, served, case)
    found.standing[case] = Standing(
        apart=apart,
        why=_why(first, candidate, served) if MODEL in apart else "",
        own=tuple(name for name in between(there, here) if is_own(name)) if here and there else (),
        parts=len(counting),
        again=not counting and alive is not None,
        regraded=any(case in part.side.regraded for part in counting),
        checks_changed=_graded_otherwise(parts[0].side, candidate, case),
    )


def _apart(part: _Part, candidate: Side, served: Served, case: str) -> tuple[str, ...]:
    """What keeps a part from being compared in a case."""
    components = differences(part.side, candidate, case)
    if components:
        return components
    if _mixes(candidate, served) or _is_mixed(part):
        return (MODEL,)
    if served.strays(candidate.pin) or part.strays:
        return (MODEL,)
    here, there = candidate.components(case).get(MODEL), part.side.components(case).get(MODEL)
    before, now = part.served.models, served.models
    swapped = here is not None and here == there and now and before != now
    return (MODEL,) if swapped and before else ()


def differences(part: Side, candidate: Side, case: str) -> tuple[str, ...]:
    """The components, by name, that differ and must not; `fingerprint` where one was not recorded."""
    here, there = candidate.components(case), part.components(case)
    if not here or not there:
        return ("fingerprint",)
    if here == there:
        return ()
    passed_over = GRADING_COMPONENTS if case in part.regraded else frozenset[str]()
    names = between(part.fingerprint(case), candidate.fingerprint(case))
    return tuple(name for name in names if not is_own(name) and name not in passed_over)


def _graded_otherwise(release: Side, candidate: Side, case: str) -> bool:
    """The checks differ, and nothing of the case's traces was graded by both."""
    here, there = candidate.components(case).get("checks"), release.components(case).get("checks")
    return None not in (here, there) and here != there and case not in release.regraded


def pinned_alike(baseline: Side, candidate: Side) -> bool:
    """Both arms name the same model, in every case that both have."""
    pins = {
        (here.get(MODEL), there.get(MODEL))
        for facts in candidate.cases
        if (here := candidate.components(facts.case)) and (there := baseline.components(facts.case))
    }
    return bool(pins) and all(one is not None and one == other for one, other in pins)


def _is_mixed(part: _Part) -> bool:
    return _mixes(part.side, part.served)


def _mixes(side: Side, served: Served) -> bool:
    """The arm pins one model, and several answered."""
    return len(served.models) > 1 and any(
        MODEL in components
        for key, components in side.manifest.fingerprints.items()
        if key.endswith(f"@{side.arm}")
    )


def _why(part: _Part, candidate: Side, served: Served) -> str:
    if _mixes(candidate, served):
        return f"the provider changed the pinned model during the run: {_some(served.models)}"
    if _is_mixed(part):
        return f"the provider changed the pinned model while the baseline was recorded: {_some(part.served.models)}"
    if strays := served.strays(candidate.pin):
        return f"the provider served {_some(strays)}, which is not the pinned model"
    if part.strays:
        return f"for the baseline the provider served {_some(part.strays)}, which is not the pinned model"
    return (
        f"the provider served {_some(served.models)} behind the pinned model, and {_some(part.served.models)} for the "
        "baseline"
    )


def _some(served: Sequence[str]) -> str:
    named = ", ".join(name if len(name) <= 80 else name[:80] + "…" for name in served[:4])
    return f"{named} and {len(served) - 4} more" if len(served) > 4 else named


def _joined(all_trials: Iterable[Trials]) -> Trials:
    first, *others = all_trials
    if not others:
        return first
    whole = Trials()
    for trials in (first, *others):
        whole.join(trials)
    return whole
