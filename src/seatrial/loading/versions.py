"""Versions that cases pin and arms are deployed as."""

from __future__ import annotations

from seatrial.documents import Arm, Case
from seatrial.loading.library import Found, Library
from seatrial.loading.mistakes import Mistake, closest


def unknown_versions(library: Library) -> Found:
    """A case pins a version of its agent of which there is no arm."""
    versions: dict[str, set[str]] = {}
    for _, arm in library.of(Arm):
        versions.setdefault(arm.agent, set()).add(arm.version)
    for draft, case in library.of(Case):
        known = versions.get(case.agent, set())
        if case.version is None or case.version in known:
            continue
        guess = closest(case.version, known)
        message = f"no arm of agent `{case.agent}` is version `{case.version}`"
        message += f"; did you mean `{guess}`?" if guess else ""
        listed = ", ".join(f"`{version}`" for version in sorted(known))
        hint = f"There is {listed}" if listed and not guess else ""
        yield draft, Mistake(("version",), message, hint, "unknown-version")


def deployed_twice(library: Library) -> Found:
    """What is deployed in an environment already: of two versions nobody could tell which one answers there."""
    there: dict[tuple[str, str], Arm] = {}
    for draft, arm in library.of(Arm):
        for index, environment in enumerate(arm.deployed):
            place = (arm.agent, environment)
            if place not in there:
                there[place] = arm
                continue
            who = f"arm `{there[place].id}` of agent `{arm.agent}`"
            message = f"{who} is deployed in `{environment}` already"
            yield draft, Mistake(("deployed", index), message, code="deployed-twice")
