"""JSON Schemas: compiled once, and their errors as sentences.

A schema is of 2020-12 unless its `$schema` names an older draft: many real servers write draft-07.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from seatrial.state.values import kind_of, shown
from seatrial.trace import Json

Schema = dict[str, Any] | bool

MOST_TOLD = 20
"""Misfits that are told of one value."""

_MOST_COMPARED = 200
"""Words that a misspelt word is compared with, and letters it may have: more would take long."""

LONGEST_SEARCHED = 10_000
"""Characters of a text that is held against a pattern: it may need time in the square of their number, and a
call that takes long holds up all trials."""

_NOTHING_REMOTE: Registry[Any] = Registry()


class Unjudged(Exception):
    """Whether a value is as asked cannot be told: it is too long, or nested too deep."""


def refuse_long(text: str) -> None:
    """Raise `Unjudged` where a text is too long to be held against a pattern."""
    if len(text) > LONGEST_SEARCHED:
        raise Unjudged(
            f"a text of {len(text):,} characters is too long to be held against a pattern: "
            f"at most {LONGEST_SEARCHED:,} are"
        )


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str):
        refuse_long(instance)
        yield from _PLAIN.VALIDATORS["pattern"](validator, pattern, instance, schema)


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for key in instance:
            refuse_long(key)
        yield from _PLAIN.VALIDATORS["patternProperties"](validator, patterns, instance, schema)


def _unique_items(
    validator: Any, unique: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    # The library compares each item with each other one.
    if unique and isinstance(instance, list):
        seen = {json.dumps(_comparable(item), sort_keys=True) for item in instance}
        if len(seen) < len(instance):
            yield ValidationError("has items that are the same")


def _comparable(value: Any) -> Any:
    """The same for values that JSON Schema takes for equal: `1` and `1.0`, but not `1` and `true`."""
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_PLAIN = Draft202012Validator


def _draft(schema: object) -> Any:
    """The validator of the draft that a schema says it is written in."""
    if not isinstance(schema, dict) or not isinstance(schema.get("$schema"), str):
        return _PLAIN
    return validators.validator_for(schema, default=_PLAIN)


@lru_cache(maxsize=16)
def _bounded(draft: Any) -> Any:
    """The same, but for what would take long."""
    return validators.extend(  # type: ignore[no-untyped-call]
        draft,
        {
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "uniqueItems": _unique_items,
        },
    )


class Validator:
    """A compiled schema. `$ref` works within the schema; nothing is ever fetched."""

    __slots__ = ("_compiled",)

    def __init__(self, schema: Schema) -> None:
        self._compiled = _bounded(_draft(schema))(schema, registry=_NOTHING_REMOTE)

    def fits(self, value: Json) -> bool:
        """Whether the value fits; with a `$ref` that leads nowhere nothing does, nor what is too large to tell."""
        try:
            return self.judges(value)
        except Unjudged:
            return False

    def judges(self, value: Json) -> bool:
        """Whether the value fits; with a `$ref` that leads nowhere nothing does.

        Raises:
            Unjudged: that hangs on what is too long or nested too deep.
        """
        try:
            return bool(self._compiled.is_valid(value))
        except Unresolvable:
            return False
        except RecursionError:
            raise Unjudged("a value is nested too deep to be held against a schema") from None

    def misfits(
        self,
        value: Json,
        name: Callable[[str], str],
        *,
        unless: Callable[[ValidationError], bool] | None = None,
    ) -> list[str]:
        """A sentence for everything that does not fit.

        Args:
            value: what is held against the schema.
            name: turns a dotted path into a subject.
            unless: errors that are none, for a value of which not everything is known yet.
        """
        try:
            # Finding a million mistakes would hold everybody up for minutes.
            told_of = self._compiled.iter_errors(value)
            if unless is not None:
                told_of = (error for error in told_of if not unless(error))
            found = islice(told_of, MOST_TOLD + 1)
            errors = sorted(found, key=lambda e: list(map(str, e.path)))
        except Unresolvable as error:
            return [
                f"{name('')} cannot be checked: the schema's `$ref` {error.ref!r} leads nowhere"
            ]
        except RecursionError:
            return [f"{name('')} is nested too deep"]
        except Unjudged as error:
            return [f"{name('')} cannot be checked: {error}"]
        sentences = (sentence for error in errors for sentence in _sentences(error, name))
        told = list(islice(sentences, MOST_TOLD))
        return told if next(sentences, None) is None else [*told, "and more"]


def validator(schema: Schema) -> Validator:
    """The compiled schema, compiled once for schemas that are written alike."""
    return _compiled(json.dumps(schema))


@lru_cache(maxsize=2048)
def _compiled(text: str) -> Validator:
    return Validator(json.loads(text))


def schema_problem(schema: object) -> str | None:
    """What is wrong with a schema itself, or None."""
    try:
        _draft(schema).check_schema(schema)
    except SchemaError as error:
        where = ".".join(map(str, error.path))
        return f"is no JSON Schema: {error.message}" + (f" (at {where})" if where else "")
    except (RecursionError, OverflowError):
        return "is a JSON Schema nested too deep, or of numbers too large"
    for ref in _references(schema):
        if not ref.startswith("#"):
            return f"`$ref` {ref!r} leads outside; only references within the schema are followed"
    return None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing where nothing is near."""
    if len(word) > _MOST_COMPARED:
        return ""
    near = get_close_matches(word, list(islice(known, _MOST_COMPARED)), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _references(schema: object) -> Iterable[str]:
    if isinstance(schema, dict):
        for key, item in schema.items():
            if key in ("$ref", "$dynamicRef") and isinstance(item, str):
                yield item
            else:
                yield from _references(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from _references(item)


_KINDS = {"string": "text", "object": "an object", "array": "a list", "integer": "a whole number",
          "number": "a number", "boolean": "true or false", "null": "null"}  # fmt: skip


def _sentences(error: ValidationError, name: Callable[[str], str]) -> Iterable[str]:
    path = ".".join(map(str, error.absolute_path))
    instance: Any = error.instance
    expected: Any = error.validator_value
    schema: Any = error.schema
    subject, found = name(path), shown(instance)
    prefix = f"{path}." if path else ""
    match error.validator:
        case "required":
            # One error for each missing property, with its name only in the message.
            absent = next(p for p in expected if p not in instance and repr(p) in error.message)
            yield f"{name(prefix + absent)} is required"
        case "additionalProperties" if expected is False and "patternProperties" not in schema:
            known = list(schema.get("properties", {}))
            odd = [key for key in instance if key not in known]
            for key in odd:
                allowed = ", ".join(known) or "none"
                yield f"{name(prefix + key)} is unknown (known: {allowed}){did_you_mean(key, known)}"
        case "type":
            kinds = [expected] if isinstance(expected, str) else expected
            wanted = " or ".join(_KINDS.get(kind, kind) for kind in kinds)
            yield f"{subject} must be {wanted}, not {kind_of(instance)} {found}"
        case "enum":
            yield f"{subject} must be one of {', '.join(map(shown, expected))}, not {found}"
        case "const":
            yield f"{subject} must be {shown(expected)}, not {found}"
        case "minimum":
            yield f"{subject} must be at least {expected}, not {found}"
        case "maximum":
            yield f"{subject} must be at most {expected}, not {found}"
        case "exclusiveMinimum":
            yield f"{subject} must be more than {expected}, not {found}"
        case "exclusiveMaximum":
            yield f"{subject} must be less than {expected}, not {found}"
        case "minLength" | "minItems":
            yield f"{subject} is too short: at least {expected}, found {found}"
        case "maxLength" | "maxItems":
            yield f"{subject} is too long: at most {expected}, found {found}"
        case "pattern":
            yield f"{subject} must match {expected!r}, not {found}"
        case _:
            yield f"{subject} does not fit `{error.validator}: {shown(expected)}`, found {found}"
