"""One trial as data for the case's page: what it did, changed, and was found to be.

Everything is cut to what a page can show; the uncut records and traces are in the case's raw file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from seatrial.costs import amount
from seatrial.documents import digest
from seatrial.escaping import clipped, legible
from seatrial.records import TrialRecord
from seatrial.report.steps import Step, Trajectory, answer_text, flattened, neutral, trajectory
from seatrial.trace import Called, Change, Replied, Trace

TEXT_SHOWN = 20_000
"""Characters of one reply or answer."""
VALUE_SHOWN = 2_000
"""Characters of one argument or property."""
STEPS_SHOWN = 400
"""Steps of one trial; aligning takes time with the square of it."""
TRIAL_SHOWN = 1_000_000
"""Characters of one trial; what its last steps would add is left out."""
PARTS_SHOWN = 200
"""Arguments of one call, changes of one trial."""


class ShownTrial:
    """One trial: its record, its trace, and those of its steps that a page shows."""

    def __init__(self, record: TrialRecord, trace: Trace | None) -> None:
        self.record = record
        self.trace = trace
        self.trajectory = trajectory(trace) if trace else Trajectory()
        self.steps = _that_fit(self.trajectory.steps[:STEPS_SHOWN])
        self.signature = tuple(
            (s.turn, s.name, tuple(s.compared.items()), s.result) for s in self.steps
        )

    def data(self) -> dict[str, Any]:
        """What `assets/case.js` shows of it. Every text is legible; none is escaped for HTML."""
        record, trace = self.record, self.trace
        changes = trace.changes if trace else None
        return {
            "number": record.number,
            "verdict": record.verdict.value,
            "cause": record.cause.value if record.cause else None,
            "detail": shown_text(record.detail),
            "forbidden": record.forbidden,
            "attack": record.attack.value if record.attack else "",
            "calls": record.calls,
            "violations": record.violations,
            "milliseconds": record.duration_ms,
            "version": shown_text(record.version),
            "model": shown_text(record.served_model or ""),
            "tokens": [record.usage.input_tokens, record.usage.output_tokens]
            if record.usage
            else None,
            "cost": None if record.cost is None else f"{amount(record.cost)} {record.currency}",
            "people": _of_people(record),
            "ended": trace.ended if trace else None,
            "traced": trace is not None,
            "opening": [shown_text(t) for t in (*_retried(record), *self.trajectory.opening)],
            "steps": [_step(s) for s in self.steps],
            "more_steps": len(self.trajectory.steps) - len(self.steps),
            "changes": [_change(c, trace) for c in changes[:PARTS_SHOWN]]
            if trace and changes is not None
            else None,
            "more_changes": max(0, len(changes or ()) - PARTS_SHOWN),
            "findings": [
                {
                    "path": shown_text(f.path),
                    "check": shown_text(f.check),
                    "place": shown_text(f.place),
                    "severity": f.severity,
                    "status": f.status.value,
                    "reason": shown_text(f.reason),
                    "turn": f.turn,
                    "call": f.call,
                    "forbidden": f.forbidden,
                }
                for f in record.findings
            ],
        }


def _of_people(record: TrialRecord) -> str | None:
    """What the simulated people of a trial took and cost; None where there is nothing to tell."""
    used = record.simulator_usages
    if not used:
        return None
    read, written = (
        sum(getattr(one, key) for one in used) for key in ("input_tokens", "output_tokens")
    )
    cost = record.simulator_cost
    money = "" if cost is None else f", {amount(cost)} {shown_text(record.simulator_currency)}"
    return f"{read}+{written} tokens{money}"


def _retried(record: TrialRecord) -> Iterator[str]:
    """A sentence for each earlier attempt at the trial."""
    for attempt in record.retried:
        yield f"run again, after an attempt that was invalid ({attempt.cause}): {attempt.detail}"


def _that_fit(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    left = TRIAL_SHOWN
    for count, step in enumerate(steps):
        values = list(step.arguments.values())[:PARTS_SHOWN]
        left -= min(len(step.result), TEXT_SHOWN) + sum(min(len(v), VALUE_SHOWN) for v in values)
        if left < 0:
            return steps[:count]
    return steps


def shown_text(text: str, limit: int = TEXT_SHOWN) -> str:
    """A text as a page shows it: legible, and at most so many characters."""
    return legible(clipped(text, limit))


def shown_value(value: str) -> str:
    """One argument or property as a page shows it."""
    return shown_text(value, VALUE_SHOWN)


def _step(step: Step) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "anchor": step.anchor,
        "turn": step.turn,
        "kind": step.kind,
        "name": shown_text(step.name),
        "at": step.event.at_ms,
        "remarks": [shown_text(remark) for remark in step.remarks],
    }
    match step.event:
        case Called() as call:
            arguments = list(step.arguments.items())
            shown |= {
                "arguments": [[shown_value(p), shown_value(v)] for p, v in arguments[:PARTS_SHOWN]],
                "more_arguments": max(0, len(arguments) - PARTS_SHOWN),
                "text": shown_text(answer_text(call.answer)),
                "error": call.answer.is_error,
                "by": call.answered_by,
                "rule": shown_text(call.rule or ""),
                "fault": shown_text(call.fault or ""),
                "refused": None if call.refused is None else shown_text(call.refused),
                "changed": call.changed,
                "read_only": call.read_only,
                "destructive": call.destructive,
                "took": call.took_ms,
                "waited": call.waited_ms,
            }
        case Replied() as reply:
            shown["text"] = shown_text(reply.text)
            if reply.usage:
                shown["tokens"] = [reply.usage.input_tokens, reply.usage.output_tokens]
        case said:
            shown["text"] = shown_text(said.text)
            shown["by"] = shown_text(said.by or "")
    return shown


def _change(change: Change, trace: Trace) -> dict[str, Any]:
    about = [change.what, change.type, change.key, change.property or "", change.to or ""]
    values = [change.old, change.old_absent, change.new, change.new_absent]
    came_to = json.dumps(values, ensure_ascii=False, sort_keys=True)
    return {
        # Two trials changed the same thing where `id` agrees, in the same way where `compared` does.
        "id": digest(neutral(json.dumps(about, ensure_ascii=False), trace)),
        "compared": digest(neutral(came_to, trace)),
        "what": change.what,
        "type": shown_value(change.type),
        "key": shown_value(change.key),
        "property": None if change.property is None else shown_value(change.property),
        "to": None if change.to is None else shown_value(change.to),
        "old": _leaves(change.old, shown=change.what in ("changed", "deleted")),
        "new": _leaves(change.new, shown=change.what in ("changed", "created")),
        "old_absent": change.old_absent,
        "new_absent": change.new_absent,
    }


def _leaves(value: Any, *, shown: bool) -> list[list[str]]:
    if not shown:
        return []
    return [[shown_value(p), shown_value(v)] for p, v in flattened(value)][:PARTS_SHOWN]
