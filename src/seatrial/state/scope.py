"""What placeholders stand for inside an action.

Something can stand for nothing in two ways. An argument that was not given is *omitted*: what is
written with it is left out. Anything else that is not there is MISSING: conditions over it do not hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from seatrial.documents import placeholders
from seatrial.documents.conditions import Condition, Conditions
from seatrial.documents.world import ObjectsWorld
from seatrial.errors import WorldError
from seatrial.state.formulas import FORMULAS, calculated
from seatrial.state.objects import ObjectKey, State
from seatrial.state.operators import AS_WRITTEN, Operators, fulfils
from seatrial.state.paths import Steps, parse, roots
from seatrial.state.sight import BeyondSight, Closed, Sight, View, written_out
from seatrial.state.values import MISSING, FrozenList, Missing, as_text, look_up, walk
from seatrial.trace import Json

OF_THE_TRIAL = placeholders.TRIAL_NAMES | {"new_id"}
"""Names over which an agent has no say."""

MOST_REPEATED = 10_000
"""Items that an effect or a precondition is repeated for: growing a list takes time in its square."""

RESERVED = OF_THE_TRIAL | {"args", "each", "objects"}
"""Names that nothing in an action may be given."""


_CONDITIONS: TypeAdapter[Conditions] = TypeAdapter(Conditions)


class ToolError(Exception):
    """An action cannot be carried out as asked; the message is for the agent."""


class ToldByAuthor(ToolError):
    """A tool error in the document's own words."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is fixed for one trial."""

    run: str
    """The token that `{{run}}` stands for."""
    seed: int
    """What `{{new_id}}` is drawn from."""
    sight: Sight | None = None
    """What the role of the trial may see; None: everything."""


@dataclass(slots=True, kw_only=True)
class Scope:
    """The names that placeholders may use while one action is carried out."""

    world: ObjectsWorld
    trial: Trial
    state: State | View
    """The state now, as the role sees it; it moves on while effects are carried out."""
    args: Mapping[str, Json]
    attempts: list[str] = field(default_factory=list)
    """What the call named although the role may not see it, a sentence each."""
    asks: bool = False
    """What is resolved now is all that the call asks for."""
    objects: dict[str, tuple[ObjectKey, ...]] = field(default_factory=dict)
    """Names of bound and created objects, and the found and repeatedly created ones → their keys."""
    lists: dict[str, Json] = field(default_factory=dict)
    """Names of found lists → what they were when they were looked up."""
    single: dict[str, Json] = field(default_factory=dict)
    """Names of single objects → their properties as last seen, for those deleted meanwhile."""
    computed: dict[str, Json | Missing] = field(default_factory=dict)
    unbound: set[str] = field(default_factory=set)
    """Names of optional binds and computed values that hang on an argument not given."""
    each: Json | Missing | ObjectKey = MISSING
    """The item, or the key of the object, that is worked on."""
    new_id: str | None = None
    sure_at: str = ""
    """Where an effect stands; there, what cannot be worked out is an error."""

    # names and paths

    def resolve(self, path: str) -> Json | Missing:
        """What a path stands for."""
        moment = self.world.clock(path)
        if moment is not None:
            return moment
        steps = parse(path)
        found = self.follow(steps)
        if found is MISSING and self.sure_at and steps[0] in self.computed.keys() - self.unbound:
            raise ToolError(f"`{path}` cannot be worked out from these arguments")
        return found

    def follow(self, steps: Steps) -> Json | Missing:
        """What a path that is cut into steps stands for."""
        names = self.steps(steps)
        if names is None:
            return MISSING
        root, rest = names[0], names[1:]
        if isinstance(self.state, View):
            self._look(steps, names, self.state)
        if root == "objects":
            found = self.state.get(*rest[:2]) if len(rest) > 1 else MISSING
            return found if found is MISSING else walk(found, rest[2:])
        value = self._root(root)
        return value if value is MISSING else walk(value, rest)

    def steps(self, steps: Steps) -> list[str] | None:
        """The steps with what nested paths lead to in their place; None when one leads to nothing."""
        names = []
        for step in steps:
            if isinstance(step, str):
                names.append(step)
                continue
            inner = self.follow(step)
            if inner is MISSING or isinstance(inner, dict | list):
                return None
            names.append(as_text(inner))
        return names

    def omitted(self, path: str) -> bool:
        """Whether a path leads into an argument that was not given, or hangs on one."""
        return self.world.clock(path) is None and self._omitted(parse(path))

    def _omitted(self, steps: Steps) -> bool:
        if any(self._omitted(step) for step in steps if not isinstance(step, str)):
            return True
        if steps[0] != "args":
            return steps[0] in self.unbound
        value: Json = self.args
        for step in steps[1:]:
            if not isinstance(value, dict) or not isinstance(step, str):
                return False
            if step not in value:
                return True
            value = value[step]
        return False

    def _look(self, steps: Steps, names: list[str], view: View) -> None:
        """Tell of what is hidden at the end of a path: of the object, or of the property asked for."""
        root, at = names[0], 1
        if root == "objects" and len(names) > 2:
            object, at = (names[1], names[2]), 3
            self.look_for(object, named=from_call(steps[2]))
        elif root == "each" and isinstance(self.each, tuple):
            object = self.each
        elif root in self.single:
            [object] = self.objects[root]
        else:
            return
        if len(names) > at and (closed := view.hides_property(*object, names[at])):
            by_call = self.asks or from_call(steps[at])
            self.beyond(closed, "read", written_out(*object, names[at]), named=by_call)

    def look_for(self, object: ObjectKey, *, named: bool) -> None:
        """Tell of an object that is looked for and hidden.

        Args:
            object: its type and key.
            named: the call itself names the key.

        Raises:
            BeyondSight: it is hidden, and the world refuses what is.
        """
        if isinstance(self.state, View) and (closed := self.state.hides(*object)):
            self.beyond(closed, "read", written_out(*object), named=named)

    def beyond(self, closed: Closed, verb: str, what: str, *, named: bool) -> None:
        """Refuse what is beyond the role's sight, or note that the call named it.

        Raises:
            BeyondSight: the world refuses what is hidden.
        """
        assert isinstance(self.state, View)
        sentence = self.state.sight.beyond(verb, what, closed)
        if self.state.sight.refuses:
            raise BeyondSight(sentence)
        if named:
            self.attempts.append(sentence)

    def _root(self, name: str) -> Json | Missing:
        if name == "args":
            return self.args
        if name == "each":
            return self.state.get(*self.each) if isinstance(self.each, tuple) else self.each
        if name == "run":
            return self.trial.run
        if name == "new_id":
            return MISSING if self.new_id is None else self.new_id
        if name in self.lists:
            return self.lists[name]
        if name in self.single:
            now = self.state.get(*self.objects[name][0])
            if now is not MISSING:
                self.single[name] = now
            return self.single[name]
        if name in self.objects:
            now_there = (self.state.get(*key) for key in self.objects[name])
            return FrozenList(properties for properties in now_there if properties is not MISSING)
        return self.computed.get(name, MISSING)

    def bind(self, name: str, key: ObjectKey) -> None:
        """Let a name stand for one object."""
        self.objects[name] = (key,)
        self.single[name] = self.state.get(*key)

    def with_each(self, each: Json | ObjectKey) -> Scope:
        """This scope for one item of a list; names given in it are seen in both."""
        return replace(self, each=each)

    # values with placeholders

    def fill(self, value: Json) -> Json | Missing:
        """A value of a document with its placeholders and formulas replaced.

        A text that is one placeholder takes the type of what it stands for; when that is nothing,
        it is left out: of a mapping, of a list, or altogether (MISSING). Inside a longer text
        nothing is no text. What is put in is never looked at again.
        """
        if isinstance(value, str):
            name = placeholders.whole(value)
            if name is not None:
                return self.resolve(name)
            return self.fill_text(value)
        if isinstance(value, dict):
            if frozenset(value) in FORMULAS:
                return self._formula(value)
            filled = ((self.fill(key), self.fill(item)) for key, item in value.items())
            return {as_text(k): item for k, item in filled if MISSING not in (k, item)}
        if isinstance(value, list | tuple):
            return [item for item in map(self.fill, value) if item is not MISSING]
        return value

    def fill_text(self, text: str) -> str:
        """A text with its placeholders written out; what stands for nothing is no text."""
        if "{{" not in text:
            return text
        name = placeholders.whole(text)
        if name is not None:
            return as_text(self.resolve(name))
        return str(placeholders.fill(text, lambda path: as_text(self.resolve(path))))

    def _formula(self, formula: Mapping[str, Json]) -> Json | Missing:
        if "$each" in formula or "$find" in formula:
            [path] = (formula[key] for key in ("$each", "$find") if key in formula)
            cause: Json = f"{{{{{path}}}}}"
            items = self.fill(cause)
            result: Json | Missing = (
                self._of_items(formula, items) if isinstance(items, list) else MISSING
            )
        else:
            [(name, cause)] = formula.items()
            operands = self.fill(cause)
            result = MISSING
            if isinstance(operands, list):
                if name == "$first":
                    result = operands[0] if operands else MISSING
                # An operand that stands for nothing must not make the others look like the whole.
                elif not isinstance(cause, list | tuple) or len(operands) == len(cause):
                    result = calculated(name, operands)
        if result is MISSING and self.sure_at and not self.hangs_on_omitted(cause):
            message = f"{', '.join(formula)} cannot be worked out from these arguments"
            raise self.fault(message, by_agent=agents_say(formula))
        return result

    def _of_items(self, formula: Mapping[str, Json], items: list[Json]) -> list[Json]:
        if "$each" in formula:
            values = [self.with_each(item).fill(formula["$value"]) for item in items]
        else:
            where = self.filled_all(conditions_of(formula["$where"]))
            fitting = [
                item
                for item in items
                if all(fulfils(o, look_up(item, path)) for path, o in where.items())
            ]
            get = self.dotted(str(formula["$get"])) if "$get" in formula else None
            values = fitting if get is None else [look_up(item, get) for item in fitting]
        return [value for value in values if value is not MISSING]

    def hangs_on_omitted(self, value: Json) -> bool:
        """Whether a value names an argument that was not given."""
        return any(map(self.omitted, placeholders.names(value)))

    def fault(self, message: str, *, by_agent: bool) -> ToolError | WorldError:
        """An error for the agent where its call had a say in the cause, else one of the document."""
        if by_agent:
            return ToolError(message)
        return WorldError(f"world {self.world.id!r}: {self.sure_at or 'an action'}: {message}")

    # conditions

    def filled(self, condition: Condition) -> Operators:
        """The operators with their operands filled in, without those that hang on an omitted argument."""
        return [
            (name, operand if name in AS_WRITTEN else self.fill(operand))
            for name, operand in condition.operators
            if name in AS_WRITTEN or not self.hangs_on_omitted(operand)
        ]

    def filled_all(self, conditions: Conditions) -> dict[str, Operators]:
        """Each path inside a value, with what its brackets lead to, and its operators filled in."""
        return {self.dotted(path): self.filled(condition) for path, condition in conditions.items()}

    def dotted(self, path: str) -> str:
        """A path inside a value with what its brackets lead to; no path when one leads to nothing."""
        if "[" not in path:
            return path
        # A property is no name that a placeholder could start with, so it is not resolved as one.
        steps = self.steps(parse(f"property.{path}"))
        return "" if steps is None else ".".join(steps[1:])

    def all_hold(self, conditions: Conditions) -> bool:
        """Whether the conditions hold, whose paths are those of placeholders (`args.amount`)."""
        return all(
            fulfils(self.filled(condition), self.resolve(path))
            for path, condition in conditions.items()
        )

    def repeated(self, for_each: str | None) -> Sequence[Scope]:
        """This scope, or one for each item of the list that `for_each` leads to.

        Raises:
            ToolError, WorldError: it leads to something else.
        """
        if for_each is None:
            return (self,)
        if self.omitted(for_each):
            return ()
        items = self.resolve(for_each)
        if not isinstance(items, list):
            raise self.fault(f"there is no list `{for_each}`", by_agent=True)
        if len(items) > MOST_REPEATED:
            raise ToolError(f"`{for_each}` has more than {MOST_REPEATED} items")
        return [self.with_each(item) for item in items]


def from_call(step: str | Steps) -> bool:
    """Whether a step of a path is what an argument of the call says."""
    return not isinstance(step, str) and step[0] == "args"


def calls_say(value: Any) -> bool:
    """Whether a value holds an argument of the call."""
    return any(parse(name.split()[0])[0] == "args" for name in placeholders.names(value))


def agents_say(value: Any) -> bool:
    """Whether what a value comes to hangs on the call, and not on the document alone."""
    return _over_items(value) or any(
        not OF_THE_TRIAL.issuperset(roots(parse(name.split()[0])))
        for name in placeholders.names(value)
    )


def _over_items(value: Any) -> bool:
    """Whether a value holds a formula over a list, whose path is written without braces."""
    if isinstance(value, dict):
        return "$each" in value or "$find" in value or any(map(_over_items, value.values()))
    return isinstance(value, list | tuple) and any(map(_over_items, value))


def conditions_of(written: Json) -> Conditions:
    """The conditions under `$where` of a formula.

    Raises:
        pydantic.ValidationError: they are none.
    """
    return _read_conditions(json.dumps(written, default=str))


@lru_cache(maxsize=1024)
def _read_conditions(text: str) -> Conditions:
    return _CONDITIONS.validate_json(text)
