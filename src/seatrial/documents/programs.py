"""Programs that are started for each turn: what they are given, and where their answer stands on stdout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, StrictInt, model_validator

from seatrial.documents.answer_shapes import AnswerShape, EventRules
from seatrial.documents.base import Part

SAID = re.compile(r"(--?[\w-]+=)?\{(text|session)\}")
"""A word of a command that stands for what the person says, or what the conversation is called: by itself or behind the
name of an option. Within a word that is a script it would be a piece of that script."""

KNOWN = ("python", "config", "text", "session")
"""What stands for something in a command."""
_LONE = re.compile(r"(?:--?[\w-]+=)?\{([A-Za-z_]+)\}")

ExitCode = Annotated[StrictInt, Field(ge=0, le=255)]


class PerTurn(Part):
    """A process for each turn: it is given what the person says, answers on stdout, and ends."""

    later: tuple[str, ...] = Field(default=(), min_length=1)
    """Program and arguments from the second turn on, which go on with the conversation; `{session}` is what the agent
    called it (`session` in `response` or `events`), or the id that it was given by `{session}` in `command`. Not needed
    with `stdin: turn`."""
    stdin: Literal["text", "turn", "nothing"] | None = None
    """What is written to stdin, which is closed then. `text`: what the person says. `turn`: a line of JSON with the
    history, as a process per trial is given it. Left out: `text`, or `nothing` where `{text}` stands in `command`."""
    answer: Literal["stdout", "last_line"] = "stdout"
    """What of stdout is the answer: all of it, or its last line that is not blank."""
    response: AnswerShape | None = None
    """Where in the answer, a JSON value, the reply stands. Left out: the answer is the reply."""
    events: EventRules | None = None
    """What the lines of stdout mean, each of which is JSON; other lines are kept as a note."""
    exit_codes: tuple[ExitCode, ...] = Field(default=(0,), min_length=1)
    """With these statuses of the program its answer counts."""

    @model_validator(mode="after")
    def _has_one_answer(self) -> PerTurn:
        if self.events is not None and self.response is not None:
            raise ValueError("write `response` (one JSON value) or `events` (a line of JSON each)")
        if self.events is not None and self.answer == "last_line":
            raise ValueError("with `events` every line is read; leave out `answer`")
        return self

    def written(self, command: Sequence[str]) -> Literal["text", "turn", "nothing"]:
        """What is written to stdin."""
        return self.stdin or ("nothing" if named(command, "text") else "text")

    @property
    def says_its_session(self) -> bool:
        """Whether the agent tells what it calls the conversation."""
        shapes = self.events or (() if self.response is None else (self.response,))
        return any(shape.session is not None for shape in shapes)

    def check(self, command: Sequence[str]) -> None:
        """Whether it goes with the command of the first turn.

        Raises:
            ValueError: what the person says would not reach the agent, or a session is nowhere named.
        """
        for words, where in ((command, "command"), (self.later, "per_turn.later")):
            for word in words:
                lone = _LONE.fullmatch(word)
                if lone is not None and lone[1] not in KNOWN:
                    known = ", ".join(f"`{{{name}}}`" for name in KNOWN)
                    raise ValueError(
                        f"`{{{lone[1]}}}` in `{where}` stands for nothing; known are {known}"
                    )
                if re.search(r"\{(text|session)\}", word) and not SAID.fullmatch(word):
                    raise ValueError(
                        f"{word!r} in `{where}`: `{{text}}` and `{{session}}` are words of their own, or stand behind "
                        "`--option=`; within another word, which may be a script, an agent's words could become code"
                    )
            stdin = self.written(command)
            if words and stdin == "nothing" and not named(words, "text"):
                raise ValueError(
                    f"nothing carries what the person says: write `{{text}}` into `{where}`, or `stdin: text`"
                )
            if stdin == "text" and named(words, "text"):
                raise ValueError(
                    f"what the person says is on stdin and in `{where}`; leave out one"
                )
        if named(self.later, "session") and not (
            named(command, "session") or self.says_its_session
        ):
            raise ValueError(
                "nobody names the `{session}` of `per_turn.later`: write where the agent tells it (`session` in "
                "`response` or `events`), or give it one by `{session}` in `command`"
            )


def named(words: Sequence[str], name: str) -> bool:
    """Whether a placeholder stands in a command."""
    return any(found[2] == name for found in map(SAID.fullmatch, words) if found is not None)
