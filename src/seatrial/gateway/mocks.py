"""Mocked answers: the first rule whose conditions all hold, or an error that names the nearest one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from seatrial.documents import Answers, Condition, placeholders
from seatrial.documents.behaviour import Broken, Fail, Wire
from seatrial.errors import MockError
from seatrial.gateway import jsonrpc
from seatrial.gateway.filling import Memory, NotGiven, Scope
from seatrial.gateway.fitting import problems_of
from seatrial.gateway.offers import Offered
from seatrial.gateway.scripts import Asked, Part, Purpose, Script
from seatrial.state import MISSING, Missing, explain, fulfils
from seatrial.state.breaking import broken, kept
from seatrial.state.operators import Operators, unfillable
from seatrial.state.values import as_text, walk
from seatrial.trace import Answer, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Mocked:
    """What a fixture makes of a call."""

    answer: Answer | None
    """None: the server answers, and `Mocks.shaped` is asked what becomes of that."""
    rule: str | None = None
    """What answered, for example `rules[1]` or `sequence[0]`; None when nothing fits."""
    delay_ms: float = 0
    """How long the agent has to wait."""
    fault: str | None = None
    """What goes wrong on purpose: `fail`, `broken: html`, `wire: status`."""
    wire: Wire | None = None
    """What goes wrong on the wire."""
    broken: Broken | None = None
    """In which way the server's answer is broken, when `answer` is None."""
    kept: Answer | None = None
    """What is recorded, where that is not the answer itself."""
    mistake: str = ""
    """What is wrong with the fixture, when that is why there is no answer."""


class Mocks:
    """The mocked answers of one trial."""

    def __init__(self, fixture: Answers, lookup: Mapping[str, Json], seed: int = 0) -> None:
        """Take a fixture.

        Args:
            fixture: the answers by tool.
            lookup: what `{{run}}`, `{{today}}` and `{{now}}` stand for.
            seed: of the trial; what is drawn at random is drawn from it.
        """
        self._fixture = fixture
        self._memory = Memory(fixture.state, lookup, seed)
        self._scripts: dict[str, Script] = {}
        self._first: dict[tuple[str, bytes], Answer] = {}
        """Of tools whose answers are passed through and may be stale: the first to these arguments."""

    def check(self, tools: Mapping[str, Offered]) -> None:
        """Refuse answers for tools that are not there or may not be mocked, and answers that no client would take.

        Raises:
            MockError: all of them, and why.
        """
        wrong = [
            f"{name} ({why})"
            for name in self._fixture.tools
            for why in (
                problems_of(self._fixture, name, tools[name].tool)
                if name in tools
                else ("there is no such tool",)
            )
        ]
        if wrong:
            raise MockError(
                f"fixture {self._fixture.id!r} mocks what cannot be mocked: {'; '.join(wrong)}",
                hint="mock only tools that declare themselves read-only, or write `allow_undeclared: true` and a "
                "`reason` where the server declares nothing",
            )

    def covers(self, tool: str) -> bool:
        """Whether this tool is mocked."""
        return tool in self._fixture.tools

    def answer(self, offered: Offered, arguments: dict[str, Json]) -> Mocked:
        """What the first rule that fits makes of a call, or an error that says why none does."""
        name = offered.tool.name
        script = self._scripts.get(name)
        if script is None:
            script = self._scripts[name] = Script(name, self._fixture.tool(name))
        script.calls.used += 1
        part = self._fitting(script, arguments)
        if part is None:
            part = script.plain
            answering = script.tool.has_plain_answer
        else:
            answering = True
        part.used += 1
        step = part.next_step() if part.steps and answering else part
        if step is None:
            text = f"No more mocked answers of {name}: all {len(part.steps)} of its sequence were given."
            return Mocked(answer=Answer.of_text(text, is_error=True), rule=part.path or None)
        if step is not part:
            step.used += 1
        return self._of(step, part, script, offered, arguments, answering=answering)

    def shaped(
        self, mocked: Mocked, offered: Offered, arguments: dict[str, Json], answer: Answer
    ) -> Mocked:
        """What becomes of a server's answer to a call that was passed through.

        A stale one is the first that the tool gave to these arguments in the trial.
        """
        how, name = mocked.broken, offered.tool.name
        if answer.is_error:
            return replace(mocked, answer=answer, fault=None, broken=None)
        if self._scripts[name].may_be_stale:
            first = self._first.setdefault((name, jsonrpc.encode(arguments)), answer)
            if how is not None and how.how == "stale":
                return replace(mocked, answer=first)
        if how is None:
            return replace(mocked, answer=answer)
        answer, short = self._broken(answer, how, offered)
        return replace(mocked, answer=answer, kept=short)

    # --- which part answers ---

    def _fitting(self, script: Script, arguments: dict[str, Json]) -> Part | None:
        for part in script.rules:
            if all(
                fulfils(wanted, found) for _, wanted, found in self._conditions(part, arguments)
            ):
                return part
        return None

    def _nearest(self, script: Script, arguments: dict[str, Json]) -> str:
        """Of the rules that do not fit the nearest one, and why it does not."""
        misses = []
        for number, part in enumerate(script.rules):
            conditions = list(self._conditions(part, arguments))
            missed = [one for one in conditions if not fulfils(one[1], one[2])]
            path, wanted, found = missed[0]
            why = f"{part.path}: {explain(wanted, found, path)}"
            misses.append((len(missed), len(missed) - len(conditions), number, why))
        return min(misses)[-1]

    def _conditions(
        self, part: Part, arguments: dict[str, Json]
    ) -> Iterator[tuple[str, Condition | Operators, Json | Missing]]:
        """Each condition of a rule: its path, what is wanted there, and what is."""
        for asked in part.conditions:
            yield asked.path, self._filled(asked, arguments), walk(arguments, asked.steps)
        for asked in part.state:
            path = f"state.{asked.path}"
            yield path, self._filled(asked, arguments), walk(self._memory.state, asked.steps)

    def _filled(self, asked: Asked, arguments: dict[str, Json]) -> Condition | Operators:
        """The condition with the placeholders in its operands replaced."""
        condition = asked.condition
        if not asked.filled:
            return condition
        as_written = set(unfillable(condition))
        scope = Scope(self._memory, arguments, "")

        def filled(operand: Json) -> Json | Missing:
            try:
                return placeholders.fill(operand, scope.value)
            except NotGiven:
                return MISSING

        return [(n, o if n in as_written else filled(o)) for n, o in condition.operators]

    # --- what it answers ---

    def _of(
        self,
        step: Part,
        part: Part,
        script: Script,
        offered: Offered,
        arguments: dict[str, Json],
        *,
        answering: bool,
    ) -> Mocked:
        name, given = script.calls.name, step.given
        rule = (step.path or step.said) if answering else None
        delay_ms = float(step.delay_ms)
        if step.jitter_ms:
            delay_ms += step.jitter_ms * self._memory.chance.share(
                f"{name}\0{script.calls.used}\0jitter"
            )
        wire = self._happening(step.wire, "wire")
        assert wire is None or isinstance(wire, Wire)
        if wire is not None and wire.how not in {"cut_off", "trickle"}:
            text = f"Not answered: {_TOLD_OF_THE_WIRE[wire.how]}."
            return Mocked(
                answer=Answer.of_text(text, is_error=True),
                rule=rule or "wire",
                delay_ms=delay_ms,
                fault=f"wire: {wire.how}",
                wire=wire,
            )
        scope = Scope(self._memory, arguments, f"{name}\0{script.calls.used}\0uuid")
        fail = self._happening(step.fail, "fail")
        if isinstance(fail, Fail):
            return Mocked(
                answer=_failure(fail, scope), rule=rule or "fail", delay_ms=delay_ms, fault="fail"
            )
        how = self._happening(step.broken, "broken")
        assert how is None or isinstance(how, Broken)
        broken_wire = f"wire: {wire.how}" if wire is not None else None
        if not answering:
            why = self._nearest(script, arguments)
            text = f"No mocked answer of {name} fits these arguments; the nearest is {why}"
            return Mocked(
                answer=Answer.of_text(text, is_error=True),
                delay_ms=delay_ms,
                fault=broken_wire,
                wire=wire,
            )
        part.answered += 1
        answer: Answer | None = None
        mistake, short = "", None
        if not given.pass_through:
            if how is not None and how.how == "stale":
                first = part.steps[0] if part.steps else step
                answer, mistake = self._written(first, offered, scope.aged(how.hours))
            else:
                self._leave(step, scope)
                answer, mistake = self._written(step, offered, scope)
            if answer.is_error:
                how = None  # an error is as it should not be already
            elif how is not None:
                answer, short = self._broken(answer, how, offered)
        fault = broken_wire
        if how is not None:
            fault = f"broken: {how.how}" + (f", {broken_wire}" if broken_wire else "")
        return Mocked(
            answer=answer,
            rule=rule,
            delay_ms=delay_ms,
            fault=fault,
            wire=wire,
            broken=how,
            kept=short,
            mistake=f"{rule} of {name} does not fit the tool's output schema: {mistake}"
            if mistake
            else "",
        )

    def _happening(self, purpose: Purpose | None, kind: str) -> Fail | Broken | Wire | None:
        """What goes wrong on this call, when it does."""
        if purpose is None:
            return None
        what, counted = purpose
        happens = what.is_always or counted.used in what.calls
        if not happens and what.share is not None:
            happens = (
                self._memory.chance.share(f"{counted.name}\0{counted.used}\0{kind}") < what.share
            )
        assert isinstance(what, Fail | Broken | Wire)
        return what if happens else None

    def _leave(self, step: Part, scope: Scope) -> None:
        """Change the state as the answer says."""
        given = step.given
        if not given.put and not given.add:
            return
        put = placeholders.fill(given.put, scope.value_or_null) if given.put else {}
        self._memory.state.update(jsonrpc.copy(put))
        for name, number in given.add.items():
            before = self._memory.state.get(name, 0)
            is_number = isinstance(before, int | float) and not isinstance(before, bool)
            self._memory.state[name] = before + number if is_number else number

    def _written(self, step: Part, offered: Offered, scope: Scope) -> tuple[Answer, str]:
        """The answer as it stands in the fixture, and why no client would take it; empty when they do."""
        given = step.given
        if given.error is not None:
            text = given.error
            if step.filled:
                text = as_text(placeholders.fill(text, scope.value_or_null))
            return Answer.of_text(text, is_error=True), ""
        value = given.answer
        if step.filled:
            value = placeholders.fill(value, scope.value_or_null)
        # As the world answers: whatever is an object comes in both forms, declared or not.
        declared = offered.tool.output_schema is not None
        structured = value if declared or isinstance(value, dict) else None
        answer = Answer.of_text(as_text(value), structured=structured)
        if not declared or not step.filled:
            return answer, ""  # it was held against the schema at the start
        wrong = offered.answer.misfits(value, lambda path: path or "the answer")
        return answer, wrong[0] if wrong else ""

    def _broken(
        self, answer: Answer, how: Broken, offered: Offered
    ) -> tuple[Answer, Answer | None]:
        """The answer as it comes, and what is recorded of it where that is not all."""
        schema = offered.answer if offered.tool.output_schema is not None else None
        answer = broken(answer, how, schema)
        return answer, kept(answer) if how.how == "oversized" else None


_TOLD_OF_THE_WIRE = {
    "status": "the server answered with an error status",
    "html": "the server answered with a web page",
    "empty": "the server answered with nothing",
    "dropped": "the connection was lost",
    "rpc_error": "the server answered with an error of the protocol",
}
"""Kind of fault on the wire → what an agent is told that does not call over the wire, and what is recorded."""


def _failure(fail: Fail, scope: Scope) -> Answer:
    """An error as models read it: MCP clients do not show them headers, so all of it stands in the text."""
    text = as_text(placeholders.fill(fail.message, scope.value_or_null))
    hints = [] if fail.code is None else [f"code {fail.code}"]
    if fail.retry_after is not None:
        hints.append(f"retry after {fail.retry_after:g} s")
    if hints:
        text = f"{text} ({'; '.join(hints)})"
    code = fail.code if isinstance(fail.code, int) else None
    return Answer.of_text(text, is_error=True, code=code)
