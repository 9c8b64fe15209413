"""The agent under test: replace it by yours, or by an arm that talks to yours."""

import re
from typing import Any


def answer(text: str, seat: Any) -> str:
    """One turn: what the person says, and the reply. What the agent does, it does by its tools."""
    day = re.search(r"\d{4}-\d{2}-\d{2}", text)
    if day is None:
        return "For which day do you need the room?"
    rooms = seat.call("find_rooms", day=day[0]).structured["rooms"]
    free = next((room for room in rooms if room["booked_by"] is None), None)
    if free is None:
        return f"I am sorry, no room is free on {day[0]}."
    seat.call("book_room", room=free["id"], person=seat.settings["books_for"])
    return f"Room {free['id']} is yours on {day[0]}."
