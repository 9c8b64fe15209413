"""The rules between documents: what one names, another must be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from seatrial.documents import (
    Answers,
    Arm,
    Case,
    Kind,
    Payloads,
    Persona,
    PriceList,
    Selector,
    Server,
    Suite,
    World,
)
from seatrial.errors import Problem
from seatrial.loading.attacks import attacks
from seatrial.loading.braces import unknown_placeholders
from seatrial.loading.conversations import people_who_cannot_talk
from seatrial.loading.disclosures import nothing_locked, told_by_mocks
from seatrial.loading.expectations import (
    impossible_expectations,
    unknown_shown_tools,
    unknown_skills,
)
from seatrial.loading.library import Draft, Found, Library
from seatrial.loading.mistakes import LONGEST, MOST_TOLD, Mistake, closest, cut, told
from seatrial.loading.mocks import mock_mistakes
from seatrial.loading.operands import unusable_schemas
from seatrial.loading.places import Steps, Woven
from seatrial.loading.servers import mocks_where_none_may_be, tools_of_one_name
from seatrial.loading.versions import deployed_twice, unknown_versions


def broken_rules(library: Library) -> list[Problem]:
    """Everything that is wrong between documents that are right by themselves."""
    problems: dict[str, list[Problem]] = defaultdict(list)
    inherited: set[Problem] = set()
    for rule in RULES:
        for draft, mistake in rule(library):
            of_file = problems[draft.path]
            if len(of_file) <= MOST_TOLD:
                problem = mistake.placed(draft.places)
                if isinstance(draft.places, Woven):  # many may inherit it, and it is one mistake
                    if problem in inherited:
                        continue
                    inherited.add(problem)
                of_file.append(problem)
    return [problem for of_file in problems.values() for problem in told(of_file)]


def dangling_ids(library: Library) -> Found:
    """What a case, an arm or a suite names is not there, or is something else."""
    for draft, case in library.of(Case):
        yield from _fixture(library, draft, ("world",), case.world, World)
        if case.answers is not None:
            yield from _fixture(library, draft, ("answers",), case.answers, Answers)
        if case.attack is not None and case.attack.payloads is not None:
            steps = ("attack", "payloads")
            yield from _fixture(library, draft, steps, case.attack.payloads, Payloads)
        for index, id in enumerate(case.servers):
            yield from _fixture(library, draft, ("servers", index), id, Server)
        for index, id in enumerate(case.persona):
            yield from _fixture(library, draft, ("persona", index), id, Persona)
    for draft, arm in library.of(Arm):
        for index, id in enumerate(arm.servers):
            yield from _fixture(library, draft, ("servers", index), id, Server)
    for draft, suite in library.of(Suite):
        for key, entries in (("cases", suite.cases), ("must_tie", suite.must_tie)):
            for index, entry in enumerate(entries):
                if isinstance(entry, str):
                    yield from _dangling(library, draft, (key, index), "case", entry)
                elif entry.suite is not None:
                    taken: Steps = (key, index, "suite")
                    yield from _dangling(library, draft, taken, "suite", entry.suite)
        for index, id in enumerate(suite.arms):
            yield from _dangling(library, draft, ("arms", index), "arm", id)


def suites_in_a_circle(library: Library) -> Found:
    """A suite that takes itself in, through others or not."""
    taken = {
        suite.id: [e.suite for e in suite.cases if isinstance(e, Selector) and e.suite is not None]
        for _, suite in library.of(Suite)
    }
    for draft, suite in library.of(Suite):
        for index, entry in enumerate(suite.cases):
            if isinstance(entry, str) or entry.suite is None:
                continue
            seen, waiting = set[str](), [entry.suite]
            while waiting and suite.id not in seen:
                one = waiting.pop()
                if one not in seen:
                    seen.add(one)
                    waiting += taken.get(one, ())
            if suite.id in seen:
                through = "" if entry.suite == suite.id else f", through `{entry.suite}`"
                message = f"suite `{suite.id}` takes itself in{through}"
                yield draft, Mistake(("cases", index, "suite"), message, code="takes-itself-in")


def _fixture(
    library: Library,
    draft: Draft,
    steps: Steps,
    id: str,
    wanted: type[World] | type[Answers] | type[Server] | type[Payloads] | type[Persona],
) -> Found:
    fixture = library.drafts.get(("fixture", id))
    if fixture is None:
        yield from _dangling(library, draft, steps, "fixture", id)
    elif not isinstance(fixture.document, wanted):
        types: dict[type, str] = {
            World: "world",
            Answers: "answers",
            Server: "server",
            Payloads: "payloads",
            Persona: "persona",
            PriceList: "prices",
        }
        expected = types[wanted]
        found = next(name for type, name in types.items() if isinstance(fixture.document, type))
        message = f"fixture `{id}` is of type `{found}`, expected `{expected}`"
        yield draft, Mistake(steps, message, code="wrong-fixture")


def _dangling(library: Library, draft: Draft, steps: Steps, kind: Kind, id: str) -> Found:
    if library.reuse.is_abstract(kind, id):
        message = f"{kind} `{id}` is abstract: it can only be extended"
        yield draft, Mistake(steps, message, code="dangling-id")
        return
    if (kind, id) in library.places_of_ids or id in library.loose_ids:
        return
    if kind == "case" and library.is_variant(id):
        return
    guess = closest(id, library.ids(kind))
    message = f"there is no {kind} `{id}`" + (f"; did you mean `{guess}`?" if guess else "")
    yield draft, Mistake(steps, message, code="dangling-id")


def roles(library: Library) -> Found:
    """A case acts under a role that its world does not have, or under none where there are roles."""
    for draft, case in library.of(Case):
        world = library.world_of(case)
        if world is None:
            continue
        known = ", ".join(f"`{name}`" for name in world.roles)
        if case.role is None and world.roles:
            hint = f"Roles of world `{world.id}`: {known}"
            yield draft, Mistake((), "missing key `role`", hint, "missing-role")
        elif case.role is not None and case.role not in world.roles:
            guess = closest(case.role, world.roles)
            message = f"world `{world.id}` has no role `{case.role}`"
            if guess:
                message += f"; did you mean `{guess}`?"
            hint = "" if guess else f"It has {known}" if known else "Leave `role` out"
            yield draft, Mistake(("role",), message, hint, "unknown-role")


def roles_of_servers(library: Library) -> Found:
    """A case acts under a role that one of its servers does not name: it may call nothing there."""
    told: set[tuple[str, str | None]] = set()
    for draft, case in library.of(Case):
        for _, server in library.servers_of(case):
            if (
                server.roles
                and case.role not in server.roles
                and (server.id, case.role) not in told
            ):
                told.add((server.id, case.role))
                who = f"role `{case.role}`" if case.role is not None else "a case without a role"
                message = (
                    f"server `{server.id}` says nothing of {who}, which may call nothing there"
                )
                known = ", ".join(f"`{name}`" for name in server.roles)
                hint = f"It names {known}; write an empty `allow` where nothing is what is meant"
                steps = ("role",) if case.role is not None else ()
                yield draft, Mistake(steps, message, hint, "role-of-server")


def purposes(library: Library) -> Found:
    """A case acts under a purpose that its world does not have, or that its role may not act under."""
    for draft, case in library.of(Case):
        world = library.world_of(case)
        if world is None or case.purpose is None:
            continue
        known = world.declared_purposes()
        if case.purpose not in known:
            message = f"world `{world.id}` has no purpose `{cut(case.purpose)}`"
            yield draft, _unknown_purpose(case.purpose, known, message)
        elif case.role in world.roles:
            own = world.roles[case.role].purposes
            if case.purpose not in own:
                message = f"role `{case.role}` may not act under the purpose `{case.purpose}`"
                yield draft, _unknown_purpose(case.purpose, own, message)


def _unknown_purpose(purpose: str, known: Iterable[str], message: str) -> Mistake:
    guess = closest(purpose, known)
    if guess:
        message += f"; did you mean `{guess}`?"
    listed = ", ".join(f"`{name}`" for name in known)
    hint = "" if guess else f"There are {listed}" if listed else "Leave `purpose` out"
    return Mistake(("purpose",), message, hint, "unknown-purpose")


def arms_of_no_agent(library: Library) -> Found:
    """A suite names its arms, and none of them is of the agent of one of its required cases."""
    if not library.complete:
        return
    catalog = library.catalog()
    for draft, suite in library.of(Suite):
        agents = {catalog.arms[id].agent for id in suite.arms if id in catalog.arms}
        if not agents:
            continue
        for case in catalog.suite_cases(catalog.suites[suite.id]):
            if case.required and case.agent not in agents:
                message = (
                    f"none of these arms is of agent `{case.agent}`, so that the required case "
                    f"`{case.id}` is not run"
                )
                yield draft, Mistake(("arms",), message, "Name one, or leave `arms` out", "no-arm")
                break


def empty_selectors(library: Library) -> Found:
    """A suite's selector chooses no case. Not said while documents are broken: it may be theirs."""
    if not library.complete:
        return
    catalog = library.catalog()
    for draft, suite in library.of(Suite):
        for index, entry in enumerate(suite.cases):
            if (
                isinstance(entry, Selector)
                and entry.suite is None  # which tells of its own
                and not any(catalog.fits(case, entry) for case in catalog.cases.values())
            ):
                message = "this selector chooses no case"
                yield draft, Mistake(("cases", index), message, code="empty-selector")


def ties_outside(library: Library) -> Found:
    """A suite wants cases to tie that it does not have. Not said while documents are broken."""
    if not library.complete:
        return
    catalog = library.catalog()
    for draft, suite in library.of(Suite):
        if any(isinstance(entry, str) and not catalog.named(entry) for entry in suite.cases):
            continue  # said already; it may be the one that is meant
        cases = catalog.suite_cases(catalog.suites[suite.id])
        for index, entry in enumerate(suite.must_tie):
            steps = ("must_tie", index)
            if isinstance(entry, str):
                known = set(catalog.named(entry))
                if known and not any(case.id in known for case in cases):
                    message = f"this suite has no case `{entry}`"
                    yield draft, Mistake(steps, message, code="outside-suite")
            elif entry.suite is None and not any(catalog.fits(case, entry) for case in cases):
                message = "this selector chooses no case of this suite"
                yield draft, Mistake(steps, message, code="empty-selector")


def broken_worlds(library: Library) -> Found:
    """A world whose parts do not fit each other."""
    for draft, world in library.of(World):
        for path, message in library.problems_of(world):
            steps = draft.places.steps(path)
            yield draft, Mistake(steps, f"`{cut(path)}`: {cut(message, LONGEST)}", code="world")


RULES = (
    broken_worlds,
    dangling_ids,
    roles,
    purposes,
    roles_of_servers,
    impossible_expectations,
    people_who_cannot_talk,
    nothing_locked,
    told_by_mocks,
    attacks,
    mock_mistakes,
    mocks_where_none_may_be,
    tools_of_one_name,
    unknown_skills,
    unknown_shown_tools,
    unknown_versions,
    deployed_twice,
    unknown_placeholders,
    unusable_schemas,
    suites_in_a_circle,
    arms_of_no_agent,
    empty_selectors,
    ties_outside,
)
