"""What makes trials comparable: the fingerprint of a case and an arm, by named components.

    case        what an agent meets of the case
    checks      what it is graded by, functions of the repository included; `grading`: how Seatrial's own checks grade
    world       the practice world, but for what agents are shown of it
    answers     the mocked answers
    servers     the real MCP servers that the case names
    persona     the people who talk to the agent
    harness     how Seatrial itself treats an agent
    adapter, settings, model, skills, source:<name>, server:<id>, tool:<name>, instructions      the arm's own

An arm is an agent with its prompt, rules, context plan, code (`source:<name>`), and the tools as it is
shown them, by their server or by the arm itself: a change of their descriptions is what is tried, not what it
is tried on. Only the arm's own
components may differ between two sides. Where only `GRADING_COMPONENTS` differ, stored traces can be
graded again. Which model a provider served is no component: it is known only afterwards, trial by trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from seatrial.documents import Arm, Case, Catalog, Persona, ShownTool, World, digest
from seatrial.state.access import listed
from seatrial.state.actions import tool
from seatrial.state.presenting import presented
from seatrial.tools import Tool

HARNESS = "1"
"""Named in every fingerprint. Raised by a change of Seatrial after which the same agent could act
differently in the same case (what it is told, given, or allowed), never by a release as such."""
GRADING = "3"
"""Named in every fingerprint. Raised by a change of Seatrial after which a check could find something
else in the same trace."""

GRADING_COMPONENTS = frozenset({"checks", "grading"})
"""What says how a trace is graded, and nothing about how it came to be."""

_OWN = frozenset({"arm", "adapter", "settings", "model", "skills", "instructions"})
_OWN_FAMILIES = ("source:", "server:", "tool:")

_ABOUT_THE_CASE = frozenset({
    "title", "group", "required", "negative", "owner", "tags", "priority", "requirements",
    "provenance", "reviewed", "quarantine", "trials", "checks", "solution", "weak", "attack", "version",
})  # fmt: skip
"""Keys of a case that no agent ever meets. Its checks are a component of their own."""
_SAID = frozenset({"say", "by", "seconds"})
"""Keys of a step of a golden conversation that the agent meets; the others say what it is held against."""
_ABOUT_THE_FIXTURE = frozenset({"title"})
_SHOWN_OF_ACTIONS = frozenset({"description", "parameters", "output"})


def is_own(component: str) -> bool:
    """Whether a component belongs to the arm, and may differ between two sides."""
    return component in _OWN or component.startswith(_OWN_FAMILIES)


def between(here: Mapping[str, str], there: Mapping[str, str]) -> tuple[str, ...]:
    """The components, by name, in which two fingerprints differ, those of one of them only included."""
    if here == there:
        return ()
    names = here.keys() | there.keys()
    return tuple(sorted(name for name in names if here.get(name) != there.get(name)))


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The fingerprints of a run, in the shape in which its manifest keeps them."""

    by_case: dict[str, dict[str, str]]
    """`case@arm` → component → digest; `tools` stands for a set of tools."""
    toolsets: dict[str, dict[str, str]]
    """Digest of a set of tools → tool → digest of what an agent is shown of it."""

    def whole(self) -> dict[str, dict[str, str]]:
        """`case@arm` → component → digest, each tool a component of its own."""
        return {key: expanded(found, self.toolsets) for key, found in self.by_case.items()}


def expanded(
    components: Mapping[str, str], toolsets: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """A fingerprint with a component `tool:<name>` for each tool, in place of `tools`.

    A set of tools that is not among `toolsets` stays as it is, and then differs from every other.
    """
    tools = toolsets.get(components.get("tools", ""))
    if tools is None:
        return dict(components)
    whole = {name: value for name, value in components.items() if name != "tools"}
    return whole | {f"tool:{name}": value for name, value in tools.items()}


def fingerprints(
    catalog: Catalog,
    arms: Iterable[Arm],
    source_digests: Mapping[str, Mapping[str, str]],
    world_digests: Mapping[str, str] = MappingProxyType({}),
    check_digests: Mapping[str, str] = MappingProxyType({}),
) -> Fingerprints:
    """The fingerprint of every case and every arm of its agent.

    Args:
        catalog: the cases, as written, and the fixtures that they lean on.
        arms: the arms.
        source_digests: by arm, a digest for each component of files that it is built from.
        world_digests: by world, a digest of the files that it is made of; of those that have any.
        check_digests: by case, a digest of the files behind its checks; of those that have any.
    """
    by_case: dict[str, dict[str, str]] = {}
    toolsets: dict[str, dict[str, str]] = {}
    of_all = _Cases(catalog.fixtures, world_digests, check_digests, toolsets)
    for arm in arms:
        own = catalog.own_fixtures.get(arm.id)
        of_cases = of_all
        if own or arm.tools:
            fixtures = {**catalog.fixtures, **(own or {})}
            of_cases = _Cases(fixtures, world_digests, check_digests, toolsets, arm.tools)
        of_arm = _of_arm(arm, source_digests.get(arm.id, {}))
        of_arm |= {f"server:{id}": of_all.behind[id] for id in arm.servers}
        for case in catalog.cases.values():
            if case.agent == arm.agent:
                by_case[f"{case.id}@{arm.id}"] = of_cases.of(case) | of_arm
    return Fingerprints(by_case, toolsets)


def conditions(
    catalog: Catalog,
    world_digests: Mapping[str, str] = MappingProxyType({}),
    check_digests: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, dict[str, str]]:
    """Case → component → digest of what its trials lean on, whichever arm carries them; tools by name."""
    toolsets: dict[str, dict[str, str]] = {}
    of_cases = _Cases(catalog.fixtures, world_digests, check_digests, toolsets)
    return {
        case.id: expanded(of_cases.of(case), toolsets)
        for case in catalog.cases.values()
        if all(id in catalog.fixtures for id in case.fixtures)
    }


def tools_shown(
    world: World,
    role: str | None,
    see_refused: bool | None = None,
    shown: Mapping[str, ShownTool] = MappingProxyType({}),
    purpose: str | None = None,
) -> dict[str, str]:
    """The tools that a role of a world can list → a digest of what it is shown of each.

    Of worlds whose tools are described elsewhere (in code, by a server) there are only those that the arm
    shows under descriptions of its own: what else is shown of these is a part of the world.

    Args:
        world: the world.
        role: one of its roles; None in a world without any.
        see_refused: what the case says of tools beyond the role's rights; None: what the role says.
        shown: the arm's own descriptions.
        purpose: the purpose that the role acts under.
    """
    acting = world.roles.get(role) if role is not None else None
    actions = world.tools_as_data()
    found = {
        name: digest(_presented(tool(name, action), shown).as_mcp())
        for name, action in actions.items()
        if acting is None or listed(acting, name, see_refused, purpose)
    }
    return found if actions else {name: digest(own) for name, own in shown.items()}


def _presented(offered: Tool, shown: Mapping[str, ShownTool]) -> Tool:
    own = shown.get(offered.name)
    return offered if own is None else presented(offered, own)


def behind_the_tools(fixture: Any) -> dict[str, Any]:
    """A fixture as it is written, without its title and without what agents are shown of its tools."""
    written = fixture.model_dump(mode="json", by_alias=True, exclude_unset=True)
    kept = {key: value for key, value in written.items() if key not in _ABOUT_THE_FIXTURE}
    if isinstance(fixture, Persona) and fixture.model is not None:
        kept["model"].pop("prices", None)  # as of an arm: it says the same at another price
    if isinstance(fixture, World):
        kept.pop("instructions", None)
        if fixture.tools_as_data():
            kept[fixture.tools_key] = {
                name: {key: value for key, value in action.items() if key not in _SHOWN_OF_ACTIONS}
                for name, action in kept[fixture.tools_key].items()
            }
    return kept


def differing(
    before: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    """What differs between two sets of fingerprints, in words, each once; empty when nothing does.

    Keys that only `now` has are not looked at.
    """
    found: dict[str, None] = {}
    for key, components in before.items():
        case, _, arm = key.rpartition("@")
        if key not in now:
            found[f"case {case} or arm {arm} is gone"] = None
            continue
        for name in between(components, now[key]):
            found[_named(name, case, arm)] = None
    return tuple(found)


def _named(component: str, case: str, arm: str) -> str:
    match component.partition(":"):
        case ("case", _, _):
            return f"case {case}"
        case ("checks", _, _):
            return f"checks of case {case}"
        case ("world" | "answers" | "servers" | "persona" | "instructions", _, _):
            return f"{component} of case {case}"
        case ("tool", _, name):
            return f"tool {name}"
        case ("harness" | "grading", _, _):
            return "Seatrial itself"
        case _:
            return f"{component.replace(':', ' ')} of arm {arm}"


class _Cases:
    """The components that do not depend on the arm, each worked out once."""

    def __init__(
        self,
        fixtures: Mapping[str, Any],
        world_digests: Mapping[str, str],
        check_digests: Mapping[str, str],
        toolsets: dict[str, dict[str, str]],
        shown: Mapping[str, ShownTool] = MappingProxyType({}),
    ) -> None:
        self._fixtures = fixtures
        self._own_words = shown
        behind = {id: digest(behind_the_tools(found)) for id, found in fixtures.items()}
        files = {id: digest([behind[id], of]) for id, of in world_digests.items() if id in behind}
        self.behind = behind | files
        """Fixture → digest of all of it that is no part of what agents are shown of its tools."""
        self._check_files = check_digests
        self._toolsets = toolsets
        self._shown: dict[tuple[str, str | None, bool | None, str | None], str] = {}
        self._found: dict[str, dict[str, str]] = {}

    def of(self, case: Case) -> dict[str, str]:
        """The components of a case."""
        if case.id not in self._found:
            self._found[case.id] = self._components(case)
        return self._found[case.id]

    def _components(self, case: Case) -> dict[str, str]:
        written = case.model_dump(mode="json", by_alias=True, exclude_unset=True)
        met = {key: value for key, value in written.items() if key not in _ABOUT_THE_CASE}
        if case.turns or case.golden:
            met.pop("golden", None)
            met["turns"] = list(case.messages)
            if any(step.seconds is not None for step in case.script):
                met["seconds"] = [step.seconds for step in case.script]
        checks = [written.get("checks"), [t.get("checks") for t in written.get("turns", ())]]
        if case.golden:
            checks.append(
                [{k: v for k, v in g.items() if k not in _SAID} for g in written["golden"]]
            )
        if case.attack is not None:
            checks.append(written["attack"]["goal"])
            if case.attack.text is not None:
                met["attack"] = [case.attack.text, written["attack"]["place"]]
        files = self._check_files.get(case.id)
        components = {
            "case": digest(met),
            "checks": digest([checks, files] if files else checks),
            "grading": GRADING,
            "world": self.behind[case.world],
        }
        if case.answers is not None:
            components["answers"] = self.behind[case.answers]
        if case.persona:
            components["persona"] = digest([self.behind[id] for id in case.persona])
        if case.servers:
            components["servers"] = digest([self.behind[id] for id in case.servers])
        world = self._fixtures[case.world]
        if isinstance(world, World):
            components["tools"] = self._tools(world, case)
            if world.instructions:
                components["instructions"] = digest(world.instructions)
        return components

    def _tools(self, world: World, case: Case) -> str:
        key = (world.id, case.role, case.see_refused, case.purpose)
        if key not in self._shown:
            tools = tools_shown(world, case.role, case.see_refused, self._own_words, case.purpose)
            self._shown[key] = digest(tools)
            self._toolsets[self._shown[key]] = tools
        return self._shown[key]


def _of_arm(arm: Arm, source_digests: Mapping[str, str]) -> dict[str, str]:
    components = {
        "adapter": digest(arm.adapter),
        "settings": digest(arm.settings),
        "harness": HARNESS,
    }
    if arm.model is not None:
        components["model"] = digest(arm.model)
    if arm.skills:
        components["skills"] = digest(arm.model_dump(mode="json")["skills"])
    return components | {f"source:{name}": value for name, value in source_digests.items()}
