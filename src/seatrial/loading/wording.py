"""What pydantic says about a document, in words a writer of documents can use, each mistake once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from seatrial.documents.meanings import meanings
from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.places import Steps
from seatrial.loading.reading import REFUSED
from seatrial.loading.syntax import shown
from seatrial.loading.trails import Model, Trail, follow, keys, tags


@dataclass(frozen=True, slots=True)
class _Said:
    """One error of pydantic's and where it leads."""

    kind: str
    trail: Trail
    input: Any
    context: dict[str, Any]
    text: str


MOST_WORDED = 2000
"""Errors of one document that are looked at."""

EXPECTED = {
    "bool_type": "`true` or `false`",
    "date_from_datetime_inexact": "a date like 2026-03-16",
    "date_from_datetime_parsing": "a date like 2026-03-16",
    "date_parsing": "a date like 2026-03-16",
    "date_type": "a date like 2026-03-16",
    "datetime_from_date_parsing": "a moment like 2026-03-16T09:00:00Z",
    "datetime_parsing": "a moment like 2026-03-16T09:00:00Z",
    "datetime_type": "a moment like 2026-03-16T09:00:00Z",
    "timezone_aware": "a moment with a time zone, like 2026-03-16T09:00:00Z",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "a mapping",
    "model_type": "a mapping",
    "string_type": "text",
    "tuple_type": "a list",
}
"""Error of the wrong type → what is expected instead."""

PATTERNS = {
    r"^[a-z0-9][a-z0-9._-]{0,79}$": (
        "an id: at most 80 lower-case letters, digits, `.`, `_`, `-`, with a letter or digit first"
    ),
    r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$": (
        "a name: at most 64 letters, digits, `_`, `-`, with a letter or `_` first"
    ),
    r"^[A-Z]{3}$": "a currency by its three letters, as in EUR",
    r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$": "a language such as `en` or `sr-Latn`",
    r"^[A-Za-z0-9_.-]{1,128}$": "a tool's name: at most 128 letters, digits, `_`, `-`, `.`",
    r"^(https?://|\{)": "an address that starts with http:// or https://, or with a variable as in `{MODEL_URL}`",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "the name of a variable of the environment",
    r"^([0-9]+(?:\.[0-9]+)?) ?(tokens|[A-Z]{3})$": "a budget such as `5 EUR` or `200000 tokens`",
    r"^[0-9]+(?:\.[0-9]+)? ?[A-Z]{3}$": "an amount such as `0.05 EUR`",
    r"^https?://": "an address that starts with http:// or https://",
    r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$": "`module:function`",
    r"^([A-Za-z_][\w.]*:)?[A-Za-z_]\w*$": "`name` or `module:name`",
    r"^[A-Za-z_][\w.]*$": "a module such as `worlds.ledger`",
    r"^/[^?#\s]*$": "a path that starts with `/`, without `?` (parameters stand under `query`)",
    r"^https?://[^?#\s]+$": "an address that starts with http:// or https://, without `?`",
}
"""Each pattern of the models, in words."""

_YES = frozenset({"yes", "y", "on", "1", "true"})
_NO = frozenset({"no", "n", "off", "0", "false"})
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")


def mistakes(model: Model, error: ValidationError, holes: Mapping[int, Any]) -> list[Mistake]:
    """The mistakes behind a validation error, in the document's order.

    `holes` are the mappings that lost a key when the file was read, by identity: what is missing in
    them may have been that key.
    """
    said = [
        _Said(e["type"], follow(model, e["loc"]), e["input"], e.get("ctx", {}), e["msg"])
        for e in error.errors(include_url=False)[:MOST_WORDED]
    ]
    said = [s for s in said if not _is_echo(s, holes)]
    said = list(_one_member_each(said))
    return list(_keys(said)) + [
        _word(s) for s in said if s.kind not in {"extra_forbidden", "missing"}
    ]


def _is_echo(said: _Said, holes: Mapping[int, Any]) -> bool:
    """Whether the error only repeats one that is reported elsewhere."""
    if said.input is REFUSED:
        return True
    if said.kind in {"missing", "union_tag_not_found"}:
        return id(said.input) in holes
    if said.kind == "too_short":  # pydantic counts only the entries that were right
        return bool(len(said.input) >= said.context["min_length"])
    return False


def _one_member_each(said: list[_Said]) -> Iterator[_Said]:
    """Of each union without a discriminator, the errors of the one member that was meant."""
    unions: dict[Steps, dict[str, list[_Said]]] = defaultdict(lambda: defaultdict(list))
    for s in said:
        if s.trail.choice is None:
            yield s
        else:
            steps, label = s.trail.choice
            unions[steps][label].append(s)
    for steps, members in unions.items():
        meant = [
            errors
            for errors in members.values()
            if not any(_is_of_wrong_type(s) and s.trail.steps == steps for s in errors)
        ]
        if meant:
            yield from meant[0]
        else:
            yield _merged([s for errors in members.values() for s in errors])


def _is_of_wrong_type(said: _Said) -> bool:
    return said.kind in EXPECTED or said.kind == "literal_error"


def _merged(said: list[_Said]) -> _Said:
    expectations = dict.fromkeys(_expectation(s) for s in said if _is_of_wrong_type(s))
    if EXPECTED["float_type"] in expectations:
        expectations.pop(EXPECTED["int_type"], None)
    expected = " or ".join(expectations)
    first = said[0]
    return _Said("no_member", first.trail, first.input, {"expected": expected}, first.text)


def _expectation(said: _Said) -> str:
    if said.kind == "literal_error":
        return listed(_QUOTED.findall(said.context["expected"]))
    return EXPECTED[said.kind]


def _keys(said: list[_Said]) -> Iterator[Mistake]:
    """Unknown and missing keys; one that is missing and one that looks like it are one mistake."""
    missing = {s.trail.steps: s for s in said if s.kind == "missing"}
    for s in said:
        if s.kind != "extra_forbidden":
            continue
        steps, owner = s.trail.steps, s.trail.owner
        key = str(steps[-1])
        known = list(keys(owner)) if owner is not None else []
        lost = [str(m[-1]) for m in missing if m[:-1] == steps[:-1]]
        guess = closest(key, lost) or closest(key, known)
        if guess:
            missing.pop((*steps[:-1], guess), None)
        yield Mistake(
            steps,
            f"unknown key `{cut(key)}`" + (f"; did you mean `{guess}`?" if guess else ""),
            "" if guess else f"Known here: {', '.join(known)}",
            "unknown-key",
            on_key=True,
        )
    for s in missing.values():
        yield _missing(s)


def _missing(said: _Said) -> Mistake:
    *above, key = said.trail.steps
    if isinstance(key, int):
        message = f"{_named(tuple(above))}: expected {key + 1} entries or more"
        return Mistake(tuple(above), message, code="wrong-value")
    meaning = _meaning(said.trail.owner, key) if said.trail.owner is not None else ""
    hint = " ".join(meaning.split()).removesuffix(".")
    return Mistake(tuple(above), f"missing key `{key}`", hint, "missing-key")


def _meaning(model: Model, key: str) -> str:
    names = [name for name, field in model.model_fields.items() if (field.alias or name) == key]
    return meanings(model).get(names[0], "") if names else ""


def missing_key(
    steps: Steps, key: str, mapping: Mapping[str, Any], members: Iterable[Model], hint: str
) -> Mistake:
    """The mistake of a mapping without the key that says which model it has, or with that key misspelt."""
    known = {name for member in members for name in keys(member)}
    guess = closest(key, (name for name in mapping if name not in known))
    if guess:
        message = f"unknown key `{cut(guess)}`; did you mean `{key}`?"
        return Mistake((*steps, guess), message, code="unknown-key", on_key=True)
    return Mistake(steps, f"missing key `{key}`", hint, "missing-key")


def _word(said: _Said) -> Mistake:
    steps, on_key = said.trail.steps, said.trail.on_key
    named, found = _named(steps), shown(said.input)
    context = said.context
    match said.kind:
        case kind if kind in EXPECTED:
            message = f"{named}: expected {EXPECTED[kind]}, found {found}"
            hint = _type_hint(steps, kind, said.input)
            return Mistake(steps, message, hint, "wrong-type", on_key)
        case "no_member":
            message = f"{named}: expected {context['expected']}, found {found}"
            return Mistake(steps, message, code="wrong-type")
        case "literal_error":
            return not_among(steps, said.input, _QUOTED.findall(context["expected"]))
        case "union_tag_invalid":
            key = context["discriminator"].strip("'")
            found_tag = said.input.get(key) if isinstance(said.input, dict) else context["tag"]
            return not_among((*steps, key), found_tag, _QUOTED.findall(context["expected_tags"]))
        case "union_tag_not_found":
            key = context["discriminator"].strip("'")
            members = said.trail.members
            hint = f"Expected {listed(tag for m in members for tag in tags(m, key))}"
            return missing_key(steps, key, said.input, members, hint)
        case "string_pattern_mismatch":
            wanted = PATTERNS.get(context["pattern"], f"text like {context['pattern']}")
            message = f"{named}: expected {wanted}; found {found}"
        case "string_too_short" | "too_short":
            message = (
                f"{named}: expected {_at_least(said.kind, context['min_length'])}, found {found}"
            )
            if said.kind == "too_short":
                message = f"{named}: expected {_at_least(said.kind, context['min_length'])}"
        case "too_long":
            message = f"{named}: expected at most {context['max_length']} entries"
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
            ((relation, bound),) = context.items()
            words = {"gt": "greater than", "ge": "at least", "lt": "less than", "le": "at most"}
            message = f"{named}: expected a number {words[relation]} {bound:g}, found {said.input}"
        case "value_error":
            text = cut(str(context["error"]), 400)
            return Mistake(steps, text if not steps else f"{named}: {text}", on_key=on_key)
        case _:
            message = f"{named}: {said.text}"
    return Mistake(steps, message, code="wrong-value", on_key=on_key)


def not_among(steps: Steps, found: Any, known: list[str]) -> Mistake:
    """The mistake of a word that is none of those known at its place."""
    guess = closest(found, known) if isinstance(found, str) else None
    message = f"{_named(steps)}: expected {listed(known)}; found {shown(found)}"
    if guess:
        message = f"{_named(steps)}: `{cut(str(found))}` is unknown; did you mean `{guess}`?"
    return Mistake(steps, message, code="wrong-value")


def _at_least(kind: str, length: int) -> str:
    if kind == "string_too_short":
        return "some text" if length == 1 else f"at least {length} characters"
    return "at least one entry" if length == 1 else f"at least {length} entries"


def _type_hint(steps: Steps, kind: str, found: Any) -> str:
    if found is None:
        return "Leave the key out, or give it a value"
    if kind == "bool_type" and isinstance(found, str | int):
        word = str(found).lower()
        return "Write `true`" if word in _YES else "Write `false`" if word in _NO else ""
    if kind == "string_type" and isinstance(found, bool | int | float):
        return "Put it in quotes"
    if kind in {"int_type", "float_type"} and isinstance(found, str) and _is_number(found):
        return "Write it without quotes"
    if kind in {"tuple_type", "list_type"} and isinstance(found, str):
        # Of a command line each word is an item; of any other text it is not known.
        text = ", ".join(found.split()) if steps[-1:] == ("command",) else found
        return f"Write `[{cut(text, 60)}]`"
    return ""


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?[0-9]+(\.[0-9]+)?", text) is not None


def _named(steps: Steps) -> str:
    """A part by its last key, with the indices after it: `tags[1]`."""
    name = ""
    for step in reversed(steps):
        if isinstance(step, str):
            return f"`{cut(step)}{name}`"
        name = f"[{step}]{name}"
    return f"`{name}`" if name else "the document"


def listed(words: Iterable[str]) -> str:
    """Words as alternatives: `a`, `b` or `c`."""
    *first, last = [f"`{word}`" for word in words]
    return f"{', '.join(first)} or {last}" if first else last
