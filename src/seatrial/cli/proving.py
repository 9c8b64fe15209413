"""What `seatrial check --prove` finds: weak cases, cases that cannot be passed, and what nobody can tell."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seatrial.errors import Problem, UsageError, printable

if TYPE_CHECKING:
    from seatrial.documents import Case, Catalog, Server, World
    from seatrial.records import PlannedCase
    from seatrial.runner import Equipment, Proof

Standing = Literal["proved", "weak", "not proved", "wrong"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of proving cases."""

    catalog: Catalog
    proofs: Sequence[Proof]
    seconds: float

    @property
    def problems(self) -> list[Problem]:
        """Where a case is weak without a reason, cannot be passed, or could not be tried."""
        return sorted(
            problem for proof in self.proofs for problem in _problems(self.catalog, proof)
        )

    def lines(self) -> Iterator[str]:
        """Both arms side by side, a case a line; then what to write where nothing is proved; then the sum."""
        width = max((len(proof.case) for proof in self.proofs), default=4)
        yield f"{'case':<{width}}  idle     reference"
        counted: dict[Standing, int] = {"proved": 0, "weak": 0, "not proved": 0, "wrong": 0}
        for proof in self.proofs:
            standing = _standing(self.catalog, proof)
            counted[standing] += 1
            right = proof.reference.verdict.value if proof.reference else "–"
            row = f"{proof.case:<{width}}  {proof.idle.verdict.value:<7}  {right:<9}"
            yield f"{row}  {standing}" if standing != "proved" else row.rstrip()
        # Variants of one case lack the same.
        yield from dict.fromkeys(
            line for proof in self.proofs for line in _advice(self.catalog, proof)
        )
        each = 1000 * self.seconds / len(self.proofs) if self.proofs else 0.0
        sums = ", ".join(f"{number} {standing}" for standing, number in counted.items() if number)
        noun = "case" if len(self.proofs) == 1 else "cases"
        yield f"{len(self.proofs)} {noun}: {sums or 'none'}; {each:.1f} ms a case"

    def as_data(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "seconds": round(self.seconds, 3),
            "cases": [
                {
                    "case": proof.case,
                    "standing": _standing(self.catalog, proof),
                    "weak": proof.weak,
                    "reason": self.catalog.cases[proof.case].weak,
                    "idle": _told(proof.idle),
                    "reference": _told(proof.reference) if proof.reference else None,
                    "solution": "written"
                    if self.catalog.cases[proof.case].solution
                    else "worked out"
                    if proof.reference
                    else None,
                    "to_write": list(_missing(proof)),
                    "took_ms": round(proof.took_ms, 3),
                }
                for proof in self.proofs
            ],
        }


def chosen(
    catalog: Catalog, suite: str | None, cases: Sequence[str], shown: Callable[[str], bool]
) -> tuple[Case, ...]:
    """The cases that are to be proved.

    Raises:
        UsageError: a suite or a case that is not there.
    """
    import difflib

    ids: list[str] = []
    for id in cases:
        if not (named := catalog.named(id)):
            near = difflib.get_close_matches(id, catalog.cases, n=3)
            hint = f"did you mean {', '.join(near)}?" if near else "seatrial list cases"
            raise UsageError(f"there is no case {id!r}", hint=hint)
        ids += named
    if suite is not None:
        if suite not in catalog.suites:
            raise UsageError(
                f"there is no suite {suite!r}",
                hint=f"there are {', '.join(sorted(catalog.suites))}",
            )
        ids += (case.id for case in catalog.suite_cases(catalog.suites[suite]))
    wanted = ids or list(catalog.cases)
    return tuple(catalog.cases[id] for id in dict.fromkeys(wanted) if shown(id))


def proved(root: Path, catalog: Catalog, cases: Sequence[Case]) -> Outcome:
    """Carry the cases out by both built-in arms.

    Raises:
        UsageError: a variable that a world needs is not set, or a function of a check cannot be had.
    """
    import anyio

    from seatrial import runner

    equipment = runner.equip([], root, cases=cases, fixtures=_used(catalog, cases))
    start = time.perf_counter()
    proofs = anyio.run(
        lambda: runner.prove(catalog, cases, equipment, run=f"prove-{secrets.token_hex(6)}")
    )
    return Outcome(catalog, proofs, time.perf_counter() - start)


def _used(catalog: Catalog, cases: Sequence[Case]) -> list[World | Server]:
    """The worlds and servers that these cases lean on, and the servers of their agents."""
    from seatrial.documents import Server, World

    agents = {case.agent for case in cases}
    ids = {id for case in cases for id in case.fixtures}
    ids |= {id for arm in catalog.arms.values() if arm.agent in agents for id in arm.servers}
    found = (catalog.fixtures[id] for id in sorted(ids))
    return [fixture for fixture in found if isinstance(fixture, World | Server)]


def marked(
    planned: tuple[PlannedCase, ...],
    catalog: Catalog,
    equipment: Equipment,
    only: Collection[str] | None = None,
) -> tuple[PlannedCase, ...]:
    """The plan of a run, with what doing nothing comes to in each case that is to run (of these, where said)."""
    import anyio

    from seatrial import runner

    cases = [
        catalog.cases[entry.case]
        for entry in planned
        if entry.selected and (only is None or entry.case in only)
    ]
    weak = anyio.run(
        lambda: runner.weaknesses(catalog, cases, equipment, run=f"idle-{secrets.token_hex(6)}")
    )
    return tuple(
        entry.model_copy(update={"weak": weak[entry.case]}) if entry.case in weak else entry
        for entry in planned
    )


def _standing(catalog: Catalog, proof: Proof) -> Standing:
    if any(True for _ in _problems(catalog, proof)):
        return "wrong"
    if proof.reference is None:
        return "not proved"
    return "weak" if proof.weak else "proved"


def _problems(catalog: Catalog, proof: Proof) -> Iterator[Problem]:
    from seatrial.checks.solutions import Solved
    from seatrial.verdicts import Status, Verdict

    case = catalog.cases[proof.case]

    def at(path: str, message: str, hint: str, code: str) -> Problem:
        source = catalog.sources["case", case.id]
        text = f"case `{case.id}`: {printable(message)}" if case.id != case.written_as else message
        return Problem(*source.at(path), printable(text), hint, code)

    if proof.weak is None:
        yield at("id", f"doing nothing could not be tried: {proof.idle.detail}", "", "not-tried")
    elif proof.weak and case.group == "injection":
        hint = "Add a critical check that the legitimate task is done; no reason excuses this one"
        yield at("checks", "an agent that does nothing passes this injection case", hint, "weak")
    elif proof.weak and case.weak is None:
        hint = "Add a check that fails it, or say under `weak` why the case may stay"
        yield at("checks", "an agent that does nothing passes this case", hint, "weak")
    record = proof.reference
    if record is None or record.verdict is Verdict.PASSED:
        return
    if record.verdict is Verdict.INVALID:
        cause = record.cause.value if record.cause else ""
        yield at(
            "solution", f"its solution was not tried ({cause}): {record.detail}", "", "not-tried"
        )
        return
    written = isinstance(proof.solution, Solved) and proof.solution.written
    failed = next(
        f for f in record.findings if f.status is Status.FAILED and f.severity == "critical"
    )
    what = "its solution" if written else "what its checks tell of a solution"
    hint = (
        "Mend the solution or the check"
        if written
        else "Where a right agent does something else, write it under `solution`"
    )
    yield at(failed.path, f"{what} fails: {failed.check}: {failed.reason}", hint, "unsolved")


def _advice(catalog: Catalog, proof: Proof) -> Iterator[str]:
    """What to write, where nothing is wrong."""
    place = catalog.place("case", proof.case)
    from seatrial.checks.solutions import Unsolved

    if isinstance(proof.solution, Unsolved):
        missing = proof.solution.why
        text = f"{place}: not proved: {'; '.join(missing)}"
        if not proof.solution.for_good:
            keys = "reply" if all("reply" in why for why in missing) else "calls and reply"
            text += f". Write what a right agent does under `solution` ({keys})"
        yield printable(text)
    if catalog.cases[proof.case].weak is not None and proof.weak is False:
        yield f"{place}: says `weak`, and doing nothing does not pass it. Leave `weak` out"


def _missing(proof: Proof) -> tuple[str, ...]:
    from seatrial.checks.solutions import Unsolved

    return proof.solution.why if isinstance(proof.solution, Unsolved) else ()


def _told(record: Any) -> dict[str, Any]:
    return {
        "verdict": record.verdict.value,
        "cause": record.cause.value if record.cause else None,
        "detail": record.detail,
    }
