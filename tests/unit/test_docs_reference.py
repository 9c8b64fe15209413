"""The reference pages are what the code says."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def _pages():
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAGES


@pytest.mark.parametrize(("name", "write"), _pages().items())
def test_a_generated_page_is_up_to_date(name, write):
    page = DOCS / "reference" / f"{name}.md"
    assert page.read_text(encoding="utf-8") == write(), "run `make docs`"


LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


def _links(page: Path):
    """File and anchor of every link of a page to a file of the repository."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page.resolve(), anchor


def test_every_page_is_reached_from_the_readme():
    reached, waiting = set(), [PAGES[0].resolve()]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            waiting += [file for file, _ in _links(page)]

    assert [page.name for page in PAGES if page.resolve() not in reached] == []


def test_every_link_between_the_docs_leads_somewhere():
    for page in PAGES:
        for file, anchor in _links(page):
            assert file.exists(), f"{page.name} links to {file}"
            if anchor:
                found = {_slug(h) for h in re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.M)}
                assert anchor in found, f"{page.name} links to #{anchor} of {file.name}"


def _slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
