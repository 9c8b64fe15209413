"""The comparison as JUnit XML, for whatever shows test results in CI."""

from __future__ import annotations

import re

from junitparser import Attr, Error, Failure, IntAttr, JUnitXml, Skipped, TestCase, TestSuite

from seatrial.compare import CaseComparison
from seatrial.escaping import clipped, legible
from seatrial.report.evidence import Evidence, headline, nothing_valid
from seatrial.verdicts import Gate, Outcome

_TEXT_SHOWN = 4_000
_PLACE = re.compile(r"(?P<file>.+):(?P<line>[0-9]+):[0-9]+")


class _Case(TestCase):
    """A test case with the place of its document, as GitLab and most viewers read it."""

    file = Attr()
    line = IntAttr()


def junit(evidence: Evidence) -> bytes:
    """One test suite for the suite: a test case for the ruling, and one for each case.

    failure: regressed, or a forbidden action. error: required and without a verdict, or run without one
    valid trial. skipped: not run (carried, removed) or not comparable. The ruling is a test case of its
    own, so that a gate closed by the suite as a whole does not look like success.
    """
    comparison = evidence.comparison
    suite = TestSuite(_xml(comparison.suite))
    suite.timestamp = _xml(evidence.runs["candidate"].manifest.created_at)
    for name, value in (
        ("candidate", f"{comparison.candidate_arm} {comparison.candidate_version}".rstrip()),
        ("run", comparison.run),
        ("baseline", comparison.baseline.run if comparison.baseline else "none"),
        ("ruling", evidence.ruling.ruling.value),
    ):
        suite.add_property(name, _xml(value))
    # All at once: with each single one the library counts everything anew.
    suite.add_testcases([_ruling(evidence), *(_case(evidence, case) for case in comparison.cases)])
    xml = JUnitXml("seatrial")
    xml.add_testsuite(suite)
    xml.update_statistics()  # type: ignore[no-untyped-call]  # junitparser is typed in part
    text: bytes = xml.tostring()  # type: ignore[no-untyped-call]
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + text + b"\n"


def _ruling(evidence: Evidence) -> TestCase:
    ruling = evidence.ruling
    shown = TestCase("ruling", "gate")
    text = "\n".join(f"[{ground.effect}] {ground.text}" for ground in ruling.grounds)
    if ruling.ruling is Gate.CLOSED:
        shown.result = [_result(Failure, headline(ruling), "closed", text)]
    elif ruling.ruling is Gate.UNDECIDED:
        shown.result = [_result(Error, headline(ruling), "undecided", text)]
    return shown


def _case(evidence: Evidence, case: CaseComparison) -> TestCase:
    records = evidence.trials("candidate", case.case)
    shown = _Case(
        _xml(case.case),
        _xml(case.group or "case"),
        round(sum(r.duration_ms for r in records) / 1000, 3),
    )
    place = (case.worst.place if case.worst else "") or evidence.place(case.case)
    if found := _PLACE.fullmatch(place):
        shown.file = _xml(found["file"])
        shown.line = int(found["line"])
    result = _outcome(evidence, case)
    if result is not None:
        shown.result = [result]
    return shown


def _outcome(evidence: Evidence, case: CaseComparison) -> Failure | Error | Skipped | None:
    text = _text(evidence, case)
    match evidence.concern(case):
        case "worse":
            kind = "forbidden" if case.forbidden else case.outcome.value
            return _result(Failure, case.sentence, kind, text)
        case "unclear":
            return _result(Error, case.sentence, case.outcome.value, text)
        case None if nothing_valid(case):
            return _result(Error, case.sentence, "invalid", text)
        case None if case.outcome in (Outcome.CARRIED, Outcome.REMOVED, Outcome.INCOMPARABLE):
            return _result(Skipped, case.sentence, case.outcome.value, "")
        case None if case.candidate is None or not case.candidate.valid:
            return _result(Skipped, case.sentence, "not run", "")
        case None:
            return None


def _text(evidence: Evidence, case: CaseComparison) -> str:
    worst = case.worst
    lines = [case.title]
    if worst is not None:
        where = ", ".join(
            f"{noun} {number}"
            for noun, number in (("trial", worst.trial), ("turn", worst.turn), ("call", worst.call))
            if number is not None
        )
        lines += [f"{where}: {worst.check}: {worst.reason}", worst.place]
    lines.append(f"Run it again: {evidence.reproduction(case.case)}")
    return "\n".join(line for line in lines if line)


def _result(
    kind: type[Failure | Error | Skipped], message: str, type_: str, text: str
) -> Failure | Error | Skipped:
    result = kind(_xml(message), type_)
    if text:
        result.text = _xml(text)
    return result


def _xml(text: str) -> str:
    """Text without the characters XML 1.0 cannot hold; the writer escapes the rest."""
    return legible(clipped(text, _TEXT_SHOWN))
