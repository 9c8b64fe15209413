"""Two sides → a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from seatrial.compare import sentences
from seatrial.compare.judging import CONFIRMING, Contest, Judgement, judge, rule_for
from seatrial.compare.matching import Entry, concerned, entries
from seatrial.compare.model import BaselineInfo, CaseComparison, Comparison, ServedModels
from seatrial.compare.pooling import pinned_alike, pool
from seatrial.compare.sides import Served, Side, Trials, count, where_it_went_wrong
from seatrial.compare.suite import causes, flips, ledger, overall, pass_k, simulation
from seatrial.compare.tables import tables
from seatrial.compare.ties import ties
from seatrial.documents import Policy
from seatrial.stats.sequential import Lack, Rule
from seatrial.verdicts import Outcome


def compare(
    baseline: Side | None,
    candidate: Side,
    policy: Policy,
    *,
    ledger: Sequence[Side] = (),
    live: Side | None = None,
    confirm: int = CONFIRMING,
    loosened: Mapping[str, int] | None = None,
    about: BaselineInfo | None = None,
) -> Comparison:
    """Set the candidate's trials against the baseline's, case by case and as a suite.

    Invalid trials are left out on both sides alike and counted. No verdict depends on the order of cases or
    records.

    Args:
        baseline: the released arm's stored trials; None where there are none.
        candidate: the changed arm's trials.
        policy: error rates, the drop to be caught, the margin.
        ledger: further batches of the released arm, which count where they can be compared.
        live: the baseline's arm run beside the candidate. With it a regression of a required case must be
            confirmed; where no stored trial can be compared, its trials stand for them.
        confirm: live trials that must stand before a regression is said.
        loosened: case → the candidate's trials that pass by changed checks and would not by the release's.
        about: what else is known of the baseline (who approved it, why this one).
    """
    counted, served = count(candidate)
    cases = concerned(baseline, candidate, counted)
    released = pool(baseline, ledger, live, candidate, served, cases)
    found = compare_counts(
        entries(baseline, candidate, counted, released.standing),
        released.stored,
        counted,
        policy,
        live=released.live,
        confirm=confirm,
        adaptive=candidate.manifest.adding is not None,
    )
    regraded, adding = candidate.manifest.regraded, candidate.manifest.adding
    return found.model_copy(
        update={
            "regraded_from": regraded.run if regraded else "",
            "most": adding.most if adding else None,
            "cases": tuple(
                case.model_copy(update={"passed_by_change": loosened[case.case]})
                if loosened and case.case in loosened
                else case
                for case in found.cases
            ),
            "suite": candidate.manifest.suite,
            "run": candidate.manifest.run,
            "ended": candidate.ended,
            "shard": str(candidate.manifest.sharding or ""),
            "candidate_arm": candidate.arm,
            "candidate_version": candidate.version,
            "baseline": about or (_about(baseline) if baseline else None),
            "served": ServedModels(
                baseline=released.served,
                candidate=served.models,
                strays={
                    name: strays
                    for name, strays in (
                        ("baseline", released.strays),
                        ("candidate", served.strays(candidate.pin)),
                    )
                    if strays
                },
                fingerprints={
                    name: found
                    for name, found in (
                        ("baseline", released.fingerprints),
                        ("candidate", served.fingerprints),
                    )
                    if found
                },
                pinned_alike=baseline is not None and pinned_alike(baseline, candidate),
                mixed=tuple(
                    side
                    for side, mixed in (
                        ("baseline", released.mixed),
                        ("candidate", released.candidate_mixed),
                    )
                    if mixed
                ),
            ),
        }
    )


def contested(
    baseline: Side,
    candidate: Side,
    policy: Policy,
    *,
    ledger: Sequence[Side] = (),
    live: bool = False,
) -> tuple[Rule, dict[str, tuple[int, int]]]:
    """What the verdicts of a run that has not begun will rest on.

    Args:
        baseline: the released arm's stored trials.
        candidate: the changed arm, without a trial.
        policy: error rates, the drop to be caught.
        ledger: further batches of the released arm.
        live: the released arm can be run beside the candidate.

    Returns:
        The rule for the required cases, and of each that is to run and can be compared the stored trials:
        passed, valid.
    """
    released = pool(baseline, ledger, None, candidate, Served(), concerned(baseline, candidate, {}))
    matched, stored = entries(baseline, candidate, {}, released.standing), released.stored
    known = {
        e.facts.case: (trials.batch_passed, trials.batch_valid)
        for e in matched
        if e.facts.required and e.selected and not e.removed and not e.standing.apart
        if (trials := stored.get(e.facts.case)) is not None and trials.batch_valid
    }
    return _rule(matched, stored, policy, CONFIRMING if live else 0), known


def compare_counts(
    matched: Sequence[Entry],
    stored: Mapping[str, Trials],
    counted: Mapping[str, Trials],
    policy: Policy,
    *,
    live: Mapping[str, Trials] | None = None,
    confirm: int = CONFIRMING,
    adaptive: bool = False,
) -> Comparison:
    """The comparison of trials that are counted already; which run it is of, is left open.

    Args:
        matched: the cases.
        stored: the baseline's trials, by case.
        counted: the candidate's.
        policy: error rates, the drop to be caught, the margin.
        live: those of the baseline's arm beside the candidate, also of cases in which it has not been run yet;
            a case that is missing is one in which it cannot be run. None where it was not run at all.
        confirm: how many of them must stand before a regression is said.
        adaptive: trials of required cases are added where one looks suspicious.
    """
    beside = live or {}
    rows = [(e, stored.get(e.facts.case), counted.get(e.facts.case)) for e in matched]
    contests = [
        Contest(
            e.facts.case,
            e.facts.required,
            *sides,
            live=beside.get(e.facts.case),
            again=e.standing.again,
            adaptive=adaptive and e.facts.required,
        )
        for e, *both in rows
        if (sides := _contestants(e, *both)) is not None
    ]
    forward = _rule(matched, stored, policy, confirm if live is not None else 0)
    backward = _rule(matched, counted, policy, 0)
    judged = judge(contests, forward, backward)
    by_side = {"baseline": stored, "candidate": counted}
    negative = {e.facts.case for e in matched if e.facts.negative}
    quarantined = {e.facts.case for e in matched if e.quarantine}
    counting = [c for c in contests if c.case not in quarantined]
    return Comparison(
        suite="",
        run="",
        candidate_arm="",
        policy=policy,
        evidence_needed=forward.evidence,
        screen=forward.screen,
        adaptive=adaptive,
        cases=tuple(
            _of_case(
                *row,
                beside.get(row[0].facts.case),
                judged.get(row[0].facts.case),
                adaptive=adaptive,
            )
            for row in rows
        ),
        overall=overall(counting, policy),
        negative=overall([c for c in counting if c.case in negative], policy),
        flips=flips(counting),
        cut_short=tuple(
            e.facts.case
            for e, *both in rows
            if not e.removed and any(trials is not None and trials.cut for trials in both)
        ),
        tables=tables(matched, contests, judged),
        ties=ties(matched, contests, forward),
        pass_k={side: series for side, trials in by_side.items() if (series := pass_k(trials))},
        invalid={side: found for side, trials in by_side.items() if (found := causes(trials))},
        simulation={
            side: how for side, trials in by_side.items() if (how := simulation(trials)) is not None
        },
    )


def _rule(
    matched: Sequence[Entry], reference: Mapping[str, Trials], policy: Policy, confirm: int
) -> Rule:
    """The sequential rule against one side's trials."""
    tested = sum(e.facts.required and not e.removed for e in matched)
    return rule_for(policy, tested, ledger(reference), live=confirm > 0, confirm=confirm)


def _contestants(
    entry: Entry, base: Trials | None, candidate: Trials | None
) -> tuple[Trials, Trials] | None:
    """Both sides of a case that can be judged."""
    if entry.removed or entry.standing.apart or base is None or candidate is None:
        return None
    return (base, candidate) if base.batch_valid and candidate.valid else None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What is said of one case."""

    outcome: Outcome
    sentence: str
    component: str = ""
    evidence: float | None = None
    lacks: Lack | Literal["run", "valid_trials"] = ""
    wanted: int = 0
    wanted_live: int = 0


def _of_case(
    entry: Entry,
    base: Trials | None,
    candidate: Trials | None,
    live: Trials | None,
    judgement: Judgement | None,
    *,
    adaptive: bool,
) -> CaseComparison:
    facts, verdict = entry.facts, _verdict(entry, base, candidate, live, judgement)
    return CaseComparison(
        case=facts.case,
        title=facts.title,
        group=facts.group,
        required=facts.required,
        loosened=entry.loosened,
        quarantine=entry.quarantine,
        negative=facts.negative,
        weak=entry.weak,
        outcome=verdict.outcome,
        component=verdict.component,
        changed=entry.standing.own,
        baseline=base.tally() if base else None,
        batches=entry.standing.parts,
        rerun=entry.standing.again,
        regraded=entry.standing.regraded,
        checks_changed=entry.standing.checks_changed,
        live=live.tally(adaptive=adaptive) if live and live.seen else None,
        candidate=candidate.tally(adaptive=adaptive and facts.required) if candidate else None,
        planned=_planned(entry, candidate, adaptive=adaptive),
        recorded=candidate.batch_seen if candidate else 0,
        evidence=verdict.evidence,
        lacks=verdict.lacks,
        wanted=verdict.wanted,
        wanted_live=verdict.wanted_live,
        sentence=verdict.sentence,
        worst=where_it_went_wrong(candidate.worst) if candidate and candidate.worst else None,
        reasons=entry.reasons,
    )


def _planned(entry: Entry, candidate: Trials | None, *, adaptive: bool) -> int:
    """Trials that must have a record: an adaptive run ends a case at its first forbidden action."""
    halted = adaptive and candidate is not None and candidate.forbidden
    return min(entry.planned, candidate.batch_seen) if halted and candidate else entry.planned


def _verdict(
    entry: Entry,
    base: Trials | None,
    candidate: Trials | None,
    live: Trials | None,
    judgement: Judgement | None,
) -> _Verdict:
    """The outcomes in the order in which they exclude each other."""
    if entry.removed:
        return _Verdict(Outcome.REMOVED, sentences.of_removed(base, entry.facts.required))
    if not entry.selected:
        return _left_out(entry, base)
    if base is None:
        lacks: Literal["", "run"] = "" if candidate else "run"
        return _Verdict(Outcome.NEW, sentences.of_new(candidate), lacks=lacks)
    if entry.standing.apart:
        text = sentences.of_incomparable(entry.standing, base, candidate)
        return _Verdict(Outcome.INCOMPARABLE, text, entry.standing.component)
    if candidate is None:
        return _Verdict(Outcome.UNDECIDED, sentences.of_silence(base, None), lacks="run")
    if judgement is None:
        text = sentences.of_silence(base, candidate)
        return _Verdict(Outcome.UNDECIDED, text, lacks="valid_trials")
    decision, outcome = judgement.decision, judgement.outcome
    if candidate.forbidden and not base.forbidden:
        # One trial shows a forbidden action; that there is none, no number of trials shows. So this
        # has no mirror image among the improvements.
        text = sentences.of_forbidden(base, candidate)
        return _Verdict(Outcome.REGRESSED, text, evidence=decision.evidence)
    text = sentences.of_contest(judgement, base, candidate, live)
    text += sentences.of_standing(entry.standing)
    match outcome:
        case Outcome.UNDECIDED:
            return _Verdict(
                outcome,
                text,
                evidence=decision.evidence,
                lacks=decision.lacks or "trials",
                wanted=decision.candidate,
                wanted_live=decision.live,
            )
        case Outcome.IMPROVED:
            return _Verdict(outcome, text, evidence=judgement.mirrored.evidence)
        case _:
            return _Verdict(outcome, text, evidence=decision.evidence)


def _left_out(entry: Entry, base: Trials | None) -> _Verdict:
    if base is None or not base.valid:
        return _Verdict(Outcome.NEW, sentences.of_new(None), lacks="run")
    # A run may not record what it did not run; then the selection has vouched for it.
    component = entry.standing.component
    if component and component != "fingerprint":
        text = sentences.of_incomparable(entry.standing, base, None)
        return _Verdict(Outcome.INCOMPARABLE, text, component)
    return _Verdict(Outcome.CARRIED, sentences.of_carried(base))


def _about(baseline: Side) -> BaselineInfo:
    return BaselineInfo(
        run=baseline.manifest.run,
        suite=baseline.manifest.suite,
        arm=baseline.arm,
        version=baseline.version,
        revision=baseline.manifest.revision,
        where=baseline.where,
    )
