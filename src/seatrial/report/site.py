"""The static site: a few pages by MkDocs and Material, the data beside them, and nothing from elsewhere.

MkDocs runs as a process of its own on a folder of plain files, so that whatever builds Markdown with
Material's theme can take its place. The site opens from the file system: no request leaves it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from seatrial.errors import StorageError, UsageError
from seatrial.escaping import embedded_json, script_data
from seatrial.report.casefile import case_file, raw_file
from seatrial.report.evidence import Evidence
from seatrial.report.overview import regression, table
from seatrial.report.pages import pages
from seatrial.report.policy import with_policy

MARKER = ".seatrial-report"
"""Lies in every site of ours: only a folder that has it is ever overwritten."""

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_MKDOCS_SECONDS = 300

_PALETTE = (
    {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "blue-grey",
     "toggle": {"icon": "material/weather-night", "name": "Dark"}},
    {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "blue-grey",
     "toggle": {"icon": "material/weather-sunny", "name": "Light"}},
)  # fmt: skip

_CONFIGURATION: Mapping[str, Any] = {
    "site_name": "Seatrial report",
    "docs_dir": "docs",
    "site_dir": "site",
    "use_directory_urls": False,
    "plugins": [],
    "theme": {
        "name": "material",
        "font": False,
        "features": ["navigation.tabs"],
        "icon": {"logo": "material/sail-boat"},
        "palette": list(_PALETTE),
    },
    "extra": {"generator": False},
    "extra_css": ["assets/report/report.css"],
    "nav": [{"Overview": "index.md"}, {"Regressions": "regressions.md"}],
    "not_in_nav": "case.md",
    "validation": {"unrecognized_links": "ignore"},
}

_POLICY = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True, slots=True)
class Site:
    """A site that was built."""

    index: Path
    """The page to open."""
    paged: int
    """Cases with a page of their own."""
    concerns: int
    """Cases a reviewer must look at."""


def build(evidence: Evidence, folder: Path, *, kept_out_of_git: bool = False) -> Site:
    """Build the site in `folder`, which is replaced as a whole once everything is there.

    Args:
        evidence: what the site tells.
        folder: where it goes.
        kept_out_of_git: git is told to ignore the folder, so that a report in the work tree of the
            next run is no difference from its commit.

    Raises:
        UsageError: the folder holds something that is no report.
        StorageError: the site cannot be written.
    """
    _refuse_what_is_not_ours(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _beside(folder) as work:
            site = work / "site"
            ordered = evidence.worst_first()
            paged = [case for case in ordered if evidence.has_page(case)]
            names = frozenset(case.case for case in paged)
            concerns = sum(evidence.concern(case) is not None for case in ordered)
            _render(work, pages(evidence, names, concerns))
            _write(
                site / "data" / "table.js",
                script_data("seatrialTable", table(evidence, ordered, names)),
            )
            regressions = []
            for case in paged:
                traced = evidence.traced(case.case)
                data = case_file(evidence, case, traced)
                name = _file_name(case.case)
                _write(site / "data" / f"{name}.js", script_data("seatrialCase", data))
                _write(
                    site / "data" / "raw" / f"{name}.json",
                    embedded_json(raw_file(case, traced)),
                )
                if evidence.concern(case):
                    regressions.append(regression(evidence, case, data))
            _write(
                site / "data" / "regressions.js", script_data("seatrialRegressions", regressions)
            )
            _write(site / MARKER, "Built by `seatrial report`; the next report replaces it.\n")
            if kept_out_of_git:
                _write(site / ".gitignore", "*\n")
            _exchange(site, folder, work / "before")
    except OSError as error:
        raise StorageError(
            f"the report cannot be written to {folder}: {error.strerror or error}",
            hint="free some space or name another folder with --site",
        ) from error
    return Site(folder / "index.html", len(paged), concerns)


def _render(work: Path, markdown: Mapping[str, str]) -> None:
    """Have MkDocs make `work/site` from the pages and our assets, and take off what is not needed."""
    docs = work / "docs"
    for name, text in markdown.items():
        _write(docs / name, text)
    with resources.as_file(resources.files("seatrial.report") / "assets") as assets:
        shutil.copytree(assets, docs / "assets" / "report")
    # JSON is YAML, too.
    _write(work / "mkdocs.yml", json.dumps(_CONFIGURATION))
    _run_mkdocs(work)
    site = work / "site"
    shutil.rmtree(site / "assets" / "javascripts" / "lunr", ignore_errors=True)
    shutil.rmtree(site / "assets" / "javascripts" / "workers", ignore_errors=True)
    for needless in (*site.rglob("*.map"), *site.glob("sitemap.xml*"), *site.glob("404.html")):
        needless.unlink()
    for page in site.glob("*.html"):
        _write(page, with_policy(page.read_text(encoding="utf-8"), _POLICY))


def _run_mkdocs(work: Path) -> None:
    # Not from the caller's folder (-P): a folder there called `material` is not the theme.
    command = [sys.executable, "-P", "-m", "mkdocs", "build", "--quiet", "--strict"]
    done = subprocess.run(
        command,
        cwd=work,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_MKDOCS_SECONDS,
        check=False,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise StorageError(
            f"MkDocs could not build the report: {said[-1] if said else 'no reason'}"
        )


def _file_name(case: str) -> str:
    """The name of a case's files; a stored baseline comes from elsewhere, its ids are no paths yet."""
    if not _ID.fullmatch(case):
        raise StorageError(f"the run names a case {case!r}, which is no id of a case")
    return f"case-{case}"


def _refuse_what_is_not_ours(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file", hint="name a folder with --site")
    if any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise UsageError(
            f"{folder} holds something that is not a report of Seatrial",
            hint="name an empty or a new folder with --site, or empty this one",
        )


@contextlib.contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A folder to work in on the same disk as `folder`, gone afterwards."""
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _exchange(new: Path, folder: Path, before: Path) -> None:
    if folder.exists():
        folder.rename(before)
    new.rename(folder)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
