"""Draws of a trial: repeatable, and independent of the order they are made in."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from seatrial.state.chance import Chance


@given(seed=st.integers(0, 2**40), name=st.text())
def test_the_same_seed_and_name_give_the_same_draw(seed: int, name: str):
    one, other = Chance(seed), Chance(seed)
    other.share("something else")

    assert one.share(name) == other.share(name)
    assert 0 <= one.share(name) < 1
    assert one.uuid(name) == other.uuid(name)
    assert UUID(one.uuid(name)).version == 4


def test_draws_are_spread_evenly_over_names_and_seeds():
    names = [Chance(7).share(f"look_up\0{number}") for number in range(4000)]
    seeds = [Chance(seed).share("look_up\0001") for seed in range(4000)]

    for draws in (names, seeds):
        assert len(set(draws)) == 4000
        # Of 4000 draws a tenth falls under 0.1: 400, within five standard deviations (19).
        assert abs(sum(draw < 0.1 for draw in draws) - 400) < 95
