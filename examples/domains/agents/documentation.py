"""A documentation assistant without a model: it looks for the section with the words of the question.

What it goes by is in `documentation.toml`. It speaks MCP over HTTP itself, as an agent in any other language
would. A seeded carelessness makes its trials differ, as a model's would.
"""

from __future__ import annotations

import json
import random
import re
import tomllib
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
QUOTED = re.compile(r"'([^']+)'")


class Told(Exception):
    """What the person is told instead of what they asked for: a question, a refusal, or an error."""


@dataclass(frozen=True)
class Section:
    """A part of a page, under one heading."""

    page: str
    heading: str
    text: str


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
        self.tools = Tools(seat.urls["documentation"], seat.token)
        self.dice = random.Random(seat.seed)
        self.open_wish = ""

    def answer(self, text: str) -> str:
        # What stands in quotation marks somebody else wrote: it is no wish of this person.
        own = re.sub(r'"[^"]*"', "", text)
        if self.open_wish:
            own, self.open_wish = f"{self.open_wish} {own}", ""
        intent = next(
            (i for i, p in RULES["intents"].items() if re.search(p, own, re.I)), "look_up"
        )
        if intent in RULES["refusals"]:
            return str(RULES["refusals"][intent])
        return str(getattr(self, intent)(own))

    # What people want

    def look_up(self, text: str) -> str:
        words = subject(text)
        pages = [p for p in self.tools.files() if p.startswith("docs/")]
        if self.slips("reads_one_page_only"):
            pages = pages[:1]
        sections = [s for page in pages for s in sections_of(page, self.tools.read(page))]
        weights = [len(words & (subject(s.heading) | subject(s.text))) for s in sections]
        best = max(weights, default=0)
        if best == 0 or best < len(words) / 2:
            raise Told(
                "The documentation says nothing about that. Shall I leave the writers a note?"
            )
        found = [s for s, weight in zip(sections, weights, strict=True) if weight == best]
        if len(found) > 1:
            self.open_wish = text
            names = " or ".join(f"“{s.heading}”" for s in found)
            raise Told(f"There is more than one section on that: {names}. Which one do you mean?")
        sentences = re.split(r"(?<=[.!?])\s+", found[0].text)
        said = max(sentences, key=lambda s: len(words & subject(s)))
        return f"{said} ({found[0].page}, “{found[0].heading}”)"

    def replace(self, text: str) -> str:
        page = self.page(text)
        values = QUOTED.findall(text)
        if len(values) != 2:
            raise Told(f"What in {page} shall I replace, and by what?")
        old, new = values
        if page in RULES["words"]["generated"]:
            raise Told(f"{page} is made by the release, so I don't change it by hand.")
        before = self.tools.read(page)
        if old not in before:
            raise Told(f"{page} does not have '{old}'. What shall I replace?")
        after = before.replace(old, new, 1)
        self.tools.write(page, after)
        if self.slips("replaces_once_more"):
            self.tools.write(page, after.replace(new, f"{new} {new}", 1))
        return f"{page} says '{new}' now, where it said '{old}'."

    def typo(self, text: str) -> str:
        return self.replace(text)

    def note(self, text: str) -> str:
        subject_of = re.search(r"\bthat (.+?)[.!]?$", text)
        if subject_of is None:
            raise Told("What shall I note?")
        inbox = self.tools.read("feedback/inbox.md")
        line = subject_of[1][0].upper() + subject_of[1][1:]
        self.tools.write("feedback/inbox.md", f"{inbox.rstrip()}\n- {line}.\n")
        return f"The writers will read: {line}."

    def inbox(self, text: str) -> str:
        entries = re.findall(r"^- ", self.tools.read("feedback/inbox.md"), re.M)
        return f"There are {len(entries)} entries in the inbox."

    def incident(self, text: str) -> str:
        if not re.search(r"\bincident review\b", text, re.I):
            raise Told(
                "What is written about incidents I can't pass on, only to the incident review."
            )
        words = subject(text)
        sections = sections_of("internal/incidents.md", self.tools.read("internal/incidents.md"))
        found = max(sections, key=lambda s: len(words & (subject(s.heading) | subject(s.text))))
        return f"{found.heading}: {found.text}"

    # How it gets there

    def page(self, text: str) -> str:
        """The page that is named by its path or by its first word; asks where none is."""
        files = self.tools.files()
        outside = QUOTED.sub("", text)
        for path in files:
            name = path.rpartition("/")[2].removesuffix(".md").lower()
            if path in outside or re.search(rf"\b{name}\b page", outside, re.I):
                return path
        if "changelog" in outside.lower():
            return "CHANGELOG.md"
        self.open_wish = text
        raise Told("Which page is it on?")

    def slips(self, kind: str) -> bool:
        return self.dice.random() < float(RULES["slips"][kind])


class Tools:
    """The tools of one MCP server, each call one POST. The handshake of a client may be left out."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def files(self) -> list[str]:
        return list(json.loads(self.call("list_files"))["files"])

    def read(self, path: str) -> str:
        return self.call("read_file", path=path)

    def write(self, path: str, text: str) -> None:
        self.call("write_file", path=path, text=text)

    def call(self, tool: str, **arguments: Any) -> str:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        request = urllib.request.Request(self.url, json.dumps(message).encode(), self.headers)
        with urllib.request.urlopen(request, timeout=20) as response:
            result = json.load(response)["result"]
        text = "\n".join(part["text"] for part in result["content"])
        if result.get("isError"):
            raise Told(f"That did not work: {text}")
        return text


def sections_of(page: str, text: str) -> list[Section]:
    """The parts of a page under its headings of the second level."""
    _, *parts = re.split(r"^## ", text, flags=re.M)
    split = [part.partition("\n") for part in parts]
    return [Section(page, heading, " ".join(body.split())) for heading, _, body in split]


def subject(text: str) -> set[str]:
    """The words of a text that say what it is about, without their endings."""
    words = re.findall(r"[a-z]{4,}", text.lower())
    return {w.removesuffix("ing").removesuffix("s")[:6] for w in words} - {
        w[:6] for w in RULES["words"]["empty"]
    }
