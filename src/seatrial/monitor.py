"""Many runs of the main branch + the release → which cases declined, when it began, and how sure that is.

What no pull request can see, many nights can: a case that fell from 1.0 to 0.8, a suite that loses two points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from seatrial.compare import Side, count, differences, recorded
from seatrial.stats.evidence import Prior, fit_prior
from seatrial.stats.monitoring import Evidence, case_decline, suite_decline

ALPHA = 0.05
"""Chance of any wrong "declined" for as long as one release is monitored, where nobody says otherwise."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Night(_Record):
    """One run, as far as it can be held against the release."""

    run: str
    at: str = ""
    """When it was started."""
    version: str = ""
    revision: str | None = None
    """The commit it was run from."""
    tallies: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """Case → trials passed and valid, of its first batch."""
    apart: dict[str, str] = Field(default_factory=dict)
    """Case → the fingerprint component in which it differs from the release: left out."""
    cut_short: tuple[str, ...] = ()
    """Cases left out because their first batch was not run to its end, as at a forbidden action."""


class Stretch(_Record):
    """Trials of some runs together."""

    passed: int
    trials: int


class Decline(_Record):
    """What declined, and since when."""

    case: str = ""
    """Empty for the suite as a whole."""
    evidence: float
    """The e-value at its highest: 1 : evidence against chance."""
    needed: float
    """From here on it is called a decline."""
    noticed: str
    """The run after which that was first so."""
    first: int
    """With the runs numbered `first` to `last` (from 0, of `Monitoring.nights`) it began, with a chance of 90 %."""
    last: int
    good: str | None = None
    """The commit of the last run before them, or of the release; None where it is not known."""
    bad: str | None = None
    """The commit of the last of them."""
    release: Stretch
    before: Stretch
    """Runs before the one with which it most probably began."""
    since: Stretch
    """Runs from that one on."""


class Watched(_Record):
    """A case as it stands now."""

    case: str
    required: bool = False
    release: Stretch
    runs: Stretch
    """All runs together."""
    evidence: float
    """The e-value after the last run."""


class Monitoring(_Record):
    """What many runs say against the release."""

    format: Literal[1] = 1
    alpha: float
    needed_case: float
    """The e-value from which a case is called declined: 2 · cases / alpha."""
    needed_suite: float
    """The same for the suite: 2 / alpha."""
    nights: tuple[Night, ...] = ()
    declines: tuple[Decline, ...] = ()
    """The suite first, then cases by their evidence."""
    cases: tuple[Watched, ...] = ()
    """Every case with trials on both sides, the most suspicious first."""
    suite_evidence: float = 1.0


def night(release: Side, side: Side) -> Night:
    """A stored run as it counts against the release: first batches of cases whose conditions are the same."""
    counted, _ = count(side)
    tallies, apart, cut = {}, {}, []
    for case, trials in sorted(counted.items()):
        if components := differences(release, side, case):
            apart[case] = components[0]
        elif trials.cut:
            cut.append(case)
        elif trials.batch_valid:
            tallies[case] = trials.for_means
    manifest = side.manifest
    return Night(
        run=manifest.run,
        at=manifest.created_at,
        version=side.version,
        revision=manifest.revision,
        tallies=tallies,
        apart=apart,
        cut_short=tuple(cut),
    )


def watch(
    release: Side, nights: Sequence[Night], *, ledger: Iterable[Side] = (), alpha: float = ALPHA
) -> Monitoring:
    """Hold the runs against the release, case by case and as a suite.

    Args:
        release: the released arm's stored trials.
        nights: later runs, in the order of time.
        ledger: further batches of the released arm.
        alpha: chance of any wrong "declined", ever, over all cases and the suite together; half of it is
            for the cases, half for the suite.
    """
    stored = recorded(release, ledger)
    required = {facts.case for facts in release.cases if facts.required}
    prior = fit_prior(stored.values())
    cases = [
        case
        for case, (_, trials) in stored.items()
        if trials and any(case in night.tallies for night in nights)
    ]
    needed_case, needed_suite = 2 * max(len(cases), 1) / alpha, 2 / alpha
    tracks = [_track_of_case(case, stored[case], nights, prior) for case in cases]
    suite = _track_of_suite({case: stored[case] for case in cases}, nights, prior)
    declines = [d for t in tracks if (d := _decline(t, needed_case, nights, release))]
    declines.sort(key=lambda d: (-d.evidence, d.case))
    together = _decline(suite, needed_suite, nights, release)
    watched = [
        Watched(
            case=track.case,
            required=track.case in required,
            release=track.release,
            runs=_added(track.tallies),
            evidence=_value(track.found.last),
        )
        for track in tracks
    ]
    return Monitoring(
        alpha=alpha,
        needed_case=needed_case,
        needed_suite=needed_suite,
        nights=tuple(nights),
        declines=(*([together] if together else []), *declines),
        cases=tuple(sorted(watched, key=lambda w: (-w.evidence, w.case))),
        suite_evidence=_value(suite.found.last),
    )


@dataclass(frozen=True, slots=True)
class _Track:
    """The trials of a case, or of all of them, run by run."""

    case: str
    release: Stretch
    ran: tuple[int, ...]
    """Numbers of the runs it was part of."""
    tallies: tuple[tuple[int, int], ...]
    """Of these runs, in their order."""
    evidence: Callable[[int], Evidence]
    """What its first so many runs say."""
    found: Evidence
    """What all of them say."""


def _track_of_case(
    case: str, stored: tuple[int, int], nights: Sequence[Night], prior: Prior
) -> _Track:
    ran = tuple(n for n, night in enumerate(nights) if case in night.tallies)
    tallies = tuple(nights[n].tallies[case] for n in ran)

    def evidence(runs: int) -> Evidence:
        return case_decline(*stored, tallies[:runs], prior)

    return _Track(case, _added([stored]), ran, tallies, evidence, evidence(len(ran)))


def _track_of_suite(
    stored: Mapping[str, tuple[int, int]], nights: Sequence[Night], prior: Prior
) -> _Track:
    rows = [[night.tallies.get(case, (0, 0)) for case in stored] for night in nights]
    totals = tuple((sum(p for p, _ in row), sum(n for _, n in row)) for row in rows)

    def evidence(runs: int) -> Evidence:
        return suite_decline(tuple(stored.values()), rows[:runs], prior)

    ran = tuple(range(len(nights)))
    return _Track("", _added(stored.values()), ran, totals, evidence, evidence(len(ran)))


def _decline(
    track: _Track, needed: float, nights: Sequence[Night], release: Side
) -> Decline | None:
    noticed = track.found.noticed(needed)
    if noticed is None:
        return None
    # Where it was mended since, the runs up to the strongest evidence say when it began.
    strongest = track.found.log_values.index(max(track.found.log_values)) + 1
    found = track.evidence(strongest)
    first, last = found.began()
    likely = found.starts.index(max(found.starts))
    start = track.ran[first]
    return Decline(
        case=track.case,
        evidence=_value(found.last),
        needed=needed,
        noticed=nights[track.ran[noticed]].run,
        first=start,
        last=track.ran[last],
        good=nights[start - 1].revision if start else release.manifest.revision,
        bad=nights[track.ran[last]].revision,
        release=track.release,
        before=_added(track.tallies[:likely]),
        since=_added(track.tallies[likely:strongest]),
    )


def _added(tallies: Iterable[tuple[int, int]]) -> Stretch:
    rows = list(tallies)
    return Stretch(passed=sum(p for p, _ in rows), trials=sum(n for _, n in rows))


def _value(logarithm: float) -> float:
    return math.exp(min(logarithm, 690.0))
