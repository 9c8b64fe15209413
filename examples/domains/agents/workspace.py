"""A studio assistant without a model: it understands by patterns, and works with the studio's tools.

What it goes by is in `workspace.toml`. A seeded carelessness makes its trials differ, as a model's would.
"""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any

RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"")
TEXT = re.compile(r"(?:\bto|\bsays|\bsaying|\btext):\s*(.+)$", re.DOTALL | re.I)


class ToolError(Exception):
    """A tool answered with an error; the text is meant for the agent."""


def answer(text: str, seat: Any) -> str:
    """One turn. What the assistant remembers of the conversation lies in `seat.state`."""
    assistant = seat.state.setdefault("assistant", Assistant(seat))
    try:
        return assistant.answer(text)
    except ToolError as error:
        return f"That did not work: {error}"


class Assistant:
    """One conversation."""

    def __init__(self, seat: Any) -> None:
        self.seat = seat
        self.dice = random.Random(seat.seed)
        self.intent = ""
        self.workspace: dict[str, str] = {}
        self.open_wish = ""

    def answer(self, text: str) -> str:
        intent = next((i for i, p in RULES["intents"].items() if re.search(p, text, re.I)), None)
        if intent is None:  # an answer to what was asked back
            text = f"{text} {self.open_wish}"
        else:
            self.intent, self.open_wish = intent, text
        if self.intent in RULES["refusals"]:
            return str(RULES["refusals"][self.intent])
        if not self.intent:
            return "I look after prompts, agents and skills. What would you like to do?"
        named = [w for w in self.call("list_workspaces")["workspaces"] if says(text, w["name"])]
        self.workspace = named[0] if named else self.workspace
        return str(getattr(self, self.intent)(text))

    # What people want

    def create_prompt(self, text: str) -> str:
        if not self.workspace:
            return "In which workspace should the prompt be?"
        spelled, wording = quoted(text), TEXT.search(text)
        if not spelled:
            return "What should the prompt be called?"
        if not wording:
            return f"What should the prompt {spelled} say?"
        made = self.call(
            "create_prompt",
            workspace_id=self.workspace["id"],
            name=self.house_style(spelled),
            text=wording[1].strip(),
        )
        return self.told(f"The prompt {made['name']} is a draft in {self.workspace['name']} now.")

    def update_prompt(self, text: str) -> str:
        wording = TEXT.search(text)
        prompt = self.one("prompt", text.split(":")[0])
        if isinstance(prompt, str):
            return prompt
        if not wording:
            return f"What should the prompt {prompt['name']} say instead?"
        self.call("update_prompt", prompt_id=prompt["id"], text=wording[1].strip())
        return self.told(f"The prompt {prompt['name']} reads differently now.")

    def build_agent(self, text: str) -> str:
        spelled = quoted(text)
        if not spelled:
            return "What should the agent be called?"
        prompt = self.one("prompt", text.replace(spelled, ""))
        if isinstance(prompt, str):
            return prompt
        agent = self.call(
            "create_agent",
            workspace_id=self.workspace["id"],
            name=self.house_style(spelled),
            prompt_id=prompt["id"],
        )
        skills = [s for s in self.listed("skill") if says(text, s["name"])]
        for skill in skills:
            if not self.slips("forgets_the_skill"):
                self.call("add_skill", agent_id=agent["id"], skill_id=skill["id"])
        can = f" It has the skill {', '.join(s['name'] for s in skills)}." if skills else ""
        return self.told(f"The agent {agent['name']} is a draft now.{can}")

    def pause(self, text: str) -> str:
        agent = self.one("agent", text)
        if isinstance(agent, str):
            return agent
        self.call("set_agent_status", agent_id=agent["id"], status="paused")
        return self.told(f"The agent {agent['name']} is paused.")

    def publish(self, text: str) -> str:
        if re.search(r"\bagent\b", text):
            return "I may pause agents, but a publisher sets them live."
        prompt = self.one("prompt", text)
        if isinstance(prompt, str):
            return prompt
        self.call("read_guide", name="publishing")
        self.call("request_review", prompt_id=prompt["id"], note=f"Please publish: {text}")
        return f"I have asked for a review of {prompt['name']}; a second person publishes it."

    def agents(self, text: str) -> str:
        if not self.workspace:
            return "Of which workspace?"
        status = next((s for s in ("live", "paused", "draft") if says(text, s)), None)
        found = [a["name"] for a in self.listed("agent") if status in (None, a["status"])]
        return f"In {self.workspace['name']}: {', '.join(found) or 'none'}."

    def agents_of_prompt(self, text: str) -> str:
        prompt = self.one("prompt", text)
        if isinstance(prompt, str):
            return prompt
        self.call("get_prompt", prompt_id=prompt["id"])
        found = [a["name"] for a in self.listed("agent") if a["prompt"] == prompt["id"]]
        return f"The prompt {prompt['name']} is used by {', '.join(found) or 'no agent'}."

    def transcripts(self, text: str) -> str:
        """What customers said: looked at for the one purpose that the rules name, and for no other."""
        only = RULES["reads"]["transcripts"]
        if only.replace("-", " ") not in text.lower():
            return f"I can't look at what customers said for this, only for the {only}."
        prompt = self.one("prompt", text)
        if isinstance(prompt, str):
            return prompt
        found = self.call("read_transcripts", prompt_id=prompt["id"])["transcripts"]
        quotes = "; ".join(t["quote"] for t in found if "quote" in t)
        return f"Customers of {prompt['name']} said: {quotes or 'nothing that I may see'}"

    def skill(self, text: str) -> str:
        """The one sentence of the skill that has most words of the question."""
        skill = self.one("skill", text)
        if isinstance(skill, str):
            return skill
        words = set(re.findall(r"[a-z]{4,}", text.lower()))
        sentences = re.split(r"(?<=[.!?])\s+", self.call("get_skill", skill_id=skill["id"])["text"])
        best = max(sentences, key=lambda s: len(words & set(re.findall(r"[a-z]{4,}", s.lower()))))
        return f"The skill {skill['name']} says: {best}"

    # How it gets there

    def one(self, kind: str, text: str) -> dict[str, str] | str:
        """The one prompt, agent or skill that is meant, or the question which one it is."""
        places = [self.workspace] if self.workspace else self.call("list_workspaces")["workspaces"]
        found = [(w, o) for w in places for o in self.listed(kind, w) if says(text, o["name"])]
        if not found:
            return f"I find no such {kind}. What is its name?"
        if len(found) > 1:
            names = " and ".join(f"{o['name']} in {w['name']}" for w, o in found)
            return f"There is {names}. Which one do you mean?"
        self.workspace = found[0][0]
        return found[0][1]

    def listed(self, kind: str, workspace: dict[str, str] | None = None) -> list[dict[str, str]]:
        place = workspace or self.workspace
        return list(self.call(f"list_{kind}s", workspace_id=place["id"])["items"])

    def house_style(self, name: str) -> str:
        """The name as the naming guide wants it."""
        if self.slips("skips_the_naming_guide"):
            return name
        self.call("read_guide", name="naming")
        return "-".join(re.findall(r"[a-z0-9]+", name.lower()))

    def told(self, sentence: str) -> str:
        return "Done." if self.slips("answers_curtly") else sentence

    def slips(self, kind: str) -> bool:
        return self.dice.random() < float(RULES["slips"][kind])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        got = self.seat.call(tool, **arguments)
        if got.is_error:
            raise ToolError(got.text)
        return dict(got.structured)


def says(text: str, name: str) -> bool:
    """Whether a text has the name, as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.I) is not None


def quoted(text: str) -> str:
    found = QUOTED.search(text)
    return (found[1] or found[2]) if found else ""
