"""Write the reference pages that come from the code: commands, documents, agent runtimes, exit codes.

`python docs/generate.py` writes them, `python docs/generate.py --check` says which are out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import click
from pydantic import TypeAdapter

from seatrial.cli import main as door
from seatrial.documents import Arm, Case, Fixture, Suite
from seatrial.documents.meanings import Described
from seatrial.errors import ExitCode
from seatrial.runtimes import HOME, RUNTIMES, Endpoint

HERE = Path(__file__).parent
NOTE = "<!-- Written by docs/generate.py from the code; edit the code. -->\n"
TITLES: dict[str, Any] = {"case": Case, "suite": Suite, "arm": Arm, "fixture": Fixture}


def commands() -> str:
    """Every command's help, as it is printed."""
    parts = ["# Commands\n", NOTE]
    for path, command in _walk(door, ("seatrial",)):
        context = click.Context(
            command, info_name=" ".join(path), terminal_width=90, **door.context_settings
        )
        help_text = command.get_help(context).rstrip()
        parts.append(f"## `{' '.join(path)}`\n\n```text\n{help_text}\n```\n")
    return "\n".join(parts)


def _walk(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from _walk(command.commands[name], (*path, name))


def documents() -> str:
    """Every key of every kind of document."""
    parts = [
        "# Documents\n",
        NOTE,
        "YAML under `cases/`, `suites/`, `arms/` and `fixtures/`. Unknown keys are refused. Keys with a star must be "
        "there; *left out* says what holds without the others, where that is not nothing or `false`. "
        "Editors complete and check with the JSON Schemas in `site/schema/`.\n",
    ]
    for kind, model in TITLES.items():
        schema = TypeAdapter(model).json_schema(by_alias=True, schema_generator=Described)
        shared = schema.get("$defs", {})
        roots = [schema] if "properties" in schema else [shared[_name(o)] for o in schema["oneOf"]]
        parts.append(f"## {kind}\n")
        seen: set[str] = set()
        for root in roots:
            parts += _table(root, shared, seen, level=3)
    return "\n".join(parts)


def _table(part: dict[str, Any], shared: dict[str, Any], seen: set[str], level: int) -> list[str]:
    if part["title"] in seen or "properties" not in part:
        return []
    seen.add(part["title"])
    needed = set(part.get("required", ()))
    lines = [f"{'#' * level} {part['title']}\n", f"{_clean(part.get('description', ''))}\n"]
    lines += ["| key | value | meaning |", "|---|---|---|"]
    inner: list[str] = []
    for key, value in part["properties"].items():
        inner += _references(value)
        star = " *" if key in needed else ""
        meaning = " ".join(t for t in (_clean(value.get("description", "")), _default(value)) if t)
        lines.append(f"| `{key}`{star} | {_type(value)} | {meaning} |")
    out = [*lines[:2], "\n".join(lines[2:]) + "\n"]
    for name in dict.fromkeys(inner):
        out += _table(shared[name], shared, seen, level=4)
    return out


def _default(value: dict[str, Any]) -> str:
    """What holds when the key is left out, unless that is nothing or a part with defaults of its own."""
    default = value.get("default")
    if isinstance(default, dict | list) or default in (None, "", False):
        return ""
    shown = f"{default:g}" if isinstance(default, float) else "true" if default is True else default
    return f"Left out: `{shown}`."


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"].rpartition("/")[2]] if "$ref" in value else []
        return own + [r for k, v in value.items() if k != "discriminator" for r in _references(v)]
    if isinstance(value, list):
        return [r for v in value for r in _references(v)]
    return []


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return f"[{_name(value)}](#{_name(value).lower()})"
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{v}`" for v in value["enum"])
    for union in ("anyOf", "oneOf", "allOf"):
        if union in value:
            kinds = dict.fromkeys(_type(v) for v in value[union] if v != {"type": "null"})
            return " or ".join(k for k in kinds if k) or "any"
    kind = value.get("type", "any")
    if kind == "array":
        items = value.get("items") or {}
        return f"list of {_type(items)}" if items else "list"
    if kind == "object":
        inner = value.get("additionalProperties")
        return f"name → {_type(inner)}" if isinstance(inner, dict) and inner else "mapping"
    return str(kind)


def _name(value: dict[str, Any]) -> str:
    return str(value["$ref"]).rpartition("/")[2]


def _clean(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def exit_codes() -> str:
    """Every exit code and what it means."""
    meanings = {
        ExitCode.OPEN: "The gate is open, or the command did what was asked.",
        ExitCode.CLOSED: "The gate is closed.",
        ExitCode.USAGE: "A wrong option or an invalid document.",
        ExitCode.UNDECIDED: "Not enough valid evidence for a ruling.",
        ExitCode.INTERNAL: "A fault of Seatrial's, or of the machine (a full disk).",
        ExitCode.INTERRUPTED: "Stopped by Ctrl-C; `seatrial run --resume RUN` goes on.",
    }
    rows = "\n".join(
        f"| {code.value} | {code.name.lower()} | {meanings[code]} |" for code in ExitCode
    )
    return f"# Exit codes\n\n{NOTE}\n| code | name | meaning |\n|---|---|---|\n{rows}\n"


def agent_runtimes() -> str:
    """Every config file that can be written for an agent's runtime."""
    endpoint = Endpoint(
        url="http://127.0.0.1:PORT/c/SECRET/helpdesk/mcp",
        token="TOKEN",
        bridge=("python", "-I", "…/seatrial/bridge"),
        marks={},
    )
    parts = [
        "# Agent runtimes\n",
        NOTE,
        "A `command` arm, and an `mcp` arm with a `command`, may say `config_format: NAME`: its agent then finds "
        "its tools where that runtime looks for them. The file lies in the trial's own folder, which is removed "
        "afterwards; paths that begin with `~` are "
        "in the agent's home, which is a part of that folder and never yours. `{config}` in the command stands for "
        "the path of the file. With `config_transport: stdio` the file names a program for each server "
        "(`seatrial gateway connect`) in place of its address.\n",
        "| `config_format` | for | file | read | transport |\n|---|---|---|---|---|",
    ]
    shapes = []
    for name, runtime in RUNTIMES.items():
        path = runtime.path.replace(f"{HOME}/", "~/", 1)
        transports = ", ".join(runtime.transports)
        parts[-1] += f"\n| `{name}` | {runtime.title} | `{path}` | {runtime.found} | {transports} |"
        kind = PurePosixPath(path).suffix.removeprefix(".")
        text = runtime.file({"helpdesk": endpoint}).strip()
        shapes.append(f'## `{name}`\n\n```{kind} title="{path}"\n{text}\n```\n')
    parts[-1] += "\n"
    return "\n".join(parts + shapes)


PAGES = {
    "agent-runtimes": agent_runtimes,
    "commands": commands,
    "documents": documents,
    "exit-codes": exit_codes,
}


def main() -> None:
    """Write the pages, or with `--check` compare them."""
    stale = []
    for name, write in PAGES.items():
        path, text = HERE / "reference" / f"{name}.md", write()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(stale)}; run `make docs`")


if __name__ == "__main__":
    main()
