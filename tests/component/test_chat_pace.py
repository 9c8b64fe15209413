"""How an endpoint is asked: its limits, its wishes, and what is asked again."""

import anyio
import pytest

from seatrial import arms
from seatrial.chat import Pace, Unanswered
from seatrial.documents import ArmLimits


def test_requests_beyond_the_limit_of_a_minute_wait_and_tokens_count_beside_them():
    async def asked(pace: Pace, tokens: int, times: int) -> int:
        """How many of so many requests are admitted at once."""
        admitted = 0

        async def request() -> int:
            nonlocal admitted
            admitted += 1
            return tokens

        async def one() -> None:
            await pace.ask(request, used=lambda used: used)

        with anyio.move_on_after(1):
            for _ in range(times):
                await one()
        return admitted

    assert anyio.run(asked, Pace(requests=3), 0, 5) == 3
    assert anyio.run(asked, Pace(tokens=1000), 300, 9) in (3, 4)
    assert anyio.run(asked, Pace(), 10**6, 9) == 9


def test_endpoint_that_is_asked_too_much_gets_half_as_many_requests_at_once_and_then_more_again():
    async def main() -> list[int]:
        pace, most, now, busy = Pace(), 0, 0, 8
        rounds: list[int] = []

        async def request() -> None:
            nonlocal most, now, busy
            now += 1
            most = max(most, now)
            try:
                await anyio.sleep(0.01)
                if busy:
                    busy -= 1
                    raise Unanswered("too much", passing=True, busy=True, retry_after=0.02)
            finally:
                now -= 1

        for _ in range(3):
            most = 0
            async with anyio.create_task_group() as tasks:
                for _ in range(8):
                    tasks.start_soon(pace.ask, request)
            rounds.append(most)
        return rounds

    first, second, third = anyio.run(main)
    assert first == 8
    assert 4 <= second < 8
    assert second < third <= 8


def test_what_is_no_matter_of_time_is_not_asked_again():
    asked = 0

    async def request() -> None:
        nonlocal asked
        asked += 1
        raise Unanswered("no such model")

    with pytest.raises(Unanswered, match="no such model"):
        anyio.run(Pace().ask, request)
    assert asked == 1


def test_of_the_limits_of_several_arms_the_lowest_holds():
    async def main() -> int:
        async with arms.connections() as shared:
            url = "https://api.example.com/v1"
            for limits in (ArmLimits(requests_per_minute=9), ArmLimits(requests_per_minute=2)):
                shared.pace(url, limits)
            pace = shared.pace(url, ArmLimits())
            admitted = 0

            async def request() -> None:
                nonlocal admitted
                admitted += 1

            with anyio.move_on_after(1):
                for _ in range(5):
                    await pace.ask(request)
            return admitted

    assert anyio.run(main) == 2


def test_shards_of_a_run_divide_the_limits_of_an_endpoint():
    async def main() -> int:
        async with arms.connections(1 / 4) as shared:
            pace = shared.pace("https://api.example.com/v1", ArmLimits(requests_per_minute=10))
            admitted = 0

            async def request() -> None:
                nonlocal admitted
                admitted += 1

            with anyio.move_on_after(1):
                for _ in range(5):
                    await pace.ask(request)
            return admitted

    assert anyio.run(main) == 2
