"""What a case expects, in a line a reviewer can read beside what was found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from seatrial.documents import Attack, Case, Check, Condition
from seatrial.documents.checks import (
    AnyOf,
    ArgumentsValid,
    AsksBack,
    AtLeast,
    AtMost,
    Bindable,
    Bound,
    CallOrStep,
    CallSequence,
    Changes,
    ClaimedWithoutChange,
    EndedAs,
    EndState,
    ExpectedCall,
    ExpectedLink,
    GoldenCalls,
    GoldenReply,
    Normalization,
    NotDisclosed,
    NoViolation,
    NoWriteBefore,
    ObjectAbsent,
    ObjectExists,
    PythonCheck,
    ReplyContains,
    ReplyMatches,
    ReplyNotContains,
    ReplyNumber,
    ReplySchema,
    SkillNotUsed,
    SkillUsed,
    ToolArguments,
    ToolCalled,
    ToolNotCalled,
    ToolOrder,
    calls_of,
)
from seatrial.escaping import clipped, legible

_LABEL_SHOWN = 500


def check_label(check: Check) -> str:
    """What a check asks for, in words: `refund where amount lte 40`."""
    match check:
        case ToolCalled():
            times = f", times {_condition(check.times)}" if check.times else ""
            attempted = ", attempts count" if check.attempted else ""
            return f"{check.tool}{_where(check.arguments)}{times}{attempted}"
        case ToolNotCalled():
            return f"{check.tool}{_where(check.arguments)}"
        case ToolArguments():
            return f"{check.which} {check.tool}{_where(check.arguments)}"
        case ToolOrder():
            return " → ".join(check.tools)
        case CallSequence():
            between = ", " if check.order == "any_order" else " → "
            how = {"in_order": "", "strict": ", nothing else", "any_order": ", in any order"}
            return between.join(map(_step, check.calls)) + how[check.order]
        case AnyOf():
            return " or ".join(map(_step, check.calls))
        case AtMost() | AtLeast():
            bound = "at most" if isinstance(check, AtMost) else "at least"
            of = f" of {check.tool}" if check.tool is not None else ""
            calls = "call" if check.times == 1 else "calls"
            return f"{bound} {check.times} {calls}{of}{_where(check.arguments)}"
        case NoWriteBefore():
            attempted = ", attempts count" if check.attempted else ""
            return f"before {_step(check.call)}{attempted}"
        case ArgumentsValid():
            return f"every call of {check.tool}" if check.tool is not None else "every call"
        case SkillUsed() | SkillNotUsed():
            return check.skill
        case ObjectExists() | ObjectAbsent():
            return _object(check)
        case ClaimedWithoutChange():
            texts = " or ".join(_operand(text) for text in check.says)
            types = f" of {', '.join(check.types)}" if check.types else ""
            return f"no claim{f' ({texts})' if texts else ''} without a change{types}"
        case AsksBack():
            where = "at the end of" if check.where == "end" else "in"
            ignored = f", not looked at: {', '.join(check.ignore)}" if check.ignore else ""
            return f"a question {where} the last reply, and nothing changes{ignored}"
        case ReplyMatches():
            return f"{_turn(check.turn)}: {_operand(check.pattern)}"
        case ReplyNumber():
            within = f" within {check.tolerance:g}" if check.tolerance else ""
            unit = f" {' or '.join(check.unit)}" if check.unit else ""
            return f"{_turn(check.turn)}: {_condition(check.value)}{within}{unit}"
        case ReplySchema():
            return f"{_turn(check.turn)}: JSON that fits {_operand(check.json_schema)}"
        case PythonCheck():
            return (
                f"{check.function}{f' with {_operand(check.arguments)}' if check.arguments else ''}"
            )
        case ReplyContains():
            parts = [json.dumps(text, ensure_ascii=False) for text in check.text]
            if check.any_of:
                any_of = " or ".join(json.dumps(t, ensure_ascii=False) for t in check.any_of)
                parts.append(f"one of {any_of}" if len(check.any_of) > 1 else any_of)
            return f"{_turn(check.turn)}: {' and '.join(parts)}"
        case ReplyNotContains():
            texts = " or ".join(json.dumps(text, ensure_ascii=False) for text in check.text)
            return f"{_turn(check.turn)}: {texts}"
        case EndState():
            return _end_state(check)
        case GoldenCalls():
            between = ", " if check.order == "any_order" else " → "
            beside = {"reads": "; others only read", "none": "; no others", "any": "; others too"}
            return (between.join(map(_step, check.calls)) or "no call") + beside[check.others]
        case GoldenReply():
            likeness = "the facts of" if check.match == "facts" else "the same words as"
            return f"{_turn(check.turn)}: {likeness} {_operand(check.text)}"
        case EndedAs():
            intent = f" ({check.intent})" if check.intent else ""
            return f"the conversation ends as {' or '.join(check.ended)}{intent}"
        case NoViolation():
            return "no call beyond the role's rights"
        case NotDisclosed():
            return _not_disclosed(check)
        case _:
            assert_never(check)


def goal_label(attack: Attack) -> str:
    """What an attacker wants, in words, and by which payload."""
    wants = [_step(call) for call in attack.goal.calls]
    if attack.goal.state is not None:
        wants.append(", ".join(_lines(attack.goal.state)))
    payload = f", by payload {attack.variant} of {attack.payloads}" if attack.variant else ""
    return f"what the attacker wants{payload}: {' or '.join(wants)}"


def expected_changes(case: Case) -> list[dict[str, Any]]:
    """What each `end_state` check of a case asks for: its path, and a line per expected change."""
    return [
        {
            "path": path,
            "others": check.others,
            "ignore": list(check.ignore),
            "normalize": [
                _shown(f"{path}: {_normalization(how)}") for path, how in check.normalize.items()
            ],
            "lines": [_shown(line) for line in _lines(check)],
            "any_of": [
                [_shown(line) for line in _lines(alternative)] for alternative in check.any_of
            ],
        }
        for path, _, check in case.placed_checks()
        if isinstance(check, EndState)
    ]


def _not_disclosed(check: NotDisclosed) -> str:
    what = [
        ".".join(filter(None, (o.type, "|".join(o.properties))))
        + (f" of {', '.join(o.keys)}" if o.keys else "")
        for o in check.objects
    ]
    # The values themselves are what nobody should read.
    what += [f"{len(check.values)} given value{'' if len(check.values) == 1 else 's'}"] * bool(
        check.values
    )
    where = {"leaving": " and calls that leave the world", "every": " and calls", "none": ""}
    return f"{', '.join(what) or 'what is locked from the role'} in no replies{where[check.calls]}"


def _end_state(check: EndState) -> str:
    count = len(_lines(check))
    strict = check.others == "forbidden"
    parts = [f"{count} expected change{'' if count == 1 else 's'}"] if count else []
    if check.any_of:
        parts.append(f"one of {len(check.any_of)} alternatives")
    if not parts:
        parts = ["nothing changes" if strict else "anything may change"]
    else:
        parts = [" and ".join(parts), "and nothing else" if strict else "others allowed"]
    if check.ignore:
        parts.append(f"not looked at: {' '.join(check.ignore)}")
    if check.normalize:
        parts.append(f"normalized: {' '.join(check.normalize)}")
    return ", ".join(parts)


def _lines(expected: Changes) -> list[str]:
    lines = []
    for made in expected.created:
        key = f" {_condition(made.key)}" if made.key else ""
        count = f"{made.count} × " if made.count > 1 else ""
        lines.append(f"created {count}{made.type}{key}{_where(made.properties)}")
    lines += [f"changed {c.type} {c.key}: {_conditions(c.properties)}" for c in expected.changed]
    lines += [f"deleted {gone.type} {gone.key}" for gone in expected.deleted]
    lines += [f"linked {_link(link)}" for link in expected.linked]
    lines += [f"unlinked {_link(link)}" for link in expected.unlinked]
    return lines


def _link(link: ExpectedLink) -> str:
    source, target = (
        f"({end.bind})" if isinstance(end, Bound) else end for end in (link.source, link.target)
    )
    return f"{link.type} {source} → {target}"


def _normalization(how: Normalization) -> str:
    parts = [f"{name} ignored" for name in ("case", "whitespace", "order") if getattr(how, name)]
    parts += [f"within {how.tolerance:g}"] if how.tolerance is not None else []
    parts += [f"to the {how.time}"] if how.time is not None else []
    return ", ".join(parts)


def _step(step: CallOrStep | ExpectedCall) -> str:
    return " or ".join(f"{call.tool}{_where(call.arguments)}" for call in calls_of(step))


def _object(check: ObjectExists | ObjectAbsent) -> str:
    key = f" {_condition(check.key)}" if check.key else ""
    links = "".join(
        f", {tie.type} → {tie.target}" if tie.target is not None else f", {tie.type} ← {tie.source}"
        for tie in check.linked
    )
    count = ""
    if isinstance(check, ObjectExists) and check.count is not None:
        count = f", how many: {_condition(check.count)}"
    created = ", created by the trial" if check.created_during_trial else ""
    return f"{check.type}{key}{_where(check.properties)}{links}{count}{created}"


def _where(conditions: Mapping[str, Condition]) -> str:
    return f" where {_conditions(conditions)}" if conditions else ""


def _conditions(conditions: Mapping[str, Condition]) -> str:
    return ", ".join(f"{path} {_condition(c)}" for path, c in conditions.items())


def _condition(condition: Condition) -> str:
    bound = condition.bind if isinstance(condition, Bindable) else None
    parts = [
        f"{'=' if operator == 'equals' else operator} {_operand(operand)}"
        for operator, operand in condition.operators
    ]
    return " and ".join([*([f"({bound})"] if bound else []), *parts])


def _operand(operand: Any) -> str:
    return json.dumps(operand, ensure_ascii=False, default=str)


def _turn(turn: str | int) -> str:
    return {"last": "the last reply", "any": "any reply"}.get(
        str(turn), f"the reply of turn {turn}"
    )


def _shown(text: str) -> str:
    return legible(clipped(text, _LABEL_SHOWN))
