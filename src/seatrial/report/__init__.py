"""A run and its ruling for people and for CI: a static site or one page, JUnit, SARIF, annotations, a summary."""

from seatrial.report.annotations import annotated
from seatrial.report.code_quality import code_quality
from seatrial.report.evidence import Evidence
from seatrial.report.junit import junit
from seatrial.report.marks import Mark, marks
from seatrial.report.sarif import sarif
from seatrial.report.single import single_page
from seatrial.report.site import Site, build
from seatrial.report.summary import summary

__all__ = [
    "Evidence",
    "Mark",
    "Site",
    "annotated",
    "build",
    "code_quality",
    "junit",
    "marks",
    "sarif",
    "single_page",
    "summary",
]
