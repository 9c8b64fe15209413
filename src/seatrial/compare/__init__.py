"""Baseline records + candidate records → comparison, case by case and as a suite."""

from seatrial.compare.comparing import compare, compare_counts
from seatrial.compare.judging import rule_for
from seatrial.compare.matching import Entry
from seatrial.compare.model import (
    BaselineInfo,
    CaseComparison,
    Comparison,
    PassK,
    ServedModels,
    SuiteComparison,
    Tally,
    Worst,
    worst_first,
)
from seatrial.compare.sides import CaseFacts, Side, Trials, count

__all__ = [
    "BaselineInfo",
    "CaseComparison",
    "CaseFacts",
    "Comparison",
    "Entry",
    "PassK",
    "ServedModels",
    "Side",
    "SuiteComparison",
    "Tally",
    "Trials",
    "Worst",
    "compare",
    "compare_counts",
    "count",
    "rule_for",
    "worst_first",
]
