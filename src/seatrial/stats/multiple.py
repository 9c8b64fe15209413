"""Many cases at once: which of them to list as changed."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.stats.paired import significant


def discoveries(p_values: Sequence[float], rate: float) -> tuple[bool, ...]:
    """Which p-values to list so that on average at most `rate` of the list is wrong.

    Source: Benjamini and Hochberg 1995.
    """
    if not p_values:
        return ()
    from scipy.stats import false_discovery_control

    return tuple(significant(float(q), rate) for q in false_discovery_control(p_values))
