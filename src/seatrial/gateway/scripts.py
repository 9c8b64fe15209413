"""A mocked tool in one trial, made ready to answer: its rules in order, and what was answered so far."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.documents import Condition, MockedTool, placeholders
from seatrial.documents.answers import ANSWERS, Given, Reply
from seatrial.documents.behaviour import OnPurpose


class Counted:
    """Something whose calls are counted, because what goes wrong may depend on their number."""

    __slots__ = ("name", "used")

    def __init__(self, name: str) -> None:
        self.name = name
        """What draws for it are called."""
        self.used = 0
        """Calls so far, this one included."""


Purpose = tuple[OnPurpose, Counted]
"""What may go wrong on purpose, and whose calls it counts."""


class Asked:
    """One condition of a rule."""

    __slots__ = ("condition", "filled", "path", "steps")

    def __init__(self, path: str, condition: Condition) -> None:
        self.path = path
        self.steps = path.split(".")
        self.condition = condition
        operands = [operand for _, operand in condition.operators]
        self.filled = next(placeholders.names(operands), None) is not None
        """Its operands have placeholders."""


class Part(Counted):
    """What may answer a call: a rule, the plain answer, or one of a sequence."""

    __slots__ = ("answered", "broken", "conditions", "delay_ms", "fail", "filled", "given", "jitter_ms",
                 "path", "said", "state", "steps", "wire")  # fmt: skip

    def __init__(
        self, name: str, path: str, given: Given, above: Part | None, tool: Counted
    ) -> None:
        """Make a part ready.

        Args:
            name: what its draws are called.
            path: where it stands in its tool.
            given: what the document says.
            above: whose behaviour holds where this part says nothing; None for the tool itself.
            tool: counts the calls of the tool.
        """
        super().__init__(name)
        self.path = path
        self.given = given
        self.answered = 0
        """Calls that it answered; those that failed on purpose are not among them."""
        written = given.model_fields_set
        own = tool if above is None else self

        def purpose(key: str) -> Purpose | None:
            if above is not None and key not in written:
                inherited: Purpose | None = getattr(above, key)
                return inherited
            what = getattr(given, key)
            return None if what is None else (what, own)

        self.delay_ms = given.delay_ms
        self.jitter_ms = given.jitter_ms
        if above is not None:
            self.delay_ms = given.delay_ms if "delay_ms" in written else above.delay_ms
            self.jitter_ms = given.jitter_ms if "jitter_ms" in written else above.jitter_ms
        self.fail, self.broken, self.wire = purpose("fail"), purpose("broken"), purpose("wire")
        self.filled = any(
            next(placeholders.names(value), None) is not None
            for value in (given.answer, given.error, given.put)
        )
        """It has placeholders."""
        self.said = next(
            (key for key in (*ANSWERS, "fail", "broken", "wire") if key in written), ""
        )
        """The key by which it answers."""
        self.conditions: tuple[Asked, ...] = ()
        self.state: tuple[Asked, ...] = ()
        self.steps: tuple[Part, ...] = ()
        if isinstance(given, Reply):
            self.steps = tuple(
                Part(
                    f"{name}\0{number}",
                    f"{path}.sequence[{number}]" if path else f"sequence[{number}]",
                    step,
                    self,
                    tool,
                )
                for number, step in enumerate(given.sequence)
            )

    def next_step(self) -> Part | None:
        """The part of the sequence that answers now; None where all were given and nothing follows."""
        number, steps = self.answered, self.steps
        if number < len(steps):
            return steps[number]
        assert isinstance(self.given, Reply)
        match self.given.at_end:
            case "repeat_last":
                return steps[-1]
            case "start_over":
                return steps[number % len(steps)]
            case "error":
                return None


class Script:
    """The answers of one tool in one trial."""

    __slots__ = ("calls", "may_be_stale", "plain", "rules", "tool")

    def __init__(self, name: str, tool: MockedTool) -> None:
        self.tool = tool
        self.calls = Counted(name)
        """Counts the calls of the tool."""
        whole = Part(f"{name}\0*", "", tool, None, self.calls)
        self.plain = whole
        """The plain answer; where there is none, how the tool behaves all the same."""
        self.rules = tuple(self._rules(name, whole))
        self.may_be_stale = any(
            given.broken is not None and given.broken.how == "stale"
            for given in (tool, *(given for _, given in tool.parts()))
        )
        """Some answer may be an earlier one."""

    def _rules(self, name: str, whole: Part) -> Iterator[Part]:
        for number, rule in enumerate(self.tool.rules):
            part = Part(f"{name}\0{number}", f"rules[{number}]", rule, whole, self.calls)
            part.conditions = tuple(Asked(path, asked) for path, asked in rule.when.items())
            part.state = tuple(Asked(path, asked) for path, asked in rule.state.items())
            yield part
