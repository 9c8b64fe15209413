"""Problems of documents as SARIF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seatrial.errors import Problem, printable
from seatrial.report.sarif import location, log


def sarif(problems: Sequence[Problem]) -> str:
    """One run with a result for each problem.

    Args:
        problems: with paths relative to the folder that `%SRCROOT%` stands for.
    """
    codes = sorted({problem.code for problem in problems})
    return log(codes, [_result(problem, codes.index(problem.code)) for problem in problems])


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    text = f"{problem.message}. {problem.hint}" if problem.hint else problem.message
    return {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.level,
        "message": {"text": printable(text)},
        "locations": [location(problem.path, problem.line, problem.column)],
    }
