"""Clerks of the bike rental, good and bad; each is a function that the runner calls."""

import asyncio
import queue
import threading
import time


def _renter(text):
    return text.split()[2].rstrip(".")


async def rents(text, seat):
    """Does what is asked."""
    answer = await seat.call("rent", bike="b-1", renter=_renter(text))
    usage = {"input_tokens": 10, "output_tokens": 2, "cost": 0.25}
    return {"text": f"Bike b-1 is {answer.text}.", "usage": usage, "model": "m-1"}


def rents_in_a_thread(text, seat):
    return seat.call("rent", bike="b-1", renter=_renter(text)).text


async def does_nothing(text, seat):
    return "Done!"


async def scraps(text, seat):
    return (await seat.call("scrap", bike="b-1")).text


async def calls_for_ever(text, seat):
    while True:
        await seat.call("get_bike", bike="b-1")


async def sends_without_end(text, seat):
    for _ in range(12):
        await seat.call("get_bike", bike="b" * 3_000_000)
    return "I sent a lot."


async def sleeps(text, seat):
    await asyncio.sleep(600)


async def answers_the_first_turn_only(text, seat):
    if seat.history:
        await asyncio.sleep(600)
    return "Hello."


async def dies(text, seat):
    await seat.call("get_bike", bike="b-1")
    raise ConnectionError("the model's host is down")


async def every_other_time(text, seat):
    """Rents where its seed is even."""
    return "I would rather not." if seat.seed % 2 else await _rent(text, seat)


async def _rent(text, seat):
    return (await seat.call("rent", bike="b-1", renter=_renter(text))).text


GOING: dict[str, int] = {}
MOST: dict[str, int] = {}


async def counts_itself(text, seat):
    """How many of it go on at once, by the arm's settings."""
    name = seat.settings["name"]
    GOING[name] = GOING.get(name, 0) + 1
    MOST[name] = max(MOST.get(name, 0), GOING[name])
    await asyncio.sleep(0.02)
    GOING[name] -= 1
    return "done"


CALLED_LATE = threading.Event()
LATE: queue.Queue[str] = queue.Queue()


def calls_when_its_time_is_up(text, seat):
    CALLED_LATE.wait(30)
    try:
        LATE.put(seat.call("rent", bike="b-1", renter="nobody").text)
    except Exception as error:
        LATE.put(type(error).__name__)


def looks_for_others(text, seat):
    """Leaves a mark wherever it can, and reports the marks of others that it finds."""
    own = _renter(text)
    found = [
        *seat.state.values(),
        *(message["text"] for message in seat.history if own not in message["text"]),
        seat.call("get_bike", bike="b-1").text,
    ]
    seat.state["mark"] = own
    seat.settings["mark"] = own
    seat.call("rent", bike="b-1", renter=own)
    time.sleep(0.01)
    found.append(seat.call("get_bike", bike="b-1").text.replace(own, ""))
    return "I found: " + " ".join(found)
