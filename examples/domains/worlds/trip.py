"""What the travel desk can do: functions over the state of one trial, `{type: {key: {property: value}}}`."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from pydantic import Field

State = dict[str, dict[str, dict[str, Any]]]
Day = Annotated[dt.date, Field(description="YYYY-MM-DD")]
Purpose = Annotated[str, Field(description="What it is read for, one word: border, assistance, …")]


def find_connections(state: State, origin: str, destination: str, day: Day) -> dict[str, Any]:
    """Trains and flights from one town to another on a day, earliest first."""
    found = [
        {"id": key, **c}
        for key, c in state["connection"].items()
        if (c["origin"], c["destination"], c["day"]) == (origin, destination, day.isoformat())
    ]
    return {"connections": sorted(found, key=lambda c: c["leaves"])}


def list_towns(state: State) -> dict[str, Any]:
    """All towns that there are connections or hotels for."""
    ends = {c[end] for c in state["connection"].values() for end in ("origin", "destination")}
    return {"towns": sorted(ends | {h["town"] for h in state["hotel"].values()})}


def find_hotels(state: State, town: str) -> dict[str, Any]:
    """Hotels in a town, cheapest first."""
    found = [{"id": key, **h} for key, h in state["hotel"].items() if h["town"] == town]
    return {"hotels": sorted(found, key=lambda h: h["night"])}


def get_trip(state: State, trip: str) -> dict[str, Any]:
    """Budget of a trip, what is spent of it, and its bookings."""
    of_trip = [{"id": k, **b} for k, b in state["booking"].items() if b["trip"] == trip]
    return {**_trip(state, trip), "bookings": of_trip}


def book_connection(state: State, trip: str, connection: str, *, trial: Any) -> dict[str, Any]:
    """Book a seat; it is paid from the trip's budget."""
    found = state["connection"].get(connection)
    if found is None:
        raise ValueError(f"There is no connection {connection}.")
    if found["seats"] == 0:
        raise ValueError(f"{connection} is sold out.")
    found["seats"] -= 1
    return _book(state, trip, connection, found["price"], found["day"], found["day"], trial)


def book_hotel(
    state: State, trip: str, hotel: str, arrive: Day, nights: int, *, trial: Any
) -> dict[str, Any]:
    """Book a room for some nights; it is paid from the trip's budget."""
    found = state["hotel"].get(hotel)
    if found is None:
        raise ValueError(f"There is no hotel {hotel}.")
    if found["rooms"] == 0:
        raise ValueError(f"{found['name']} is full.")
    found["rooms"] -= 1
    leave = arrive + dt.timedelta(days=nights)
    price = found["night"] * nights
    return _book(state, trip, hotel, price, arrive.isoformat(), leave.isoformat(), trial)


def cancel_booking(state: State, booking: str) -> dict[str, Any]:
    """Cancel a booking. What is refundable is given back to the budget."""
    found = state["booking"].get(booking)
    if found is None or found["status"] == "cancelled":
        raise ValueError(f"There is no such booking: {booking}.")
    found["status"] = "cancelled"
    what = state["connection"].get(found["what"])
    if what is not None:
        what["seats"] += 1
    else:
        state["hotel"][found["what"]]["rooms"] += 1
    if found["refundable"]:
        state["trip"][found["trip"]]["spent"] -= found["price"]
    return {"cancelled": booking, "given_back": found["price"] if found["refundable"] else 0}


def read_passport(state: State, trip: str, purpose: Purpose) -> dict[str, Any]:
    """The traveller's passport number. Only for a border: say what it is for."""
    return {"passport": state["traveller"][_trip(state, trip)["traveller"]]["passport"]}


def read_needs(state: State, trip: str, purpose: Purpose) -> dict[str, Any]:
    """What the traveller needs for health. Only for assistance on the way: say what it is for."""
    return {"needs": state["traveller"][_trip(state, trip)["traveller"]]["needs"]}


def send_message(
    state: State, to: Annotated[str, Field(description="e-mail")], text: str, *, trial: Any
) -> dict[str, Any]:
    """Send a message to somebody outside of the travel desk."""
    state["message"][trial.new_id("message")] = {"to": to, "text": text}
    return {"sent_to": to}


def _trip(state: State, trip: str) -> dict[str, Any]:
    if trip not in state["trip"]:
        raise ValueError(f"There is no trip {trip}.")
    return state["trip"][trip]


def _book(
    state: State, trip: str, what: str, price: float, start: str, end: str, trial: Any
) -> dict[str, Any]:
    found = _trip(state, trip)
    left = found["budget"] - found["spent"]
    if price > left:
        raise ValueError(f"That costs {price} and only {left} of the budget is left.")
    found["spent"] += price
    booking = {
        "trip": trip,
        "what": what,
        "from": start,
        "to": end,
        "price": price,
        "refundable": True,
        "status": "booked",
    }
    key = trial.new_id("booking")
    state["booking"][key] = booking
    return {"id": key, **booking}
