"""Mocked answers that could never be given, or that no tool has: of the document alone, and beside its cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from seatrial.documents import Answers, Case, MockedTool, Server, World, placeholders
from seatrial.documents.answers import Given
from seatrial.documents.conditions import Conditions
from seatrial.documents.world import DeclaredTool
from seatrial.loading.expectations import guessed, named_properties
from seatrial.loading.library import Found, Library
from seatrial.loading.mistakes import LONGEST, Mistake, closest, cut
from seatrial.loading.places import Steps
from seatrial.state.mocking import misfits, stale, unknown_arguments, why_not_mocked
from seatrial.state.schemas import schema_problem


def mock_mistakes(library: Library) -> Found:
    """Mocked answers that are never given, that no tool has, or that change what they may not."""
    for draft, answers in library.of(Answers):
        for mistake in _alone(answers):
            yield draft, mistake
    told: set[tuple[str, Mistake]] = set()
    for _, case in library.of(Case):
        for draft, mistake in _beside(library, case):
            if (key := (draft.path, mistake)) not in told:
                told.add(key)
                yield draft, mistake


# --- the document alone ---


def _alone(answers: Answers) -> Iterator[Mistake]:
    for name, tool in answers.tools.items():
        steps = ("tools", name)
        always: str | None = None
        for number, rule in enumerate(tool.rules):
            where = (*steps, "rules", number)
            if always is not None:
                message = f"is never reached: {always}, before it, fits every call"
                yield Mistake(where, message, "Put the more special rule first", "mock-unreachable")
            elif not rule.when and not rule.state:
                always = f"`rules[{number}]`"
            yield from _patterns(rule.when, (*where, "when"))
            yield from _patterns(rule.state, (*where, "state"))
            for path in rule.state:
                yield from _state(path, answers, (*where, "state", path), on_key=True)
        if always is not None and tool.says:
            message = f"is never given: {always} fits every call"
            yield Mistake((*steps, tool.says[0]), message, "", "mock-unreachable", True)
        for path, part in tool.parts():
            for key in ("put", "add"):
                for entry in getattr(part, key):
                    where = (*steps, *_steps(path), key, entry)
                    yield from _state(entry, answers, where, on_key=True)
        yield from _placeholders(answers, tool, steps)


def _patterns(conditions: Conditions, steps: Steps) -> Iterator[Mistake]:
    for path, condition in conditions.items():
        if condition.matches is not None:
            message = "`matches` is refused in mocked answers"
            hint = "Use `starts_with`, `contains` or `one_of`"
            yield Mistake((*steps, path, "matches"), message, hint, "mock-matches", on_key=True)


def _state(path: str, answers: Answers, steps: Steps, *, on_key: bool) -> Iterator[Mistake]:
    name = path.partition(".")[0]
    if name not in answers.state and path not in answers.state:
        message = f"there is no state `{cut(name)}`"
        guess = closest(name, answers.state)
        if guess:
            message += f"; did you mean `{guess}`?"
        hint = "" if guess else "Write what it is at the start under `state` of the fixture"
        yield Mistake(steps, message, hint, "mock-state", on_key)


def _placeholders(answers: Answers, tool: MockedTool, steps: Steps) -> Iterator[Mistake]:
    """State that is named in the texts and conditions of a tool."""
    for path, part in tool.parts():
        written: dict[Steps, Any] = {
            (key,): getattr(part, key) for key in ("answer", "error", "put")
        }
        if part.fail is not None:
            written["fail",] = part.fail.message
        for rule_key in ("when", "state"):
            for argument, condition in getattr(part, rule_key, {}).items():
                written[rule_key, argument] = [operand for _, operand in condition.operators]
        for keys, value in written.items():
            where = (*steps, *_steps(path), *keys)
            for name in dict.fromkeys(placeholders.names(value)):
                if name.startswith("state."):
                    yield from _state(name.removeprefix("state."), answers, where, on_key=False)


def _steps(path: str) -> Steps:
    """`rules[1].sequence[0]` as steps."""
    steps: list[str | int] = []
    for part in path.split(".") if path else ():
        key, _, number = part.rstrip("]").partition("[")
        steps += [key, int(number)]
    return tuple(steps)


# --- beside the cases that use it ---


def _beside(library: Library, case: Case) -> Found:
    """What is wrong with the answers of a case beside its world and its servers, as far as documents tell."""
    fixture = library.drafts.get(("fixture", case.answers or ""))
    world = library.world_of(case)
    if fixture is None or not isinstance(fixture.document, Answers) or world is None:
        return
    servers = [server for _, server in library.servers_of(case)]
    of_world = world.declared_tools()
    for name, tool in fixture.document.tools.items():
        for mistake in _unreachable(name, fixture.document.tool(name), case, servers):
            yield fixture, mistake
        for server in servers:
            if not server.is_started(case.environment, fixture.document.answered_here):
                for mistake in _undeclared(name, tool, server):
                    yield fixture, mistake
        declared, owner = _declared(name, world, of_world, servers)
        if declared is not None:
            for mistake in _of_tool(name, tool, declared, owner):
                yield fixture, mistake
            if declared.read_only is not False:
                for mistake in _beyond_rights(name, tool, world):
                    yield fixture, mistake
        elif of_world is not None and not servers:
            # Which tools real servers have is known when they run; `loading.servers` tells the rest.
            message = f"world `{world.id}`, which case `{case.id}` uses with these answers, offers no `{name}`"
            worded = guessed(message, name, of_world)
            yield fixture, Mistake(("tools", name), *worded, "unknown-tool", True)


def _unreachable(
    name: str, tool: MockedTool, case: Case, servers: Iterable[Server]
) -> Iterator[Mistake]:
    """Calls that are to be passed through to a server that is never started."""
    for server in servers:
        target = server.target(case.environment)
        if name in server.tools and target == "mock" and tool.passes_through:
            message = (
                f"`{name}` is passed through to server `{server.id}`, which is `mock` in environment "
                f"`{case.environment}` and never started"
            )
            hint = f"Write `targets: {{{case.environment}: pass_through}}` in fixture `{server.id}`"
            yield Mistake(("tools", name), message, hint, "mock-not-started", True)


def _undeclared(name: str, tool: MockedTool, server: Server) -> Iterator[Mistake]:
    """A tool of a server that is never started, so that its fixture is all there is to say what it does."""
    declared = server.tools.get(name)
    if declared is None or declared.read_only is not None:
        return
    if why_not_mocked(tool, read_only=None) is not None:
        message = f"`{name}` of server `{server.id}`, which is not started, does not say whether it only reads"
        hint = f"Write `read_only: true` in fixture `{server.id}`, or `allow_undeclared: true` and a `reason` here"
        yield Mistake(("tools", name), message, hint, "mock-not-read-only", True)


def _declared(
    name: str,
    world: World,
    of_world: Mapping[str, DeclaredTool] | None,
    servers: Iterable[Server],
) -> tuple[DeclaredTool | None, str]:
    """What documents say of a tool, and whose it is."""
    if of_world is not None and name in of_world:
        return of_world[name], f"world `{world.id}`"
    for server in servers:
        if name in server.tools:
            tool = server.tools[name]
            declared = DeclaredTool(tool.parameters, tool.read_only, tool.output)
            return declared, f"server `{server.id}`"
    return None, ""


def _of_tool(name: str, tool: MockedTool, declared: DeclaredTool, owner: str) -> Iterator[Mistake]:
    steps = ("tools", name)
    # What declares nothing here may do so when it runs.
    if declared.read_only is False and why_not_mocked(tool, read_only=False) is not None:
        message = f"`{name}` of {owner} changes something and cannot be mocked"
        hint = (
            "Only tools with `read_only: true` are mocked; others may be let through, late or failing: "
            "`pass_through`"
        )
        yield Mistake(steps, message, hint, "mock-not-read-only", True)
        return
    schemas = (declared.parameters, declared.output)
    if any(schema is not None and schema_problem(schema) for schema in schemas):
        return  # said of the world or the server itself
    outdated = stale(tool, *schemas)
    if outdated is not None and declared.parameters is not None:
        told = cut(outdated, LONGEST)
        message = f"the answers of `{name}` were not written for what {owner} declares; {told}"
        hint = "Look them over, and write what it declares now under `written_for`"
        yield Mistake((*steps, "written_for"), message, hint, "mock-stale", True)
        return
    if declared.output is not None:
        for path, sentence in misfits(tool, declared.output):
            told = cut(sentence, LONGEST)
            message = f"does not fit the output schema of `{name}` of {owner}: {told}"
            yield Mistake((*steps, *_inside(tool, path)), message, "", "mock-misfit")
    known = named_properties(declared.parameters or {})
    if known is not None:
        for path, sentence in unknown_arguments(tool, known):
            message = f"`{name}` of {owner}: {cut(sentence, LONGEST)}"
            yield Mistake((*steps, *_inside(tool, path)), message, "", "unknown-argument")


def _beyond_rights(name: str, tool: MockedTool, world: World) -> Iterator[Mistake]:
    """Rights over what a call works on: where the world does not answer, nobody asks for them."""
    for role_name, role in world.roles.items():
        if tool.invents and name in role.where:
            rule = f"roles.{role_name}.where.{name}"
            message = f"`{rule}` of world `{world.id}` is not asked where `{name}` is mocked"
            hint = "Mock another tool, or hold the condition over the arguments (`when`)"
            yield Mistake(("tools", name), message, hint, "mock-beyond-rights", True)


def _inside(tool: MockedTool, path: str) -> Steps:
    """A path inside a tool as steps; conditions have paths of their own, with dots in them."""
    for start, part in sorted(tool.parts(), key=lambda one: -len(one[0])):
        if start and path.startswith(f"{start}."):
            return (*_steps(start), *_keys(part, path.removeprefix(f"{start}.")))
    return _keys(tool, path)


def _keys(part: Given, path: str) -> Steps:
    key, _, rest = path.partition(".")
    return (key, rest) if rest else (key,)
