"""Agents that are functions."""

import queue
import threading
import time


def plain(text, seat):
    answer = seat.call("rent", bike="b-1", renter=text)
    seat.state["turns"] = seat.state.get("turns", 0) + 1
    return f"{answer.text} in turn {seat.state['turns']} after {len(seat.history)} messages"


async def asynchronous(text, seat):
    answer = await seat.call("rent", bike="b-1", renter=text)
    return {"text": answer.text, "usage": {"output_tokens": 3}, "model": "m-1"}


class Agent:
    async def __call__(self, text, seat):
        return f"seed {seat.seed}, {seat.settings['tone']}"


an_object = Agent()


def prints(text, seat):
    print("\x1b[2Jthinking about", text)
    return "done"


def writes_into_its_settings(text, seat):
    seat.settings["tone"].append("rude")
    return "done"


def raises(text, seat):
    raise LookupError("no such customer")


async def raises_asynchronously(text, seat):
    raise TimeoutError("the model took too long")


async def raises_in_a_group(text, seat):
    raise ExceptionGroup("several", [ValueError("one of them")])


def leaves(text, seat):
    raise SystemExit(3)


def gives_nothing(text, seat):
    return None


def hangs(text, seat):
    HANGING.set()
    LET_GO.wait(60)
    LATE.put(_late_call(seat))


def _late_call(seat):
    try:
        return seat.call("rent", bike="b-1", renter="nobody").text
    except Exception as error:
        return type(error).__name__


HANGING = threading.Event()
LET_GO = threading.Event()
LATE: queue.Queue[str] = queue.Queue()


def is_slow(text, seat):
    time.sleep(0.05)
    return "done"


class _Shouting:
    """An agent as a product builds it of its settings; it counts what it was asked."""

    def __init__(self, settings):
        self._settings = settings
        self._asked = 0

    def __call__(self, text, seat):
        self._asked += 1
        return f"{text}{self._settings.get('mark', '.') * self._settings['times']} ({self._asked})"


def build_shouting(settings):
    print("building")
    return _Shouting(settings)


build_shouting.settings_schema = {  # type: ignore[attr-defined]
    "type": "object",
    "properties": {"times": {"type": "integer", "maximum": 3}, "mark": {"type": "string"}},
    "required": ["times"],
    "additionalProperties": False,
}


async def build_asynchronously(settings):
    async def agent(text, seat):
        return f"{text} of {settings['times']}"

    return agent


def build_nothing(settings):
    return None


def build_badly(settings):
    raise KeyError("times")
