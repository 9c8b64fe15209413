"""Problems as SARIF 2.1.0, which code hosts and editors show at the line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from seatrial import __version__
from seatrial.errors import Problem, printable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def sarif(problems: Sequence[Problem]) -> str:
    """One run with a result for each problem.

    Args:
        problems: with paths relative to the folder that `%SRCROOT%` stands for.
    """
    codes = sorted({problem.code for problem in problems})
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Seatrial",
                        "version": __version__,
                        "rules": [{"id": code} for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(problem, codes.index(problem.code)) for problem in problems],
            }
        ],
    }
    return json.dumps(log, indent=1)


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    text = f"{problem.message}. {problem.hint}" if problem.hint else problem.message
    return {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.level,
        "message": {"text": printable(text)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(problem.path), "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": problem.line, "startColumn": problem.column},
                }
            }
        ],
    }
