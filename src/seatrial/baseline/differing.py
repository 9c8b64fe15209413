"""Two released baselines side by side: each case's passes, and which components it was run under differ."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.baseline.flakes import Flakes, flakes
from seatrial.baseline.resolving import Baseline
from seatrial.comparability import between, expanded


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseApart:
    """One case of the two."""

    case: str
    old: tuple[int, int] | None
    """Passed and valid trials, those of the ledger among them; None where it was not there."""
    new: tuple[int, int] | None
    components: tuple[str, ...]
    """What its trials lean on that differs: of the case, its world, the arm."""

    @property
    def differs(self) -> bool:
        """Anything is not the same."""
        return self.old != self.new or bool(self.components)


def apart(old: Baseline, new: Baseline) -> tuple[CaseApart, ...]:
    """Every case of either baseline, in the order of the newer one, then what only the older one has.

    Raises:
        BaselineError: one of them cannot be read.
    """
    before, after = ({one.case: one for one in flakes(found)} for found in (old, new))
    return tuple(
        CaseApart(
            case=case,
            old=_tally(before.get(case)),
            new=_tally(after.get(case)),
            components=_components(old, new, case) if case in before and case in after else (),
        )
        for case in dict.fromkeys((*after, *before))
    )


def _tally(known: Flakes | None) -> tuple[int, int] | None:
    return None if known is None else (known.valid - known.failed, known.valid)


def _components(old: Baseline, new: Baseline, case: str) -> tuple[str, ...]:
    one, other = (
        expanded(
            found.run.manifest.fingerprints.get(f"{case}@{found.info.arm}", {}),
            found.run.manifest.toolsets,
        )
        for found in (old, new)
    )
    return tuple(between(one, other))
