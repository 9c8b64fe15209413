"""What is locked from a case's role: looked for where nothing is, and told by mocked answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from seatrial.checks.secrets import Secrets, keys_in, secrets_of, texts_in
from seatrial.documents import Answers, Case, MockedTool, ObjectsWorld, World
from seatrial.documents.checks import LockedObjects, NotDisclosed
from seatrial.loading.library import Found, Library
from seatrial.loading.mistakes import Mistake, closest, cut
from seatrial.loading.places import Steps
from seatrial.state.access import allows


def nothing_locked(library: Library) -> Found:
    """Checks that look for locked values where the case's role sees everything they name."""
    known: dict[tuple[str, str | None, str | None, str], Secrets] = {}

    def secrets(check: NotDisclosed, world: World, case: Case) -> Secrets:
        key = (world.id, case.role, case.purpose, check.model_dump_json())
        if key not in known:
            known[key] = secrets_of(check, world, case.role, case.purpose)
        return known[key]

    for draft, case in library.of(Case):
        world = library.world_of(case)
        if world is None or (case.role is not None and case.role not in world.roles):
            continue
        if library.problems_of(world):
            continue  # what it locks is known when it is whole
        for path, _, check in case.placed_checks():
            if not isinstance(check, NotDisclosed):
                continue
            steps = draft.places.steps(path)
            wrong = list(_unknown(check, world, steps))
            for mistake in wrong:
                yield draft, mistake
            if wrong:
                continue
            if not secrets(check, world, case).any:
                yield draft, _nothing(check, world, case, steps)
                continue
            for index, of in enumerate(check.objects):
                alone = check.model_copy(update={"objects": (of,), "values": ()})
                if not secrets(alone, world, case).any:
                    yield draft, _nothing(alone, world, case, (*steps, "objects", index))


def told_by_mocks(library: Library) -> Found:
    """Mocked answers that tell a role what the world locks from it, in cases that do not look where it goes.

    No lock is asked for a mocked answer: such a case hands out what its world would have kept back. Where it has
    a check `not_disclosed`, that is what it is about.
    """
    known: dict[tuple[str, str, str | None], Secrets] = {}
    told: set[tuple[str, Mistake]] = set()
    everything = NotDisclosed(check="not_disclosed")
    for draft, case in library.of(Case):
        fixture = library.drafts.get(("fixture", case.answers or ""))
        world = library.world_of(case)
        if fixture is None or not isinstance(fixture.document, Answers):
            continue
        if not isinstance(world, ObjectsWorld) or not world.locks or case.role not in world.roles:
            continue
        if library.problems_of(world):
            continue
        if any(isinstance(check, NotDisclosed) for _, _, check in case.placed_checks()):
            continue
        key = (world.id, case.role, case.purpose)
        if key not in known:
            known[key] = secrets_of(everything, world, case.role, case.purpose)
        for name, tool in fixture.document.tools.items():
            places = sorted(
                secret.place
                for text in _told(tool)
                for secret in known[key].plainly_in(text)
                if allows(world.roles[case.role], name, case.purpose) or name not in world.actions
            )
            if not places:
                continue
            message = f"the mocked answers of `{name}` tell role `{case.role}` what is locked from it: {places[0]}"
            hint = (
                f"Take it out of `{fixture.document.id}`, or add a check `not_disclosed`, "
                "if the case is about what the agent does with it"
            )
            mistake = Mistake(("answers",), message, hint, "mock-tells-locked")
            if (draft.path, mistake) not in told:
                told.add((draft.path, mistake))
                yield draft, mistake


def _told(tool: MockedTool) -> Iterator[str]:
    """The texts of all answers of a tool, each by itself."""
    for _, part in tool.parts():
        values = [part.answer, part.error]
        yield from texts_in(values)
        yield from keys_in(values)


def _nothing(check: NotDisclosed, world: World, case: Case, steps: Steps) -> Mistake:
    if not isinstance(world, ObjectsWorld):
        message = f"world `{world.id}` of kind `{world.world}` does not say what is locked"
        return Mistake(steps, message, "Write the texts under `values`", "nothing-locked")
    who = f"role `{case.role}`" if case.role is not None else "a case without a role"
    under = f" under the purpose `{case.purpose}`" if case.purpose is not None else ""
    message = (
        f"nothing that is looked for here is locked from {who}{under}: the check could not fail"
    )
    hint = (
        f"Values of fewer than {check.shortest} letters and digits (`shortest`), and those that the "
        "world shows elsewhere, do not count"
    )
    return Mistake(steps, message, hint, "nothing-locked")


def _unknown(check: NotDisclosed, world: World, steps: Steps) -> Iterator[Mistake]:
    """Types, properties and keys that the world does not have."""
    if not isinstance(world, ObjectsWorld):
        return
    for index, of in enumerate(check.objects):
        where = (*steps, "objects", index)
        if of.type not in world.types:
            message = f"world `{world.id}` has no type `{cut(of.type)}`"
            yield _guess((*where, "type"), message, of.type, world.types, "unknown-type")
            continue
        yield from _unknown_of(of, world, where)


def _unknown_of(of: LockedObjects, world: ObjectsWorld, steps: Steps) -> Iterator[Mistake]:
    properties = world.types[of.type].properties
    for index, name in enumerate(of.properties):
        if name not in properties:
            message = f"type `{of.type}` has no property `{cut(name)}`"
            where = (*steps, "properties", index)
            yield _guess(where, message, name, properties, "unknown-property")
    keys = world.declared_keys(of.type)
    for index, key in enumerate(of.keys):
        if key not in keys:
            message = f"world `{world.id}` starts without {of.type} `{cut(key)}`"
            yield _guess((*steps, "keys", index), message, key, keys, "unknown-object")


def _guess(steps: Steps, message: str, word: str, known: Collection[str], code: str) -> Mistake:
    guess = closest(word, known)
    return Mistake(steps, f"{message}; did you mean `{guess}`?" if guess else message, code=code)
