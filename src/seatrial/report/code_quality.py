"""Marks as a report of GitLab's Code Quality, which it shows at the lines of a merge request.

The format: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from seatrial.report.marks import Level, Mark
from seatrial.report.sarif import MOST, fingerprint

_SEVERITIES: dict[Level, str] = {"error": "critical", "warning": "minor", "notice": "info"}


def code_quality(marks: Sequence[Mark]) -> str:
    """A list of the first `MOST` marks whose file is known, the worst first."""
    placed = [mark for mark in marks if mark.path][:MOST]
    return json.dumps(
        [
            {
                "description": f"{mark.title}. {mark.text}",
                "check_name": mark.rule,
                "fingerprint": fingerprint(mark),
                "severity": _SEVERITIES[mark.level],
                "location": {"path": mark.path, "lines": {"begin": mark.line}},
            }
            for mark in placed
        ],
        indent=1,
    )
