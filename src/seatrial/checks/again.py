"""Grading a trace from nothing but itself and the documents: alike when it was made and years later."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping

from seatrial import checks
from seatrial.checks.objects import start_of
from seatrial.checks.scope import Background, Function
from seatrial.checks.secrets import Secrets, secrets_of
from seatrial.documents import Arm, Case, Catalog, ObjectsWorld, World, placeholders
from seatrial.documents.checks import NotDisclosed
from seatrial.state import State, start_state, state_from_json
from seatrial.state.placing import Placed
from seatrial.state.sight import held_by_world
from seatrial.trace import Trace
from seatrial.verdicts import Finding, Status


class Grader:
    """Grades traces by one set of documents; what many traces share is made ready once."""

    def __init__(
        self,
        catalog: Catalog,
        functions: Mapping[str, Function] | None = None,
        arms: Mapping[str, Arm] | None = None,
    ) -> None:
        """Take what traces are graded by.

        Args:
            catalog: the documents.
            functions: what their checks of kind `python` name.
            arms: the arms that left the traces; those of the documents, when left out.
        """
        self._catalog = catalog
        self._arms = catalog.arms if arms is None else arms
        self._functions = functions or {}
        self._starts: dict[int, State | None] = {}
        self._placed = Placed()
        self._known: dict[tuple[int, str | None, str | None, str], Secrets] = {}

    def findings(self, trace: Trace) -> tuple[Finding, ...]:
        """What the checks of the trace's case find in it, each with its place in the documents.

        Raises:
            KeyError: there is no such case.
        """
        catalog = self._catalog
        case = catalog.cases[trace.case]
        arm = self._arms.get(trace.arm)
        filled = filled_as_in(case, trace, catalog)
        background = Background(
            start=lambda types: self._start(filled, trace, types),
            functions=self._functions,
            secrets=lambda check: self._secrets(check, filled, trace),
            world=case.world,
            held_by_world=held_by_world(
                catalog.world(case.world, trace.arm), case.role, case.purpose
            ),
            skills=arm.skills if arm is not None else {},
            prices=arm.prices if arm is not None else None,
        )
        return tuple(
            finding.model_copy(update={"place": catalog.place("case", case.id, finding.path)})
            for finding in checks.grade(filled, trace, background)
        )

    def failed_in_turn(self, trace: Trace, turn: int) -> bool:
        """Whether a critical check of this turn alone fails in what there is of a trial so far."""
        case = self._catalog.cases[trace.case]
        own = {path for path, of, _ in case.placed_checks() if of == turn}
        return any(
            finding.path in own
            and finding.severity == "critical"
            and finding.status is Status.FAILED
            for finding in self.findings(trace)
        )

    def _secrets(self, check: NotDisclosed, case: Case, trace: Trace) -> Secrets:
        """What the check keeps from being disclosed; worked out once for all trials alike."""
        world = self._placed.world(case, self._catalog.world(case.world, trace.arm))
        key = (id(world), case.role, case.purpose, check.model_dump_json())
        if key not in self._known:
            self._known[key] = secrets_of(check, world, case.role, case.purpose)
        return self._known[key]

    def _start(self, case: Case, trace: Trace, types: Collection[str]) -> State | None:
        """What there was of these types when the trial began."""
        if trace.beginning is not None:
            return start_of(trace.beginning, types)
        world = self._placed.world(case, self._catalog.world(case.world, trace.arm))
        if id(world) not in self._starts:
            self._starts[id(world)] = _start_of(world)
        return self._starts[id(world)]


def _start_of(world: World) -> State | None:
    """The state that a document says its world starts from; None where it stands in files or services."""
    if isinstance(world, ObjectsWorld):
        return start_state(world)
    start = world.declared_start()
    return None if start is None else state_from_json(start)


def functions_named(cases: Iterable[Case]) -> tuple[str, ...]:
    """The functions of the repository that checks of these cases name, each once."""
    return tuple(
        dict.fromkeys(check.function for case in cases for check in case.functions().values())
    )


def filled_as_in(case: Case, trace: Trace, catalog: Catalog) -> Case:
    """The case with its placeholders filled as they were in the trial that left this trace."""
    now = dt.datetime.fromisoformat(trace.now) if trace.now else catalog.world(case.world).now
    return case.filled(placeholders.of_trial(trace.run_token, now))


def grade_again(catalog: Catalog, trace: Trace) -> tuple[Finding, ...]:
    """What the checks of the trace's case find in it; many traces are better given to one `Grader`.

    Raises:
        KeyError: the catalog has no such case.
    """
    return Grader(catalog).findings(trace)
