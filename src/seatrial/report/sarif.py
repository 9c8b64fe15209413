"""Marks as SARIF 2.1.0, which code hosts and editors show at the line.

The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. GitHub shows 5,000 results of a file and wants a
location in each: https://docs.github.com/en/code-security/code-scanning (SARIF support for code scanning).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from seatrial import __version__
from seatrial.escaping import clipped, legible
from seatrial.report.evidence import Evidence, headline
from seatrial.report.marks import Level, Mark

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
MOST = 5_000
_LEVELS: dict[Level, str] = {"error": "error", "warning": "warning", "notice": "note"}


def sarif(evidence: Evidence, marks: Sequence[Mark]) -> str:
    """One run with a result for each mark whose file is known, at most `MOST`; the ruling is a property of the run."""
    placed = [mark for mark in marks if mark.path]
    rules = sorted({mark.rule for mark in placed[:MOST]})
    ruling, comparison = evidence.ruling, evidence.comparison
    return log(
        rules,
        [_result(mark, rules.index(mark.rule)) for mark in placed[:MOST]],
        automationDetails={"id": f"seatrial/{comparison.suite}/{comparison.candidate_arm}/"},
        properties={
            "ruling": ruling.ruling.value,
            "headline": legible(clipped(headline(ruling), 1_000)),
            "run": comparison.run,
            "baseline": comparison.baseline.run if comparison.baseline else None,
            "withoutPlace": len(marks) - len(placed),
            "leftOut": max(0, len(placed) - MOST),
        },
    )


def log(rules: Sequence[str], results: Sequence[dict[str, Any]], **more: Any) -> str:
    """A SARIF log with one run of Seatrial's.

    Args:
        rules: ids; the index of each is its `ruleIndex`.
        results: as of the format.
        more: further properties of the run.
    """
    run = {
        "tool": {
            "driver": {
                "name": "Seatrial",
                "version": __version__,
                "rules": [{"id": rule} for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        **more,
        "results": list(results),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def location(path: str, line: int, column: int) -> dict[str, Any]:
    """A place in a file below the root of the repository."""
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line, "startColumn": column},
        }
    }


def fingerprint(mark: Mark) -> str:
    """The same for the same expectation in the next run, wherever its line has moved."""
    named = f"{mark.case}\0{mark.expectation}"
    return hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()


def _result(mark: Mark, rule: int) -> dict[str, Any]:
    return {
        "ruleId": mark.rule,
        "ruleIndex": rule,
        "level": _LEVELS[mark.level],
        "message": {"text": f"{mark.title}\n{mark.text}"},
        "locations": [location(mark.path, mark.line, mark.column)],
        "partialFingerprints": {"seatrialExpectation/v1": fingerprint(mark)},
    }
