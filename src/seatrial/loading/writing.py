"""A document as YAML that is read as the same values.

PyYAML writes YAML 1.1, in which `08` and `1e5` are text that needs no quotes; by 1.2 they are numbers.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from seatrial.loading.scalars import resolve

_ODD = re.compile(r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\U00010000-\U0010ffff]")
"""Letters that end a line for some readers, or that not every one takes as they are."""


class _Dumper(yaml.SafeDumper):
    """Block style throughout, with lists indented below their key and no anchors."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None
    if not _is_plain(text) or _ODD.search(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_plain(text: str) -> bool:
    try:
        return bool(resolve(text) == text)
    except ValueError:  # a number beyond all bounds
        return False


_Dumper.add_representer(str, _text)


def written(document: dict[str, Any], dense: tuple[str, ...] = ()) -> str:
    """A document as text.

    Args:
        document: JSON values, the keys in the order in which they are to stand.
        dense: keys of mappings of lists, such as the objects of a world, that are written with an item a line.
    """
    parts = []
    for key, value in document.items():
        if key not in dense:
            parts.append(
                yaml.dump(
                    {key: value}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110
                )
            )
            continue
        parts.append(f"{key}:\n")
        for name, items in value.items():
            parts.append(f"  {json.dumps(name)}:{'' if items else ' []'}\n")
            parts += [f"    - {json.dumps(item, ensure_ascii=True)}\n" for item in items]
    return "".join(parts)
