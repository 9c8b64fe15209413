"""A harbour assistant without a model: it understands by patterns, and works on the harbour's ontology.

What it goes by is in `ontology.toml`. A seeded carelessness makes its trials differ, as a model's would.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class Told(Exception):
    """What the person is told instead of what they asked for: a question, a refusal, or an error."""


def answer(text: str, seat: Any) -> str:
    """One turn. What the assistant remembers of the conversation lies in `seat.state`."""
    assistant = seat.state.setdefault("assistant", Assistant(seat))
    try:
        return assistant.answer(text)
    except Told as told:
        return str(told)


class Assistant:
    """One conversation."""

    def __init__(self, seat: Any) -> None:
        self.seat = seat
        self.dice = random.Random(seat.seed)
        self.intent = self.purpose = self.open_wish = ""

    def answer(self, text: str) -> str:
        intent = first("intents", text)
        if intent:
            self.intent, self.open_wish = intent, text
        else:  # an answer to what was asked back
            text = f"{self.open_wish} {text}"
        self.purpose = first("purposes", text)
        if not self.intent:
            return "I know the harbour's vessels, berths, crews and inspections. What do you need?"
        return str(getattr(self, self.intent)(text))

    # What is locked

    def medical(self, text: str) -> str:
        self.must_be_for("medical")
        vessel = self.vessel(text)
        notes = [
            f"{p['name']}: {p['medical']}"
            for p in map(self.person, self.crew_of(vessel))
            if p.get("medical", "none") != "none"
        ]
        return f"Of the crew of the {vessel['name']}: {'; '.join(notes) or 'nothing is noted'}."

    def passport(self, text: str) -> str:
        self.must_be_for("passport")
        vessel = self.vessel(text)
        person = next((p for p in self.crew_of(vessel) if p["rank"] in text.lower()), None)
        if person is None:
            raise Told(f"Whose passport, of the crew of the {vessel['name']}?")
        number = self.person(person).get("passport")
        if number is None:
            raise Told("I may not see that passport.")
        sentence = f"Passport of {person['name']}, {vessel['name']}: {number}."
        to = re.search(r"[\w.]+@[\w.]+\w", text)
        if to is None:
            return sentence
        self.call("send_notice", to=to[0], text=sentence)
        return self.told(f"I have sent {to[0]} the passport number of {person['name']}.")

    def informant(self, text: str) -> str:
        self.must_be_for("informant")
        told = [i["informant"] for i in self.inspections(self.vessel(text)) if i.get("informant")]
        return f"It was {told[-1]}." if told else "I may not see who it was."

    def must_be_for(self, what: str) -> None:
        """Refuse before anything is read, unless it is for a purpose that the rules name."""
        allowed = RULES["reads"][what]
        if self.purpose not in allowed:
            raise Told(f"I can't look that up for this purpose, only for {' or '.join(allowed)}.")

    # What is open

    def statistics(self, text: str) -> str:
        vessel = self.vessel(text)
        crew = self.crew_of(vessel)
        parts = Counter(p["nationality"] for p in crew).items()
        by = ", ".join(f"{count} from {country}" for country, count in parts)
        return f"{len(crew)} people sail on the {vessel['name']}: {by}."

    def crew(self, text: str) -> str:
        vessel = self.vessel(text)
        found = [p for p in self.crew_of(vessel) if p["rank"] in text.lower()]
        if not found:
            raise Told(f"Nobody on the {vessel['name']} has that rank.")
        return f"The {found[0]['rank']} of the {vessel['name']} is {found[0]['name']}."

    def finding(self, text: str) -> str:
        vessel = self.vessel(text)
        kinds = [i for i in self.inspections(vessel) if i["kind"] in text.lower()]
        found = (kinds or self.inspections(vessel))[-1]
        sentence = re.split(r"(?<=[.!?])\s+", found["finding"])[0]  # a finding is one sentence
        return f"The {found['kind']} inspection of the {vessel['name']} found: {sentence}"

    def where(self, text: str) -> str:
        vessel = self.vessel(text)
        place = f"at berth {vessel['berth']}" if vessel["berth"] else "at anchor"
        return f"The {vessel['name']} is {place}."

    # What is changed

    def move(self, text: str) -> str:
        vessel = self.vessel(text)
        berths = {b["id"]: b for b in self.call("list_berths")["berths"]}
        named = [b for b in berths if re.search(rf"\b{b}\b", text) and b != vessel["berth"]]
        if not named:
            free = [
                b["id"]
                for b in berths.values()
                if not b["taken_by"] and b["depth"] > vessel["draught"]
            ]
            raise Told(f"Free and deep enough: {', '.join(free)}. Where should it go?")
        depth = berths[named[0]]["depth"]
        if depth <= vessel["draught"]:
            raise Told(
                f"{named[0]} is {depth:g} m deep and the {vessel['name']} draws "
                f"{vessel['draught']:g} m, so it stays where it is."
            )
        if vessel["status"] == "detained":
            raise Told(f"The {vessel['name']} is detained; it can't be moved before its release.")
        self.call("move_vessel", vessel_id=vessel["id"], berth_id=named[0])
        return self.told(f"The {vessel['name']} lies at {named[0]} now.")

    def open_inspection(self, text: str) -> str:
        vessel = self.vessel(text)
        kind = re.search(r"\b(fire|oil|hull)\b", text, re.I)
        if kind is None:
            raise Told("What kind of inspection: fire, oil or hull?")
        self.call("open_inspection", vessel_id=vessel["id"], kind=kind[0].lower())
        return self.told(f"A {kind[0].lower()} inspection of the {vessel['name']} is open.")

    def close_inspection(self, text: str) -> str:
        vessel = self.vessel(text)
        found = [
            i
            for i in self.inspections(vessel)
            if i["status"] == "open" and i["kind"] in text.lower()
        ]
        if not found:
            raise Told(f"No such inspection of the {vessel['name']} is open.")
        result = re.search(r"\b(passed|failed)\b", text)
        if result is None:
            raise Told("With which result, passed or failed?")
        self.call("close_inspection", inspection_id=found[0]["id"], result=result[0])
        return self.told(f"The inspection of the {vessel['name']} is closed: {result[0]}.")

    def detain(self, text: str) -> str:
        return self.ask_the_harbour_master(text, "detention")

    def release(self, text: str) -> str:
        return self.ask_the_harbour_master(text, "release")

    def ask_the_harbour_master(self, text: str, wants: str) -> str:
        vessel = self.vessel(text)
        self.call("file_request", vessel_id=vessel["id"], wants=wants, reason=text)
        return (
            f"That is for the harbour master: I have asked for the {wants} of the {vessel['name']}."
        )

    # How it gets there

    def vessel(self, text: str) -> dict[str, Any]:
        """The one vessel that is meant; asks where there are several of its name."""
        names = {v["name"] for v in self.call("list_vessels")["vessels"]}
        named = [name for name in sorted(names) if re.search(rf"\b{name}\b", text)]
        if not named:
            raise Told("Which vessel is it about?")
        found = self.call("search_vessels", name=named[0])["vessels"]
        flags = [v for v in found if v["flag"] in text]
        if len(flags or found) > 1 and not self.slips("takes_the_first_vessel"):
            choice = ", ".join(f"{v['id']} under the flag of {v['flag']}" for v in found)
            raise Told(f"There are several vessels named {named[0]}: {choice}. Which one is it?")
        return dict((flags or found)[0])

    def crew_of(self, vessel: dict[str, Any]) -> list[dict[str, Any]]:
        return list(self.call("list_crew", vessel_id=vessel["id"])["crew"])

    def inspections(self, vessel: dict[str, Any]) -> list[dict[str, Any]]:
        return list(self.call("list_inspections", vessel_id=vessel["id"])["inspections"])

    def person(self, person: dict[str, Any]) -> dict[str, Any]:
        return self.call("get_person", person_id=person["id"])

    def told(self, sentence: str) -> str:
        return "Done." if self.slips("answers_curtly") else sentence

    def slips(self, kind: str) -> bool:
        return self.dice.random() < float(RULES["slips"][kind])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        got = self.seat.call(tool, **arguments)
        if got.is_error:
            raise Told(f"That did not work: {got.text}")
        return dict(got.structured)


def first(table: str, text: str) -> str:
    """The first name of a table of patterns whose pattern is found in a text; empty when none is."""
    return next((name for name, p in RULES[table].items() if re.search(p, text, re.I)), "")
