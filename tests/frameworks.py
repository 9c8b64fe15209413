"""The agent frameworks that `make setup` installs beside, and the model that plays for them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.servers.openai_chat import Fails, Says, Step

ROOT = Path(__file__).parents[1]


def python() -> Path:
    """The interpreter with the frameworks; the test is left out only where nobody has made it."""
    named = os.environ.get("SEATRIAL_FRAMEWORKS_PYTHON")
    usual = Path(named) if named else ROOT / ".venvs" / "frameworks" / "bin" / "python"
    if not named and not usual.exists():
        pytest.skip(
            f"no interpreter with agent frameworks: {usual} is absent (`make setup` makes it)"
        )
    return usual


def librarian(body: dict[str, Any]) -> Step:
    """What a model at the desk of the small library says: look the book up, lend it if it is in."""
    offered = [tool["function"]["name"] for tool in body.get("tools", ())]
    if not offered:
        return Fails(status=400, message="no tools were offered", kind="script")

    def tool(name: str) -> str:
        return str(next(known for known in offered if known.endswith(name)))

    asked = " ".join(_text(m["content"]) for m in body["messages"] if m["role"] == "user")
    results = [_text(m["content"]) for m in body["messages"] if m["role"] == "tool"]
    member, title = (
        (re.findall(words, asked) or [""])[0]
        for words in (r"member (m-\d)\b", r"have the book (\w+)\?")
    )
    if not member:
        return Says(text="Which member is it for?")
    if not results:  # both at once
        words = ({"word": title}, {"word": title.lower()})
        return Says(calls=[(tool("find_book"), word) for word in words], cached_tokens=40)
    found = " ".join(results[:2])
    book = re.search(r"b-\d", found)
    if re.search(r'lent_to\\*":\s*\\*"m-\d', found) or not book:
        return Says(text=f"{title} is lent out.")
    if len(results) == 2:
        return Says(calls=[(tool("lend_book"), {"book_id": book[0], "member_id": member})])
    return Says(text=f"Here is {title}.")


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)
