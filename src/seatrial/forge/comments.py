"""The comment on a pull request as Markdown: the ruling first, then the worst cases, then what is left, folded.

It stays within a budget and says what it left out. Text of agents and documents is escaped prose or stands in a
fence: it mentions nobody, links nowhere, shows no image and ends no marker.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from seatrial import markdown
from seatrial.compare import CaseComparison, Comparison, Tally
from seatrial.escaping import clipped, fenced, prose, verbatim
from seatrial.forge.model import Forge, Subject
from seatrial.gate import Ruling

SHOWN = 10
"""Cases that are told with their step; the others stand in a folded table."""

_COLUMNS = ("case", "outcome", "baseline", "candidate", "what the trials say")
_PROSE_SHOWN = 600
_QUOTE_SHOWN = 1_500
_RESERVE = 600
"""Bytes kept for the sentences on what is left out."""
_PLACE = re.compile(r"(?P<path>[^:]+):(?P<line>\d{1,9}):\d{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is told of a ruling."""

    ruling: Ruling
    comparison: Comparison | None = None
    """What it was made from; without it there are the grounds alone."""
    cases: Sequence[CaseComparison] = ()
    """Those that a reviewer must look at, the worst first."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Case → the command that runs it again."""
    report: str = ""
    """Where the report is served, the folder or its `index.html`; empty where it is not."""
    revision: str = ""
    """The commit that was run, shortened, and whether the work tree differed from it; empty where that is not known."""
    folder: str = ""
    """Where the places of expectations begin within the repository; empty at its root."""


def marker(context: str) -> str:
    """The line, unseen when it is shown, by which the comment of this status is found again."""
    return f"<!-- seatrial {quote(context, safe='/ ')} -->"


def started(subject: Subject, mark: str, url: str) -> str:
    """The comment while trials are run."""
    return _joined(
        [
            mark,
            "## ⏳ Gate: trials are running",
            f"Nothing is ruled yet about {_commit(subject)}. {_see('Their progress', url)}".rstrip(),
        ]
    )


def unruled(subject: Subject, mark: str, why: str, url: str) -> str:
    """The comment where it ended without a ruling."""
    return _joined(
        [
            mark,
            "## ⚪ No ruling",
            f"{_prose(why)}",
            f"That is neither a pass nor a failure of {_commit(subject)}. {_see('The log', url)}".rstrip(),
        ]
    )


def self_reported(subject: Subject) -> str:
    """What stands before the ruling of a run that whoever proposes the change controls."""
    return (
        "> [!CAUTION]\n> **Self-reported by an untrusted run of a fork.** Whoever wrote this change decided what that "
        "run did, so this opens no gate. A maintainer who has read the change runs the commit "
        f"{_commit(subject)} by hand: the workflow's form, with the number of this pull request and the whole name "
        "of the commit."
    )


def ruled(
    told: Told, forge: Forge, subject: Subject, mark: str, url: str, *, caution: str = ""
) -> str:
    """The comment on a ruling, of at most `forge.comment_bytes` bytes.

    Args:
        told: the ruling and the cases.
        forge: has the limit, and links lines of files.
        subject: the change.
        mark: the line it begins with.
        url: where the status leads.
        caution: Markdown that stands before all of it.
    """
    before = [mark, caution] if caution else [mark]
    parts = [*before, *_head(told.ruling, forge.comment_bytes // 4), _about(told, subject, url)]
    left = forge.comment_bytes - _RESERVE - markdown.size(parts)
    first = [_case(told, case, forge) for case in told.cases[:SHOWN]]
    shown, left = markdown.fitting(first, left)
    if shown:
        parts += ["### To look at", *shown]
    rest = told.cases[len(shown) :]
    rows = [_row(case) for case in rest]
    fit, _ = markdown.fitting([markdown.row(row) for row in rows], left - 300)
    if fit:
        title = f"{len(fit)} more to look at"
        parts.append(markdown.folded(title, _COLUMNS, rows[: len(fit)]))
    if len(fit) < len(rest):
        parts.append(
            f"{len(rest) - len(fit)} cases to look at are left out here; the report and "
            "`seatrial compare` have them all."
        )
    return _joined(parts)


def _head(ruling: Ruling, budget: int) -> Iterator[str]:
    yield markdown.heading(ruling, _PROSE_SHOWN)
    yield from markdown.grounds(ruling, _PROSE_SHOWN, budget)


def _about(told: Told, subject: Subject, url: str) -> str:
    lines = []
    if (comparison := told.comparison) is not None:
        candidate = f"{comparison.candidate_arm} {comparison.candidate_version}".rstrip()
        ran = f", of commit {_prose(told.revision)}" if told.revision else ""
        lines.append(
            f"Candidate **{_prose(candidate)}** for {_commit(subject)} (suite {_prose(comparison.suite)}, "
            f"run {_prose(comparison.run)}{ran}) against {_baseline(comparison)}."
        )
        counts = Counter(case.outcome.value for case in comparison.cases)
        if counts:
            lines.append(" · ".join(f"{count} {what}" for what, count in counts.most_common()))
    else:
        lines.append(f"For {_commit(subject)}.")
    pages = [("The report", told.report), ("The run", url if url != told.report else "")]
    lines.append(" ".join(see for what, where in pages if (see := _see(what, where))))
    return "\n\n".join(line for line in lines if line)


def _baseline(comparison: Comparison) -> str:
    baseline = comparison.baseline
    if baseline is None:
        return "no baseline"
    approved = f", approved by {baseline.approved_by}" if baseline.approved_by else ""
    if baseline.override:
        approved += f", though its gate was not open: {baseline.override}"
    return f"**{_prose(f'{baseline.arm} {baseline.version}'.rstrip())}**{_prose(approved)}"


def _case(told: Told, case: CaseComparison, forge: Forge) -> str:
    name = f"**{_prose(case.case)}**"
    if told.report and (page := _page(told.report, case.case)):
        name = f"[{name}]({page})"
    lines = [
        f"{name} {markdown.outcome(case)}: {_prose(case.sentence)}",
        f"Baseline {_rate(case.baseline)}, candidate {_rate(case.candidate)}.",
    ]
    if worst := case.worst:
        place = f", expected at {_place(told, worst.place, forge)}" if worst.place else ""
        lines += [
            f"{markdown.step(worst)}: {_prose(worst.check)}{place}",
            fenced(clipped(worst.reason, _QUOTE_SHOWN)),
        ]
    if command := told.commands.get(case.case):
        lines.append(verbatim(clipped(command, _QUOTE_SHOWN)))
    return "\n\n".join(lines)


def _place(told: Told, place: str, forge: Forge) -> str:
    """Where an expectation stands, as a link where it is a file of the repository."""
    found = _PLACE.fullmatch(place)
    if found is None or ".." in found["path"].split("/") or found["path"].startswith("/"):
        return _prose(place)
    path = f"{told.folder}/{found['path']}" if told.folder else found["path"]
    link = forge.link(path, int(found["line"]))
    return f"[{_prose(place)}]({_address(link)})" if link else _prose(place)


def _page(report: str, case: str) -> str:
    """The page of a case in the report's site."""
    folder = report.removesuffix("index.html")
    return _address(f"{folder}case.html?id={quote(case, safe='')}") if folder.endswith("/") else ""


def _row(case: CaseComparison) -> tuple[str, ...]:
    return (
        _prose(case.case), markdown.outcome(case), _rate(case.baseline), _rate(case.candidate),
        _prose(case.sentence),
    )  # fmt: skip


def _rate(tally: Tally | None) -> str:
    return markdown.rate(tally, in_full=False)


def _commit(subject: Subject) -> str:
    return f"`{subject.commit[:12]}`"


def _see(what: str, url: str) -> str:
    return f"[{what}]({_address(url)})" if url else ""


def _address(url: str) -> str:
    """An address that ends where it should within Markdown."""
    return quote(url, safe="/:?&=#%+,;@~!$*'")


def _prose(text: str) -> str:
    return prose(clipped(text, _PROSE_SHOWN))


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"
