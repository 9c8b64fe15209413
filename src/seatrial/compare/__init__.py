"""Baseline records + candidate records → comparison, case by case and as a suite."""

from seatrial.compare.comparing import compare, compare_counts, contested
from seatrial.compare.judging import rule_for
from seatrial.compare.matching import Entry
from seatrial.compare.model import (
    Attacks,
    BaselineInfo,
    CaseComparison,
    Comparison,
    Mean,
    PassK,
    ServedModels,
    Simulation,
    SuiteComparison,
    Table,
    TableRow,
    Tally,
    Tie,
    Ties,
    Worst,
    worst_first,
)
from seatrial.compare.pooling import differences, recorded
from seatrial.compare.sides import CaseFacts, Side, Trials, count

__all__ = [
    "Attacks",
    "BaselineInfo",
    "CaseComparison",
    "CaseFacts",
    "Comparison",
    "Entry",
    "Mean",
    "PassK",
    "ServedModels",
    "Side",
    "Simulation",
    "SuiteComparison",
    "Table",
    "TableRow",
    "Tally",
    "Tie",
    "Ties",
    "Trials",
    "Worst",
    "compare",
    "compare_counts",
    "contested",
    "count",
    "differences",
    "recorded",
    "rule_for",
    "worst_first",
]
