"""The reference pages are what the code says."""

import importlib.util
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


def test_every_link_between_the_docs_leads_somewhere():
    import re

    for page in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
