"""A baseline that was recorded just now, for tests of what else selects a case."""

from __future__ import annotations

from seatrial.comparability import HARNESS
from seatrial.selection import Dependencies, Used
from seatrial.workspace import Recall, Workspace


def everything(workspace: Workspace) -> Recall:
    """Recalls valid trials of every case, under the conditions that hold when it is asked."""

    def recall(suite: str, agent: str) -> Dependencies:
        return Dependencies(
            cases={
                case: (
                    Used(
                        valid=4,
                        conditions={**found, "harness": HARNESS},
                        called=frozenset(),
                        listed=frozenset(),
                    ),
                )
                for case, found in workspace.conditions(workspace.catalog()).items()
            }
        )

    return recall
