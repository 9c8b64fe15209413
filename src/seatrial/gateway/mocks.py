"""Mocked answers: the first rule whose conditions all hold, or an error that names the nearest one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from seatrial.documents import Answers, Condition, MockRule, placeholders
from seatrial.errors import UsageError
from seatrial.gateway.offers import Offered
from seatrial.state import MISSING, Missing, explain, fulfils, look_up
from seatrial.state.operators import Operators, unfillable
from seatrial.state.values import as_text
from seatrial.trace import Answer, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Mocked:
    """What a fixture answers."""

    answer: Answer
    rule: str | None = None
    """The rule that answered, for example `rules[1]`; None when none fits."""
    delay_ms: int = 0
    fault: str = ""
    """What is wrong with the fixture, when that is why there is no answer."""


class Mocks:
    """The mocked answers of one trial."""

    def __init__(self, fixture: Answers, lookup: Mapping[str, Json]) -> None:
        """Take a fixture.

        Args:
            fixture: the answers by tool.
            lookup: what `{{run}}`, `{{today}}` and `{{now}}` stand for.
        """
        self._fixture = fixture
        self._lookup = lookup

    def check(self, tools: Mapping[str, Offered]) -> None:
        """Refuse answers for tools that are not there, or that do not declare themselves read-only.

        Raises:
            UsageError: all of them, and why.
        """
        wrong = [
            f"{name} ({'not read-only' if name in tools else 'there is no such tool'})"
            for name in self._fixture.tools
            if name not in tools or tools[name].tool.read_only is not True
        ]
        if wrong:
            raise UsageError(
                f"fixture {self._fixture.id!r} mocks what cannot be mocked: {', '.join(wrong)}",
                hint="mock only tools of the case's world that declare `read_only: true`",
            )

    def covers(self, tool: str) -> bool:
        """Whether this tool is mocked."""
        return tool in self._fixture.tools

    def answer(self, offered: Offered, arguments: dict[str, Json]) -> Mocked:
        """The answer of the first rule that fits the arguments, or an error that says why none does."""
        tool = offered.tool
        rules = self._fixture.tools[tool.name].rules
        for number, rule in enumerate(rules):
            conditions = self._conditions(rule, arguments)
            if all(fulfils(wanted, found) for _, wanted, found in conditions):
                return self._of_rule(rule, f"rules[{number}]", offered, arguments)
        text = (
            f"No mocked answer of {tool.name} fits these arguments; the nearest is "
            + min(self._misses(rules, arguments))[-1]
        )
        return Mocked(answer=Answer.of_text(text, is_error=True))

    def _misses(
        self, rules: Iterable[MockRule], arguments: dict[str, Json]
    ) -> Iterator[tuple[int, int, int, str]]:
        """For each rule that does not fit, in an order in which the nearest is first, why it does not."""
        for number, rule in enumerate(rules):
            conditions = list(self._conditions(rule, arguments))
            missed = [
                (p, wanted, found) for p, wanted, found in conditions if not fulfils(wanted, found)
            ]
            path, wanted, found = missed[0]
            why = f"rules[{number}]: {explain(wanted, found, path)}"
            yield len(missed), len(missed) - len(conditions), number, why

    def _conditions(
        self, rule: MockRule, arguments: dict[str, Json]
    ) -> Iterator[tuple[str, Condition | Operators, Json | Missing]]:
        """Each condition of a rule: its path, what is wanted there, and what is."""
        for path, condition in rule.when.items():
            yield path, self._filled(condition, arguments), look_up(arguments, path)

    def _filled(self, condition: Condition, arguments: dict[str, Json]) -> Condition | Operators:
        """The condition with the placeholders in its operands replaced."""
        operands = [operand for _, operand in condition.operators]
        if next(placeholders.names(operands), None) is None:
            return condition
        as_written = set(unfillable(condition))

        def filled(operand: Json) -> Json | Missing:
            try:
                return placeholders.fill(operand, lambda name: self._value(name, arguments))
            except _NotGiven:
                return MISSING

        return [(n, o if n in as_written else filled(o)) for n, o in condition.operators]

    def _of_rule(
        self, rule: MockRule, name: str, offered: Offered, arguments: dict[str, Json]
    ) -> Mocked:
        def value_or_null(placeholder: str) -> Json:
            try:
                return self._value(placeholder, arguments)
            except _NotGiven:
                return None

        if rule.error is not None:
            text = as_text(placeholders.fill(rule.error, value_or_null))
            return Mocked(
                answer=Answer.of_text(text, is_error=True), rule=name, delay_ms=rule.delay_ms
            )
        value = placeholders.fill(rule.answer, value_or_null)
        # As the world answers: whatever is an object comes in both forms, declared or not.
        declared = offered.tool.output_schema is not None
        structured = value if declared or isinstance(value, dict) else None
        misfits = offered.answer.misfits(value, lambda path: path or "the answer")
        return Mocked(
            answer=Answer.of_text(as_text(value), structured=structured),
            rule=name,
            delay_ms=rule.delay_ms,
            fault=f"{name} of {offered.tool.name} does not fit the tool's output schema: {misfits[0]}"
            if misfits
            else "",
        )

    def _value(self, placeholder: str, arguments: dict[str, Json]) -> Json:
        """What a placeholder stands for.

        Raises:
            _NotGiven: an argument the agent left out.
            KeyError: a name that stands for nothing; the loader refuses it.
        """
        if not placeholder.startswith("args."):
            return self._lookup[placeholder]
        value = look_up(arguments, placeholder.removeprefix("args."))
        if value is MISSING:
            raise _NotGiven
        return value


class _NotGiven(Exception):
    """An argument that a placeholder names was left out of the call."""
