"""The Markdown pages of the report: what can be read without a script.

A page holds numbers, sentences of ours, and what documents and the baseline say of themselves, each
value through `page_text`. What agents wrote is never in a page, only in the data beside it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from seatrial.compare import PassK, Ties
from seatrial.escaping import character_references, page_text
from seatrial.report.evidence import Evidence, headline
from seatrial.report.overview import invalid_causes, percent, points, selection_reasons, shown

PAGES = ("index.md", "regressions.md", "case.md")

_CASES_SHOWN = 12
_ROWS_SHOWN = 40
_Link = Callable[[str], str]
"""The address of a case's page; empty where it has none."""

_EFFECTS = {"closed": "closes", "undecided": "undecided", "warning": "warning", "note": "note"}


def pages(evidence: Evidence, paged: frozenset[str], concerns: int) -> dict[str, str]:
    """Each page by its file name.

    Args:
        evidence: what is reported.
        paged: the cases that have a page of their own.
        concerns: how many cases a reviewer must look at.
    """
    values = _values(evidence, len(paged), lambda case: _link(case) if case in paged else "")
    return {
        page: _environment().get_template(page).render(values, concerns=concerns) for page in PAGES
    }


def whole_page(evidence: Evidence, shown_here: frozenset[str], **more: Any) -> str:
    """The one page of HTML that holds everything: what the overview tells, then the cases.

    Args:
        evidence: what is reported.
        shown_here: the cases whose trials are on the page.
        more: what else the template names; `Markup` is put on the page as it is.
    """
    values = _values(
        evidence, len(shown_here), lambda case: f"#case-{case}" if case in shown_here else ""
    )
    return _environment().get_template("single.html").render(values, **more)


def _environment() -> Environment:
    return Environment(
        autoescape=False,  # `finalize` is stricter: Markdown reads the page before HTML does
        finalize=_escaped,
        loader=FunctionLoader(_template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _escaped(value: Any) -> str:
    return str(value) if isinstance(value, Markup) else page_text(str(value))


def _template(name: str) -> str:
    path = resources.files("seatrial.report") / "templates" / f"{name}.jinja"
    return path.read_text(encoding="utf-8")


def _values(evidence: Evidence, paged: int, link: _Link) -> dict[str, Any]:
    comparison = evidence.comparison
    manifest = evidence.runs["candidate"].manifest
    counts = Counter(case.outcome.value for case in comparison.cases)
    return {
        "ruling": evidence.ruling,
        "headline": headline(evidence.ruling),
        "grounds": [
            {
                "effect": ground.effect,
                "word": _EFFECTS[ground.effect],
                "text": _linked(shown(ground.text), ground.cases, link),
            }
            for ground in evidence.ruling.grounds
        ],
        "comparison": comparison,
        "baseline": comparison.baseline,
        "why_no_baseline": evidence.why_no_baseline,
        "manifest": manifest,
        "revision": evidence.revision(),
        "counts": counts.most_common(),
        "total": len(comparison.cases),
        "paged": paged,
        "selected": len(manifest.selected()),
        "planned": len(manifest.plan),
        "reasons": selection_reasons(evidence)[:6],
        "overall": comparison.overall,
        "cut_short": [(case, link(case)) for case in comparison.cut_short[:_CASES_SHOWN]],
        "cut_more": max(0, len(comparison.cut_short) - _CASES_SHOWN),
        "tables": [
            {
                "by": table.by,
                "rows": table.rows[:_ROWS_SHOWN],
                "more": max(0, len(table.rows) - _ROWS_SHOWN),
            }
            for table in comparison.tables
        ],
        "ties": _ties(comparison.ties, link) if comparison.ties else None,
        "shown": shown,
        "pass_k": _pass_k(comparison.pass_k),
        "invalid": [
            {
                "cause": cause.replace("_", " "),
                "candidate": sides["candidate"].total(),
                "baseline": sides["baseline"].total(),
                "cases": [
                    (case, link(case))
                    for case, _ in (sides["candidate"] + sides["baseline"]).most_common(
                        _CASES_SHOWN
                    )
                ],
                "more": max(0, len(sides["candidate"] + sides["baseline"]) - _CASES_SHOWN),
            }
            for cause, sides in invalid_causes(evidence)
        ],
        "percent": percent,
        "points": points,
    }


def _link(case: str) -> str:
    return f"case.html?id={quote(case, safe='')}"


def _linked(text: str, cases: Sequence[str], link: _Link) -> Markup:
    """A ground's text, each of its cases a link where it is named, the others after it."""
    line = " ".join(text.split())
    longest_first = sorted(cases, key=len, reverse=True)
    names = "|".join(map(re.escape, longest_first)) or "(?!)"
    parts, end, named = [], 0, set()
    for found in re.finditer(rf"(?<![\w.-])(?:{names})(?![\w-])", line):
        parts += [character_references(line[end : found.start()]), _anchor(found[0], link)]
        named.add(found[0])
        end = found.end()
    parts.append(character_references(line[end:]))
    unnamed = [case for case in cases if case not in named]
    parts += [f" {_anchor(case, link)}" for case in unnamed[:_CASES_SHOWN]]
    if len(unnamed) > _CASES_SHOWN:
        parts.append(f" and {len(unnamed) - _CASES_SHOWN} more")
    return Markup("".join(parts))


def _anchor(case: str, link: _Link) -> str:
    address, shown_id = link(case), page_text(case)
    return f'<a href="{page_text(address)}">{shown_id}</a>' if address else shown_id


def _ties(ties: Ties, link: _Link) -> dict[str, Any]:
    moved = [tie for tie in ties.cases if tie.moved]
    return {
        "declared": len(ties.cases),
        "moved": len(moved),
        "untested": sum(tie.p is None for tie in ties.cases),
        "drop": ties.drop,
        "p": ties.p_together,
        "hidden": ties.hidden,
        "together": ties.moved_together,
        "cases": [(tie.case, link(tie.case), tie.p) for tie in moved[:_CASES_SHOWN]],
    }


def _pass_k(by_side: dict[str, tuple[PassK, ...]]) -> list[dict[str, Any]]:
    rows: dict[int, dict[str, Any]] = {}
    for side in ("baseline", "candidate"):
        for entry in by_side.get(side, ()):
            rows.setdefault(entry.k, {"k": entry.k, "baseline": None, "candidate": None})
            rows[entry.k][side] = entry
    return [rows[k] for k in sorted(rows)]
