"""A travel desk without a model: it understands by patterns, and remembers what was wished for.

What it goes by is in `trip.toml`. A seeded carelessness makes its trials differ, as a model's would.
"""

from __future__ import annotations

import datetime as dt
import random
import re
import tomllib
from pathlib import Path
from typing import Any

RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MONTHS = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
DAY = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})\b")


class Told(Exception):
    """What the person is told instead of what they asked for: a question, a refusal, or an error."""


def answer(text: str, seat: Any) -> str:
    """One turn. What the desk remembers of the conversation lies in `seat.state`."""
    desk = seat.state.setdefault("desk", Desk(seat))
    try:
        return desk.answer(text)
    except Told as told:
        return str(told)


class Desk:
    """One conversation: what the person wishes by now, and what was booked for it."""

    def __init__(self, seat: Any) -> None:
        self.seat = seat
        self.dice = random.Random(seat.seed)
        self.today = dt.date.fromisoformat(seat.now[:10])
        self.intent = self.purpose = ""
        self.wish: dict[str, Any] = {}
        self.booked: dict[str, Any] = {}
        self.asked_to_cancel = ""

    def answer(self, text: str) -> str:
        # What stands in quotation marks somebody else wrote: it is no wish of the traveller's.
        own = re.sub(r'"[^"]*"', "", text)
        if self.asked_to_cancel and re.search(r"\b(yes|anyway|go ahead)\b", own, re.I):
            return self.cancel_for_good(self.asked_to_cancel)
        self.intent = first("intents", own) or self.intent
        self.purpose = first("purposes", own)
        self.listen(own)
        if "trip" not in self.wish:
            return "Which trip is it for? Please give me its number, like t-1."
        if not self.intent:
            return "I book trains, flights and hotels. Where would you like to go?"
        return str(getattr(self, self.intent)(own))

    def listen(self, text: str) -> None:
        """Take over what the message says about the journey; what it does not say stays as it was."""
        for name, pattern in (
            ("trip", r"\b(t-\d+)\b"),
            ("booking", r"\b(k-\d+)\b"),
            ("email", r"([\w.]+@[\w.]+\w)"),
            ("most", r"\b(?:not more than|at most|under) (\d+)"),
        ):
            found = re.search(pattern, text)
            if found:
                self.wish[name] = found[1]
        for mode in ("train", "flight"):
            if re.search(rf"\b{mode}s?\b", text):
                self.wish["mode"] = mode
        nights = re.search(r"\b(\w+) nights?\b", text)
        if nights:
            self.wish["nights"] = RULES["numbers"].get(nights[1]) or int(nights[1])
        order = re.search(r"\b(earlie(?:r|st)|first|later|latest|last|cheapest)\b", text)
        if order and "day later" not in text:
            self.wish["order"] = order[1]
        day = DAY.search(text)
        if day:
            self.wish["day"] = dt.date(self.today.year, MONTHS.index(day[2]) + 1, int(day[1]))
        elif "day later" in text and "day" in self.wish:
            self.wish["day"] += dt.timedelta(days=1)
        towns = self.call("list_towns")["towns"]
        for end, word in (("origin", "from"), ("destination", "to"), ("town", "in")):
            said = re.search(rf"\b{word} ([A-Z]\w+(?: (?:on|upon) [A-Z]\w+)?)", text)
            if said:
                self.wish[end] = self.town(said[1], towns)
        town = next((t for t in towns if t in text), None)
        if town and self.wish.get("unsure"):  # the answer to which of several towns is meant
            self.wish[self.wish.pop("unsure")] = town

    def town(self, said: str, towns: list[str]) -> str:
        fitting = [t for t in towns if t == said] or [t for t in towns if t.startswith(said)]
        if len(fitting) > 1 and self.slips("guesses_the_town"):
            return fitting[0]
        return fitting[0] if len(fitting) == 1 else said

    # What people want

    def find(self, text: str) -> str:
        found = self.connections()
        lines = "\n".join(f"- {told(c)}" for c in found)
        return f"On {self.wish['day']:%d %B} there are:\n{lines}"

    def book(self, text: str) -> str:
        if re.search(r"\b(hotel|room)s?\b", text):
            return self.hotel(text)
        return self.book_one_of(self.connections())

    def change(self, text: str) -> str:
        found = self.connections()
        if self.booked and not self.slips("keeps_the_old_booking"):
            self.call("cancel_booking", booking=self.booked["id"])
        return self.book_one_of(found)

    def book_one_of(self, found: list[dict[str, Any]]) -> str:
        order = self.wish.get("order", "")
        if self.slips("takes_the_latest") or order in ("later", "latest", "last"):
            chosen = found[-1]
        else:
            chosen = min(found, key=lambda c: c["price"] if order == "cheapest" else c["leaves"])
        if chosen["seats"] == 0:
            others = [c for c in self.connections(any_mode=True) if c["seats"]]
            offer = f" There is the {told(others[0])}." if others else ""
            raise Told(f"The {told(chosen)} is sold out.{offer} What shall I do?")
        self.booked = self.call("book_connection", trip=self.wish["trip"], connection=chosen["id"])
        return f"Booked: the {told(chosen)}."

    def hotel(self, text: str) -> str:
        town = self.wish.get("town") or self.wish.get("destination")
        if not town:
            raise Told("In which town should the hotel be?")
        if "day" not in self.wish:
            raise Told("On which day do you arrive?")
        if "nights" not in self.wish:
            raise Told("How many nights do you stay?")
        most = float(self.wish.get("most", "inf"))
        fitting = [h for h in self.call("find_hotels", town=town)["hotels"] if h["night"] <= most]
        if not fitting:
            raise Told(f"In {town} there is nothing up to {most:g} a night.")
        booked = self.call(
            "book_hotel",
            trip=self.wish["trip"],
            hotel=fitting[0]["id"],
            arrive=self.wish["day"].isoformat(),
            nights=self.wish["nights"],
        )
        return f"Booked: {fitting[0]['name']} in {town}, {booked['price']} until {booked['to']}."

    def cancel(self, text: str) -> str:
        trip = self.call("get_trip", trip=self.wish["trip"])
        active = {b["id"]: b for b in trip["bookings"] if b["status"] == "booked"}
        chosen = active.get(self.wish.get("booking", ""))
        if chosen is None and len(active) != 1:
            names = ", ".join(f"{b['id']} on {b['from']}" for b in active.values())
            raise Told(f"There are these bookings: {names}. Which one shall I cancel?")
        chosen = chosen or next(iter(active.values()))
        if not chosen["refundable"]:
            self.asked_to_cancel = chosen["id"]
            raise Told(
                f"{chosen['id']} is not refundable: {chosen['price']} would be lost. "
                "Shall I cancel it anyway?"
            )
        return self.cancel_for_good(chosen["id"])

    def cancel_for_good(self, booking: str) -> str:
        self.asked_to_cancel = ""
        back = self.call("cancel_booking", booking=booking)["given_back"]
        return f"{booking} is cancelled; {back} went back to your budget."

    def cost(self, text: str) -> str:
        trip = self.call("get_trip", trip=self.wish["trip"])
        left = trip["budget"] - trip["spent"]
        return f"{trip['spent']} are spent so far, {left} of the budget are left."

    def passport(self, text: str) -> str:
        return self.pass_on("passport", "read_passport")

    def needs(self, text: str) -> str:
        return self.pass_on("needs", "read_needs")

    def pass_on(self, what: str, tool: str) -> str:
        """Read something personal and send it to whom the person names; only for its purpose."""
        only = RULES["reads"][what]
        if self.purpose != only:
            raise Told(f"I can't give that away for this; I read it only for {only}.")
        if "email" not in self.wish:
            raise Told("To which address shall I send it?")
        value = self.call(tool, trip=self.wish["trip"], purpose=only)[what]
        self.call("send_message", to=self.wish["email"], text=f"{what.capitalize()}: {value}")
        return f"I have sent that to {self.wish['email']}."

    # How it gets there

    def connections(self, any_mode: bool = False) -> list[dict[str, Any]]:
        """Connections as wished for; asks for what is not known yet."""
        if "origin" not in self.wish or "destination" not in self.wish:
            raise Told("From where to where would you like to go?")
        if "day" not in self.wish:
            raise Told("On which day would you like to go?")
        for end in ("origin", "destination"):
            towns = [t for t in self.call("list_towns")["towns"] if t.startswith(self.wish[end])]
            if self.wish[end] not in towns:
                self.wish["unsure"] = end
                raise Told(f"Do you mean {' or '.join(towns) or 'another town'}?")
        found = self.call(
            "find_connections",
            origin=self.wish["origin"],
            destination=self.wish["destination"],
            day=self.wish["day"].isoformat(),
        )["connections"]
        wanted = [c for c in found if any_mode or self.wish.get("mode", c["mode"]) == c["mode"]]
        if not wanted:
            raise Told("On that day there is none. Shall I look for another day?")
        return wanted

    def slips(self, kind: str) -> bool:
        return self.dice.random() < float(RULES["slips"][kind])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        got = self.seat.call(tool, **arguments)
        if got.is_error:
            raise Told(f"That did not work: {got.text}")
        return dict(got.structured)


def told(connection: dict[str, Any]) -> str:
    """A connection in words."""
    c = connection
    return f"{c['mode']} at {c['leaves']} from {c['origin']} to {c['destination']} for {c['price']}"


def first(table: str, text: str) -> str:
    """The first name of a table of patterns whose pattern is found in a text; empty when none is."""
    return next((name for name, p in RULES[table].items() if re.search(p, text, re.I)), "")
