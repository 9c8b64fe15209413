"""Whether the settings of an arm are some that the product can be in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seatrial.documents import Arm, Catalog
from seatrial.errors import Problem, printable
from seatrial.state.schemas import schema_problem, validator
from seatrial.workspace.following import opened, within

_MOST = 4_000_000
"""Bytes of a schema that are read."""


def settings_problems(home: Path, root: Path, catalog: Catalog, arm: Arm) -> list[Problem]:
    """What is wrong with an arm's settings by the schema that it names; nothing where it names none.

    Args:
        home: the folder that no file may lead out of.
        root: the folder that the schema's path is relative to.
        catalog: the documents, which know where the arm stands.
        arm: the arm.
    """
    if arm.settings_schema is None:
        return []

    def problem(path: str, message: str, hint: str = "") -> Problem:
        source = catalog.sources.get(("arm", arm.id))
        if source is None:
            return Problem(f"arm {arm.id}", 1, 1, message, hint, code="settings")
        return Problem(*source.at(path), message, hint, code="settings")

    name = arm.settings_schema
    try:
        with opened(within(root / name, home)) as file:
            text = file.read(_MOST + 1)
    except OSError as error:
        return [problem("settings_schema", f"{name} cannot be read: {error.strerror}")]
    except ValueError:
        return [problem("settings_schema", f"{name} lies outside of the repository")]
    if len(text) > _MOST:
        return [problem("settings_schema", f"{name} has more than {_MOST / 1e6:.0f} MB")]
    try:
        schema: Any = json.loads(text)
    except (ValueError, RecursionError):
        return [problem("settings_schema", f"{name} is no JSON")]
    why = schema_problem(schema) if isinstance(schema, dict | bool) else "is no JSON Schema"
    if why is not None:
        return [problem("settings_schema", f"{name} {printable(why)}")]
    misfits = validator(schema).misfits(
        arm.model_dump(mode="json")["settings"],
        lambda path: f"`settings.{path}`" if path else "`settings`",
    )
    return [problem("settings", printable(misfit), f"see {name}") for misfit in misfits]
