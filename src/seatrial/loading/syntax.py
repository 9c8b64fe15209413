"""What libyaml says about a broken file, in words a writer of documents can use."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.error import MarkedYAMLError

from seatrial.errors import Problem
from seatrial.loading.mistakes import cut

_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML 1.2 (section 5.1) does not allow in a file."""
_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")

_PLACED_AT_START = ("while scanning a quoted scalar", "while scanning a simple key")
"""The end of the file says little about these: the place is where they start."""

_WORDS = {
    "mapping values are not allowed in this context": (
        "a `:` where no key can stand",
        "Put a text that holds `: ` in quotes, or check the indentation",
    ),
    "could not find expected ':'": (
        "expected `key: value`, found a line without `:`",
        "Check the indentation, or write the text under `|`",
    ),
    "did not find expected key": (
        "expected a key here, or less indentation",
        "Check the indentation and the quotes of the lines above",
    ),
    "did not find expected '-' indicator": (
        "expected `- ` as in the entries of the list above",
        "Check the indentation",
    ),
    "found unexpected end of stream": (
        "the quoted text that starts here does not end",
        "Close the quotes",
    ),
    "found a tab character where an indentation space is expected": (
        "a tab in the indentation",
        "Indent with spaces",
    ),
    "found a tab character that violates indentation": (
        "a tab in the indentation",
        "Indent with spaces",
    ),
    "did not find expected <document start>": (
        "text after the end of the document",
        "Begin a further document with `---`, or check the indentation",
    ),
    "found unknown escape character": (
        "an unknown escape in a text in double quotes",
        "Write `\\\\` for a backslash, or use single quotes",
    ),
    "did not find expected node content": ("expected a value here", ""),
    "exceeded maximum nesting depth": ("nested too deep", ""),
    "found incompatible YAML document": ("another version of YAML than 1.2", ""),
}
"""libyaml's words → ours, and what to do."""

_BLOCK = {
    "while parsing a flow mapping": ("mapping", "}"),
    "while parsing a flow sequence": ("list", "]"),
}


def problem(path: str, data: bytes, error: yaml.YAMLError) -> Problem:
    """The one problem that a parser error is, at its place."""
    if isinstance(error, MarkedYAMLError) and error.problem is not None:
        return _marked(path, data, error)
    return _unreadable(path, data)


def _marked(path: str, data: bytes, error: MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    if error.context in _PLACED_AT_START and error.context_mark is not None:
        mark = error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    said = error.problem or "not YAML"
    message, hint = _WORDS.get(said, (f"not YAML: {said}", ""))
    if error.context in _BLOCK and error.context_mark is not None:
        noun, closing = _BLOCK[error.context]
        start = f"{error.context_mark.line + 1}:{error.context_mark.column + 1}"
        message, hint = f"expected `,` or `{closing}` in the {noun} that starts at {start}", ""
    if said == "found character that cannot start any token":
        character = _character(data, line, column)
        if character == "\t":
            message, hint = "a tab in the indentation", "Indent with spaces"
        else:
            message, hint = f"a text cannot start with `{character}`", "Put it in quotes"
    return Problem(path, line, column, message, hint, "yaml")


def _character(data: bytes, line: int, column: int) -> str:
    lines = _BREAK.split(data.decode("utf-8-sig", errors="replace"))
    return lines[line - 1][column - 1 : column] if line <= len(lines) else ""


def _unreadable(path: str, data: bytes) -> Problem:
    """The first byte or character that no YAML file may hold."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _end_of(data[: error.start].decode("utf-8"))
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        return Problem(path, line, column, message, "Save the file as UTF-8", "encoding")
    found = _UNPRINTABLE.search(text)
    if found is None:
        return Problem(path, 1, 1, "the file cannot be read as YAML", code="yaml")
    line, column = _end_of(text[: found.start()])
    message = f"the character U+{ord(found[0]):04X} is not allowed in YAML"
    hint = "Write it as an escape in double quotes"
    return Problem(path, line, column, message, hint, "encoding")


def _end_of(text: str) -> tuple[int, int]:
    lines = _BREAK.split(text.removeprefix("\ufeff"))
    return len(lines), len(lines[-1]) + 1


def foreign_encoding(data: bytes) -> str:
    """The encoding that a byte order mark announces, when it is not UTF-8; else empty."""
    return next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "")


def shown(value: Any) -> str:
    """A value of a document as a message names it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"the number {cut(str(value))}"
    if isinstance(value, str):
        return f"the text `{cut(value)}`" if value else "an empty text"
    return "a list" if isinstance(value, list | tuple) else "a mapping"
