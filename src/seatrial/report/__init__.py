"""A run and its ruling for people: a static site, JUnit for CI, a Markdown summary for the job's page."""

from seatrial.report.evidence import Evidence
from seatrial.report.junit import junit
from seatrial.report.site import Site, build
from seatrial.report.summary import summary

__all__ = ["Evidence", "Site", "build", "junit", "summary"]
