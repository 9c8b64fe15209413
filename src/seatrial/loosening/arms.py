"""Which version of an agent is what people talk to: `--agent-version latest` answers with it."""

from __future__ import annotations

from collections.abc import Iterator

from seatrial.loosening.sides import Sides
from seatrial.records import PolicyChange


def of(sides: Sides) -> Iterator[PolicyChange]:
    """Arms that are deployed elsewhere than they were."""
    for id in sorted({*sides.before.arms, *sides.now.arms}):
        old, new = sides.before.arms.get(id), sides.now.arms.get(id)
        was = sorted(old.deployed) if old else []
        now = sorted(new.deployed) if new else []
        if was != now:
            yield sides.told(
                "deployed_changed", ("arm", id),
                f"the arm {id} is deployed in {', '.join(now) or 'no environment'} instead of "
                f"{', '.join(was) or 'none'}",
                path="deployed", old=was, new=now, effect="changed",
            )  # fmt: skip
