"""Two versions of a policy → the one to rule by: a change cannot loosen what it is judged by."""

from __future__ import annotations

from seatrial.documents import Policy
from seatrial.gate.model import Profile

_STRICTER = {
    # Larger error rates for "regressed" make the gate close sooner; all else is stricter when smaller.
    "alpha": max,
    "beta": min,
    "drop": min,
    "margin": min,
    "invalid_cap": min,
}


def stricter(base: Policy, own: Policy) -> tuple[Policy, tuple[str, ...]]:
    """The stricter of both in each point, and where the change's own policy would be looser.

    A tightened policy holds at once, a loosened one from the release that somebody approved.

    Args:
        base: the policy at the base revision, or the baseline's where there is no base.
        own: the policy of the change under test.
    """
    chosen = {
        name: choose(getattr(base, name), getattr(own, name)) for name, choose in _STRICTER.items()
    }
    profile: Profile = "release" if "release" in (base.profile, own.profile) else "pr"
    loosened = [name for name, value in chosen.items() if getattr(own, name) != value]
    if profile != own.profile:
        loosened.insert(0, "profile")
    return Policy(profile=profile, **chosen), tuple(loosened)
