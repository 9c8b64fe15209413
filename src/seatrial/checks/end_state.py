"""`end_state`: exactly the expected changes of the world, and nothing else.

Where several end states are right, or names stand for values that only the trial knows, each way is held
against what happened; a wrong end state is explained by the way that comes nearest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from seatrial.checks import expectations
from seatrial.checks.binding import MOST_WAYS, bindings, filled
from seatrial.checks.differences import Difference, Rules, in_order
from seatrial.checks.scope import Found, Scope, counted, failed, passed, succeeded, unproven
from seatrial.documents.checks import Changes, EndState
from seatrial.trace import Called


def find(check: EndState, scope: Scope) -> Found:
    """Whether the world changed as expected; no evidence when its end was not captured."""
    changes = scope.trace.changes
    if changes is None:
        return unproven("the end state was not captured")
    rules = Rules(check)
    happened = in_order(changes)
    tried: list[tuple[str, Difference]] = []
    more = ""
    for name, expected in _alternatives(check):
        for ways, names in enumerate(bindings(expected, happened, rules.lens), 1):
            difference = Difference.of(filled(expected, names), rules, happened)
            if difference.distance == 0 and difference.unjudged is None:
                return passed(_as_expected(check, difference) + (f" ({name})" if name else ""))
            tried.append((name, difference))
            if ways == MOST_WAYS:
                more = f"; the first {MOST_WAYS} ways to give names their values were tried"
    name, difference = min(tried, key=lambda one: one[1].distance)
    if difference.distance == 0 and difference.unjudged is not None:
        raise difference.unjudged
    told = _told(difference) + more
    if check.any_of:
        told = f"none of {len(check.any_of)} right end states; the nearest is {name}: {told}"
    return failed(told, _blamed(difference.unexpected, scope))


def _alternatives(check: EndState) -> Iterator[tuple[str, Changes]]:
    """Each end state that is right, by its place in the check; without a name where there is one."""
    if not check.any_of:
        yield "", check
    for number, alternative in enumerate(check.any_of):
        yield (
            f"any_of[{number}]",
            Changes.model_construct(
                created=check.created + alternative.created,
                changed=check.changed + alternative.changed,
                deleted=check.deleted + alternative.deleted,
                linked=check.linked + alternative.linked,
                unlinked=check.unlinked + alternative.unlinked,
            ),
        )


def _told(difference: Difference) -> str:
    sentences = []
    if difference.missing:
        sentences.append("missing: " + expectations.listed(difference.missing))
    if difference.unexpected:
        sentences.append(
            "unexpected: " + expectations.listed([text for _, text in difference.unexpected])
        )
    return "; ".join(sentences)


def _as_expected(check: EndState, difference: Difference) -> str:
    if difference.fulfilled:
        text = f"{counted(difference.fulfilled, 'expected change')} found"
        others = " and nothing else" if not difference.left_out else ""
    else:
        text = "nothing changed, as expected"
        others = ""
        if difference.left_out:
            text = "nothing changed that counts"
    if difference.left_out:
        word = "allowed" if check.others == "allowed" else "ignored"
        others = f", {counted(difference.left_out, 'other difference')} {word}"
    return text + others


def _blamed(unexpected: Sequence[tuple[str, str]], scope: Scope) -> Called | None:
    """The call that made the first unexpected difference, where the trace lets one tell."""
    writing = [call for call in scope.calls if call.changed] or [
        call
        for call in scope.calls
        if call.answered_by == "server" and call.read_only is not True and succeeded(call)
    ]
    for key, _ in unexpected:
        word = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])")
        for call in reversed(writing):
            if word.search(json.dumps(call.arguments, ensure_ascii=False, default=str)) or (
                word.search(call.answer.text)
            ):
                return call
    return writing[0] if unexpected and len(writing) == 1 else None
