"""What an arm sends to an agent that has a form of its own: JSON with `{{name}}` for what a trial puts in.

    text            what the person says                 history     what was said before: [{"role", "text"}]
    turn            its number, from 1                   messages    all of it, this turn too: [{"role", "content"}]
    session         what the agent calls the conversation; stands for nothing until the agent has said it
    run             a token unique to the trial          now, today  the trial's frozen clock
    seed            a number                             settings    the arm's, whole; settings.NAME: one of them
    mcp             a client's configuration             mcp.url     base of the tools' addresses
    mcp.token       the bearer token                     mcp.url.SERVER   address of one server
    env.NAME        a variable named in `pass_env`

A text that is one placeholder and nothing else becomes the value itself, be it an object; one that stands for
nothing is left out with its key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

from seatrial.documents import placeholders

OF_TRIAL = ("run", "now", "today", "seed", "settings", "mcp", "mcp.url", "mcp.token")
OF_TURN = ("text", "turn", "session", "history", "messages")
IN_ADDRESS = ("run", "session", "seed")
IN_HEADERS = (*(name for name in OF_TRIAL if name != "mcp"), "turn", "session")

CARRIES_THE_TEXT = frozenset({"text", "messages"})
"""One of these must be sent, or the agent would not hear what the person says."""


def is_known(
    name: str, among: Collection[str], settings: Mapping[str, Any], pass_env: Collection[str]
) -> bool:
    """Whether a placeholder of an arm stands for something."""
    family, _, rest = name.partition(".")
    match family:
        case "settings" if rest:
            return setting(settings, rest) is not None
        case "env":
            return rest in pass_env
        case "mcp" if rest.startswith("url."):
            return rest != "url."
        case _:
            return name in among


def setting(settings: Mapping[str, Any], path: str) -> tuple[Any] | None:
    """The setting that a path of keys leads to, in a tuple; None where there is none."""
    value: Any = settings
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return (value,)


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)


def _plain_keys(body: dict[str, Any]) -> dict[str, Any]:
    odd = [key for key in _keys(body) if "{{" in key]
    if odd:
        raise ValueError(f"the key `{odd[0]}` has a placeholder; only values take them")
    return body


def _with_the_text(body: dict[str, Any]) -> dict[str, Any]:
    if CARRIES_THE_TEXT.isdisjoint(placeholders.names(body)):
        raise ValueError(
            "nothing carries what the person says; write `{{text}}` (this turn) or `{{messages}}` (all turns) "
            "where it belongs"
        )
    return _plain_keys(body)


Body = Annotated[dict[str, Any], AfterValidator(_plain_keys)]
"""JSON with placeholders in its values."""
TurnBody = Annotated[dict[str, Any], AfterValidator(_with_the_text)]
"""JSON with placeholders in its values, one of which carries what the person says."""
