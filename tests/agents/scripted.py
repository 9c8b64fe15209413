"""A clerk that does in each trial what a script says, and waits for others where it is told to.

The script is in the arm's settings: case → a character a trial, the last one for all further ones. `p` rents
the bike, `f` does nothing, `x` scraps it, `i` breaks down. A file `weather.json` overrules it for every arm.

In the folder that MEETING names each trial leaves a note that it has begun; `waits.json` there says for the
notes of which others one waits.
"""

import hashlib
import json
import os
import time
from pathlib import Path

RUN_SEED = 7


def _number(case, seed):
    """Which trial this is: its seed comes from that of the run, its case and its number."""
    for number in range(1, 200):
        data = f"{RUN_SEED}\0{case}\0{number}".encode()
        if int.from_bytes(hashlib.sha256(data).digest()[:4]) == seed:
            return number
    raise LookupError(f"run it with --seed {RUN_SEED}")


def serves(text, seat):
    words = text.split()
    renter, case = words[2].rstrip("."), words[-1].rstrip(".")
    number = _number(case, seat.seed)
    name = seat.settings["name"]
    _meet(f"{name}-{case}-{number}")
    weather = Path("weather.json")
    script = seat.settings["script"]
    if weather.exists():
        script = json.loads(weather.read_text(encoding="utf-8"))
    marks = script.get(case, "p")
    match marks[min(number, len(marks)) - 1]:
        case "p":
            return seat.call("rent", bike="b-1", renter=renter).text
        case "x":
            return seat.call("scrap", bike="b-1").text
        case "i":
            raise ConnectionError("the model's host is down")
        case _:
            return "Done!"


def _meet(own):
    if "MEETING" not in os.environ:
        return
    place = Path(os.environ["MEETING"])
    (place / own).touch()
    for other in json.loads((place / "waits.json").read_text(encoding="utf-8")).get(own, ()):
        while not (place / other).exists():
            time.sleep(0.01)
