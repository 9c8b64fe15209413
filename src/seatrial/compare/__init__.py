"""Baseline records + candidate records → comparison, case by case and as a suite."""

from seatrial.compare.comparing import compare
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
from seatrial.compare.sides import CaseFacts, Side

__all__ = [
    "BaselineInfo",
    "CaseComparison",
    "CaseFacts",
    "Comparison",
    "PassK",
    "ServedModels",
    "Side",
    "SuiteComparison",
    "Tally",
    "Worst",
    "compare",
    "worst_first",
]
