"""Which files an arm is built from: the ones it names, and the ones its adapter names."""

from __future__ import annotations

from seatrial.documents.adapters import A2a, Command, Http, Mcp, OpenAI, Python, Recorded
from seatrial.documents.arm import Arm
from seatrial.documents.patterns import escapes, literal, module_files

ADAPTER = "adapter"
"""The component of the files that an adapter itself names: a script, a module, recordings."""

PROMPT = "prompt"
"""The component of the file with the system prompt that an adapter names."""


def patterns(arm: Arm) -> dict[str, tuple[str, ...]]:
    """Component → patterns of the files behind it; what the adapter names comes under `adapter`."""
    found = {name: tuple(of) for name, of in arm.sources.items()}
    if isinstance(arm.adapter, OpenAI) and arm.adapter.prompt is not None:
        found[PROMPT] = (*found.get(PROMPT, ()), literal(arm.adapter.prompt))
    named = tuple(p for p in _named_by_adapter(arm) if not escapes(p))
    if named:
        found[ADAPTER] = (*found.get(ADAPTER, ()), *named)
    return found


def _named_by_adapter(arm: Arm) -> tuple[str, ...]:
    match arm.adapter:
        case Command(command=words) | Mcp(command=words):
            if isinstance(arm.adapter, Command) and arm.adapter.per_turn is not None:
                words += arm.adapter.per_turn.later
            named: list[str] = []
            for before, word in zip(("", *words), words, strict=False):
                if before == "-m":
                    named += module_files(word)
                elif "/" in word or "." in word:
                    named.append(literal(word))
            return tuple(dict.fromkeys(named))
        case Python(function=function):
            return module_files(function.partition(":")[0])
        case Recorded(files=files):
            return tuple(literal(file) for file in files)
        case A2a() | Http() | OpenAI():
            return ()
