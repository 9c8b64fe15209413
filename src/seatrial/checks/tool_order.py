"""`tool_order`: these tools are called in this order, with others between."""

from __future__ import annotations

from seatrial.checks.scope import (
    BEYOND_RIGHTS,
    Found,
    Scope,
    failed,
    is_call_of,
    passed,
    succeeded,
    where,
)
from seatrial.documents.checks import ToolOrder
from seatrial.trace import Called


def find(check: ToolOrder, scope: Scope) -> Found:
    """Whether the successful calls hold the tools as a subsequence; names the first that breaks it.

    Taking the earliest call that fits for each tool in turn finds a subsequence if there is one.
    """
    calls = [call for call in scope.calls if succeeded(call)]
    taken: list[Called] = []
    position = 0
    for tool in check.tools:
        at = next((i for i in range(position, len(calls)) if is_call_of(tool, calls[i])), None)
        if at is None:
            return _broken(tool, check, taken, scope)
        taken.append(calls[at])
        position = at + 1
    steps = ", ".join(
        f"{tool} ({where(call)})" for tool, call in zip(check.tools, taken, strict=True)
    )
    return passed(f"called in order: {steps}", taken[-1])


def _broken(tool: str, check: ToolOrder, taken: list[Called], scope: Scope) -> Found:
    attempts = scope.calls_of(tool)
    fruitful = [call for call in attempts if succeeded(call)]
    before = f"{check.tools[len(taken) - 1]} ({where(taken[-1])})" if taken else "anything else"
    if taken and fruitful:
        # Each of them lies before the call that it should follow.
        early = fruitful[-1]
        if early in taken:
            return failed(
                f"{tool} was not called again after {before}; expected the order {_arrows(check)}",
                taken[-1],
            )
        return failed(
            f"{tool} was called too early ({where(early)}), before {before}; "
            f"expected the order {_arrows(check)}",
            early,
        )
    if attempts:
        last = attempts[-1]
        came_to = BEYOND_RIGHTS if last.refused is not None else "answered with an error"
        return failed(
            f"{tool} was called in vain only (the last time it was {came_to}, {where(last)}); "
            f"expected the order {_arrows(check)}",
            last,
        )
    follows = f" after {before}" if taken else ""
    return failed(f"{tool} was never called; expected it{follows}, in the order {_arrows(check)}")


def _arrows(check: ToolOrder) -> str:
    return " → ".join(check.tools)
