"""A small repository of documents in which everything is right, to break one thing at a time in."""

from __future__ import annotations

from pathlib import Path

WORLD = """\
kind: fixture
type: world
id: harbour
now: 2026-03-16T09:00:00Z
types:
  berth:
    key: id
    properties: {id: {type: string}, state: {enum: [free, taken]}, boat: {type: string}}
  boat:
    properties: {id: {type: string}, length: {type: number}}
links:
  moored: {from: boat, to: berth}
objects:
  berth:
    - {id: b-1, state: free, boat: ""}
    - {id: b-2, state: taken, boat: gull}
  boat:
    - {id: gull, length: 9}
roles:
  clerk: {allow: [show_*, take_berth]}
  master: {allow: ["*"], clearances: [customs], purposes: [inspection], where: {take_berth: {berth.state: free}}}
actions:
  show_berth:
    description: Show one berth.
    read_only: true
    parameters:
      type: object
      properties: {berth_id: {type: string}}
      required: [berth_id]
      additionalProperties: false
    returns: ok
  show_weather:
    {description: Show the weather., read_only: true,
     parameters: {type: object, properties: {hour: {type: integer}}},
     returns: calm}
  take_berth:
    description: Give a berth to a boat.
    parameters:
      type: object
      properties: {berth_id: {type: string}, boat_id: {type: string}}
      required: [berth_id, boat_id]
      additionalProperties: false
    bind:
      berth: {type: berth, key: "{{args.berth_id}}", error: No such berth.}
    effects:
      - {effect: set, object: berth, properties: {state: taken, boat: "{{args.boat_id}}"}}
markings: {customs: What the customs found}
purposes: {inspection: A look at the boats}
locks:
  - {type: boat, properties: [length], markings: [customs], purposes: [inspection]}
"""

ANSWERS = """\
kind: fixture
type: answers
id: storm
tools:
  show_weather:
    rules:
      - when: {hour: {gte: 12}}
        answer: {wind: 9, seen: "{{now}}"}
      - error: No report.
"""

ARM = """\
kind: arm
id: released
agent: harbour-desk
version: 1.4.0
adapter:
  type: command
  command: ["{python}", -m, agent]
"""

SUITE = """\
kind: suite
id: all
cases:
  - take-a-berth
  - tags: [storm]
trials: 3
"""

CASE = """\
kind: case
id: take-a-berth
title: A free berth is given to a boat
group: task
agent: harbour-desk
world: harbour
role: clerk
tags: [berth]
task: Berth b-1 for the gull, please. My word is {{run}}.
checks:
  - check: tool_called
    tool: take_berth
    arguments: {berth_id: b-1}
  - check: end_state
    changed:
      - type: berth
        key: b-1
        properties: {state: taken, boat: gull}
  - check: reply_contains
    text: b-1
    severity: warning
"""

TALK = """\
kind: case
id: weather-in-turns
title: The weather is told, and nothing is given away
group: clarify
agent: harbour-desk
world: harbour
role: clerk
answers: storm
tags: [storm]
turns:
  - say: How is the weather?
    checks:
      - check: tool_called
        tool: show_weather
  - say: Thank you.
checks:
  - check: tool_not_called
    tool: take_berth
"""

FILES = {
    "arms/released.yaml": ARM,
    "cases/take.yaml": CASE,
    "cases/talk.yaml": TALK,
    "fixtures/harbour.yaml": WORLD,
    "fixtures/storm.yaml": ANSWERS,
    "suites/all.yaml": SUITE,
}


def contents(changes: dict[str, str] | None = None) -> dict[str, bytes]:
    """Path → bytes of the whole repository, with these files instead."""
    return {path: text.encode() for path, text in (FILES | (changes or {})).items()}


def write(root: Path, changes: dict[str, str] | None = None) -> Path:
    """The repository as files under `root`."""
    for path, data in contents(changes).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root
