"""The dependency record: what each case leaned on when its baseline was recorded."""

from __future__ import annotations

from collections.abc import Callable

from seatrial.baseline.resolving import Baseline, resolve
from seatrial.comparability import expanded
from seatrial.errors import NothingReleased
from seatrial.selection import Dependencies, Used
from seatrial.verdicts import Verdict
from seatrial.workspace import Workspace


def dependencies(found: Baseline) -> Dependencies:
    """Per case and batch of a baseline: which tools were called and listed, and under which conditions.

    Raises:
        BaselineError: a batch cannot be read.
    """
    cases: dict[str, list[Used]] = {}
    for run, arm in found.parts:
        manifest = run.manifest
        valid: dict[str, int] = {}
        called: dict[str, set[str]] = {}
        listed: dict[str, set[str]] = {}
        for record in run.records(arm):
            # A trial that broke off may not have come to call what it would have called.
            whole = record.verdict is not Verdict.INVALID
            valid[record.case] = valid.get(record.case, 0) + whole
            called.setdefault(record.case, set()).update(record.tools_used)
            listed.setdefault(record.case, set()).update(record.tools_listed)
        for case, count in valid.items():
            components = manifest.fingerprints.get(f"{case}@{arm}", {})
            used = Used(
                valid=count,
                conditions=expanded(components, manifest.toolsets),
                called=frozenset(called[case]),
                listed=frozenset(listed[case]),
            )
            cases.setdefault(case, []).append(used)
    return Dependencies(cases={case: tuple(used) for case, used in cases.items()})


def recalling(
    workspace: Workspace, spec: str | None, base: str | None = None
) -> Callable[[str, str], Dependencies | str]:
    """What `Workspace.select` asks for the dependency record of an agent in a suite.

    Args:
        workspace: where the baselines are.
        spec: the baseline, as `--baseline` names it; None for the newest release.
        base: the revision that the documents are compared with.
    """

    def recall(suite: str, agent: str) -> Dependencies | str:
        place = workspace.repository
        since = place.merge_base(base, "HEAD") if place is not None and base is not None else None
        try:
            found = resolve(spec, suite, agent, root=workspace.root, repository=place, since=since)
        except NothingReleased as error:
            return error.message
        return dependencies(found)

    return recall
