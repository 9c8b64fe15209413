"""The reply in what an agent sent in a form of its own, as its arm declares that form.

`heard` reads one answer; `Events` takes events as they come. Whatever was sent is hostile: what does not fit is
an `ArmError` that names the path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.arms.replies import MOST_TEXT, clean, excerpt, kind, parse_json, reply_of, wrong
from seatrial.arms.seat import Reply
from seatrial.documents.answer_shapes import AnswerShape, EventRule, UsageShape
from seatrial.errors import ArmError
from seatrial.shapes import MISSING, ShapeError, first, found
from seatrial.trace import MOST_COUNTED

MOST_EVENTS = 50_000
"""Events of one reply."""
MOST_SESSION = 1_000
"""Characters of what an agent calls a conversation."""

Session = str | int
"""What an agent calls a conversation."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A reply, and what the agent calls the conversation where it says so."""

    reply: Reply
    session: Session | None = None


def heard(value: Any, shape: AnswerShape, *, who: str, text: str | None = None) -> Heard:
    """The reply in one answer.

    Args:
        value: the answer, as JSON.
        shape: where everything stands in it.
        who: what messages call the agent.
        text: the reply, where the shape does not say where it stands; None for what stands at `$.text`.

    Raises:
        ArmError: the agent says that it failed, or there is no reply.
    """
    _raise_what_it_says(value, shape.error, who)
    if shape.text is not None or text is None:
        text = _text(value, shape.text or "$.text", who)
    return Heard(
        _reply(
            text, _one(value, shape.model, who), _usage(value, shape.usage, who), shape.model, who
        ),
        session_in(value, shape.session, who),
    )


class Events:
    """What is heard of a reply, event by event."""

    def __init__(self, rules: Sequence[EventRule], *, who: str) -> None:
        self.ended = False
        """An event has said that the reply is complete."""
        self.ends = any(rule.end for rule in rules)
        """Some event must say so."""
        self._rules = rules
        self._who = who
        self._added: list[str] = []
        self._whole: str | None = None
        self._session: Session | None = None
        self._model: tuple[str, Any] | None = None
        self._usage: dict[str, Any] = {}
        self._count = 0
        self._size = 0
        self._last = ""

    def take(self, data: str, event: str = "message") -> None:
        """Take an event in.

        Args:
            data: what it says: JSON, or a text that some rule knows.
            event: its name.

        Raises:
            ArmError: it says that the agent failed, or does not fit the rules that it is meant by.
        """
        self._count += 1
        if self._count > MOST_EVENTS:
            raise wrong(self._who, f"more than {MOST_EVENTS:,} events in one reply")
        self._last = data[:400] or self._last
        named = [rule for rule in self._rules if rule.event in (None, event)]
        if known := [rule for rule in named if rule.data is not None and rule.data == data.strip()]:
            self.ended = self.ended or any(rule.end for rule in known)
            return
        try:
            value = parse_json(data.encode("utf-8", "replace"))
        except ValueError:
            value = MISSING
        for rule in named:
            if rule.data is None and self._holds(rule, value):
                self._follow(rule, value, data)

    def heard(self) -> Heard:
        """The reply, when no more events come.

        Raises:
            ArmError: there is none.
        """
        if self.ends and not self.ended:
            raise ArmError(
                "agent_unreachable",
                f"{self._who} sent no event that says that the reply is complete{self._so_far()}",
            )
        text = self._whole if self._whole is not None else "".join(self._added)
        if self._whole is None and not self._added:
            raise wrong(self._who, f"no event that brings the reply{self._so_far()}")
        path, model = self._model or ("", None)
        return Heard(_reply(text, model, dict(self._usage) or None, path, self._who), self._session)

    def _so_far(self) -> str:
        return f"; {self.meanwhile}" if self.meanwhile else ""

    @property
    def meanwhile(self) -> str:
        """What has come so far."""
        last = excerpt(self._last, 80)
        return f"the last of its {self._count} events is {last!r}" if self._count else ""

    def _holds(self, rule: EventRule, value: Any) -> bool:
        return all(
            _same(_one(value, path, self._who), wanted) for path, wanted in rule.where.items()
        )

    def _follow(self, rule: EventRule, value: Any, text: str) -> None:
        if value is MISSING:
            if rule.paths():
                raise wrong(
                    self._who, f"an event that is no JSON: {excerpt(text, 80) or 'an empty one'}"
                )
            self.ended = self.ended or rule.end
            return
        _raise_what_it_says(value, rule.error, self._who)
        if rule.add is not None:
            for piece in _all(value, rule.add, self._who):
                if piece is not None:  # many services begin with a piece that is null
                    self._added.append(_as_text(piece, rule.add, self._who))
                    self._size += len(self._added[-1])
        if self._size > MOST_TEXT:
            raise wrong(
                self._who, f"a reply of more than {MOST_TEXT:,} characters; no more are read"
            )
        if rule.text is not None:
            self._whole = _text(value, rule.text, self._who)
        session = session_in(value, rule.session, self._who)
        self._session = self._session if session is None else session
        model = _one(value, rule.model, self._who)
        if rule.model is not None and model not in (None, MISSING):
            self._model = (rule.model, model)
        self._usage.update(_usage(value, rule.usage, self._who) or {})
        self.ended = self.ended or rule.end


def _reply(
    text: str, model: Any, usage: Mapping[str, Any] | None, path: str | None, who: str
) -> Reply:
    if model not in (None, MISSING) and not isinstance(model, str):
        raise wrong(who, f"{kind(model)} under `{path}`, where text belongs")
    told = {"text": text, "usage": usage, "model": model if isinstance(model, str) else None}
    return reply_of(told, who=who)


def _raise_what_it_says(value: Any, path: str | None, who: str) -> None:
    said = _one(value, path, who)
    if path is not None and said is not MISSING and said is not None and said is not False:
        why = excerpt(said) if isinstance(said, str) else kind(said)
        raise ArmError("agent_unreachable", f"{who} says that it failed (`{path}`): {why}")


def _text(value: Any, path: str, who: str) -> str:
    parts = _all(value, path, who)
    if not parts:
        raise wrong(who, f"nothing under `{path}`, where text belongs")
    return "".join(_as_text(part, path, who) for part in parts)


def _as_text(part: Any, path: str, who: str) -> str:
    if not isinstance(part, str):
        raise wrong(who, f"{kind(part)} under `{path}`, where text belongs")
    return part


def session_in(value: Any, path: str | None, who: str) -> Session | None:
    """What the agent calls the conversation, where it says so.

    Raises:
        ArmError: what stands there is no name.
    """
    found = _one(value, path, who)
    if found is None or found is MISSING:
        return None
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise wrong(who, f"{kind(found)} under `{path}`, where the name of a conversation belongs")
    if isinstance(found, str) and not 0 < len(found) <= MOST_SESSION:
        raise wrong(
            who,
            f"{len(found):,} characters under `{path}`; a conversation's name has 1 to {MOST_SESSION}",
        )
    return clean(found) if isinstance(found, str) else found


def _usage(value: Any, shape: UsageShape | None, who: str) -> dict[str, Any] | None:
    if shape is None:
        return None
    told = {key: _counted(value, path, who) for key, path in shape.paths().items()}
    return {key: number for key, number in told.items() if number not in (None, MISSING)} or None


def _counted(value: Any, path: str, who: str) -> Any:
    """What stands under a path; where that is several numbers, their sum. What is no number is told by `reply_of`."""
    if value is MISSING:
        return MISSING
    parts = [part for part in _all(value, path, who) if part is not None]
    odd = [part for part in parts if not _is_count(part)]
    if odd or len(parts) < 2:
        return (odd or parts or [MISSING])[0]
    return sum(parts)


def _is_count(part: Any) -> bool:
    number = isinstance(part, int | float) and not isinstance(part, bool)
    return number and 0 <= part <= MOST_COUNTED  # what is beyond cannot even be added up


def _one(value: Any, path: str | None, who: str) -> Any:
    if path is None or value is MISSING:
        return MISSING
    try:
        return first(path, value)
    except ShapeError as error:
        raise _unreadable(who, error) from error


def _all(value: Any, path: str, who: str) -> tuple[Any, ...]:
    try:
        return found(path, value)
    except ShapeError as error:
        raise _unreadable(who, error) from error


def _unreadable(who: str, error: ShapeError) -> ArmError:
    return wrong(who, f"what cannot be looked through: {error}")


def _same(found: Any, wanted: Any) -> bool:
    """As JSON compares: `1` is no `true`."""
    return isinstance(found, bool) == isinstance(wanted, bool) and found == wanted
