"""Text of agents, cases and fixtures, made harmless for each place it is shown in.

All of it is hostile. In the site it travels as data (`script_data`) and is put on the page by
`textContent`; what stands in a page itself goes through `page_text`. In Markdown for GitHub and GitLab
(`prose`, `fenced`, `code`) it must not become a mention, a reference, a link, an image or a marker.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # no width
    "\ud800-\udfff\ufffe\uffff"  # no characters at all
    "\U000e0000-\U000e007f"  # tags: text that models read and people do not see
    "]"
)


def legible(text: str) -> str:
    r"""`text` with every character shown that a person would not see, as `⟨U+202E⟩`.

    Control characters, direction overrides, zero-width and tag characters and lone surrogates could hide
    or reorder what a reviewer reads, or break a file format. Tab and newline stay; `\r\n` is a newline.
    """
    return _UNSEEN.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", text.replace("\r\n", "\n"))


def clipped(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, and how many are left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def script_data(name: str, value: Any) -> str:
    """A script that does nothing but give the global `name` this JSON value.

    The value is parsed from a string, not written as an expression: a key `__proto__` is then an
    ordinary key, and no character of it can end the string or a `<script>` element.
    """
    text = embedded_json(value).replace("\\", "\\\\").replace("'", "\\u0027")
    return f"globalThis.{name} = JSON.parse('{text}');\n"


def embedded_json(value: Any) -> str:
    r"""Compact ASCII JSON without `<`, `>` and `&` (written as `\u003c`, …)."""
    try:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except ValueError:  # JSON has no NaN and no infinity, but a tool's answer may hold them
        text = json.dumps(_finite(value), ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {key: _finite(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_finite(inner) for inner in value]
        case _:
            return value


def page_text(text: str) -> str:
    """One line of text that neither Markdown nor HTML reads as anything but text.

    Everything but letters, digits and spaces becomes a numeric character reference, which Markdown
    passes on and only a browser decodes.
    """
    return character_references(" ".join(legible(text).split()))


def character_references(line: str) -> str:
    """Part of a line that is legible already, for a page."""
    return "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in line)


_BROKEN = (
    (re.compile(r"@(?=\w)"), "@\u200b"),
    (re.compile(r"#(?=\d)"), "#\u200b"),
    (re.compile(r"(GH-|[!&%$~])(?=\d)", re.IGNORECASE), "\\1\u200b"),
    (re.compile(r":(?=//)"), ":\u200b"),
    (re.compile(r"\b(www|mailto|xmpp)(?=[.:])", re.IGNORECASE), "\\1\u200b"),
    (re.compile(r"--(?=!?>)"), "--\u200b"),
    (re.compile(r"^([ \t]*)/(?=[a-z])", re.IGNORECASE | re.MULTILINE), "\\1\u200b/"),
)
"""What a forge turns into something after it has rendered Markdown, and what GitLab carries out at the start of a
line (`/close`); a zero-width space keeps it text."""

_BROKEN_IN_PROSE = (
    (re.compile(r"""([~%])(?=["'A-Za-z])"""), "\\1\u200b"),
    (re.compile(r"([\[*])(?=[A-Za-z_]+:)"), "\\1\u200b"),
)
"""GitLab's labels, milestones, and references by a word: `~bug`, `%"1.0"`, `[vulnerability:3]`, `*iteration:"x"`."""


def prose(text: str) -> str:
    """One line for Markdown of a forge: no markup, mention, reference, link, image or marker in it."""
    line = " ".join(legible(text).split())
    for pattern, replacement in (*_BROKEN, *_BROKEN_IN_PROSE):
        line = pattern.sub(replacement, line)
    return _MEANS_SOMETHING.sub(lambda m: f"&#{ord(m[0])};", line)


_MEANS_SOMETHING = re.compile(
    r"""
    (?<=^[0-9]{1}) [.)] | (?<=^[0-9]{2}) [.)]               # a list, at the start of a line
    | (?<![A-Za-z0-9]) [-_/:] | [-_/] (?![A-Za-z0-9]) | : (?!\ )   # within words they are plain
    | [^\w\s,;.%()'\-_/:\u200b\u00a0-\U0010ffff]
    """,
    re.VERBOSE,
)


def fenced(text: str, language: str = "text") -> str:
    """A code block for Markdown of a forge, its fence longer than any run of backticks in `text`."""
    body = legible(text)
    for pattern, replacement in _BROKEN:
        body = pattern.sub(replacement, body)
    fence = "`" * max(3, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def verbatim(text: str, language: str = "sh") -> str:
    """A code block whose text can be copied as it is: for commands of ours, never for agent text."""
    body = legible(text)
    fence = "`" * max(3, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def workflow_command(name: str, text: str, **properties: str) -> str:
    """A line by which a step tells GitHub's runner something: `::error file=…,line=…::text`.

    The rules: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands. A `%` begins an
    escape and is escaped first; whatever is legible of the text stays one line, and no part of it ends a property.
    """
    written = ",".join(f"{key}={_data(value, ':,')}" for key, value in properties.items())
    return f"::{name} {written}::{_data(text)}" if written else f"::{name}::{_data(text)}"


def _data(text: str, also: str = "") -> str:
    text = legible(text)
    for character in "%\n" + also:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
