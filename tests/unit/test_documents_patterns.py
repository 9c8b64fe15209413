"""What a pattern of files means."""

import pytest
from pydantic import ValidationError

from seatrial.documents import Arm
from seatrial.documents.patterns import escapes, literal, matches


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("prompts/a.md", "prompts/a.md", True),
        ("prompts/a.md", "prompts/a.mdx", False),
        ("prompts", "prompts/x/a.md", True),
        ("./prompts/", "prompts/a.md", True),
        ("prompts", "prompts2/a.md", False),
        ("prompts/*.md", "prompts/a.md", True),
        ("prompts/*.md", "prompts/x/a.md", False),
        ("prompts/**/*.md", "prompts/a.md", True),
        ("prompts/**/*.md", "prompts/x/y/a.md", True),
        ("**/*.md", "a.md", True),
        ("prompts/**", "prompts/x/a.md", True),
        ("prompts/**", "prompts", False),
        ("p?", "pa", True),
        ("p?", "p/", False),
        ("[!a]x", "bx", True),
        ("[z-a]", "z", False),
        ("A.md", "a.md", False),
        ("ü/*", "ü/ß", True),
    ],
)
def test_pattern_fits(pattern: str, path: str, fits: bool):
    assert matches(pattern, path) is fits


@pytest.mark.parametrize("pattern", ["/etc/x", "../x", "a/../x", "~/x", "", ".", "a\\b"])
def test_pattern_out_of_the_repository_is_refused_in_an_arm(pattern: str):
    assert escapes(pattern)
    with pytest.raises(ValidationError, match="no path inside the repository"):
        Arm.model_validate(
            {
                "kind": "arm",
                "id": "a",
                "agent": "a",
                "version": "1",
                "adapter": {"type": "http", "url": "http://localhost"},
                "sources": {"rules": [pattern]},
            }
        )


def test_literal_pattern_fits_its_path_alone():
    assert matches(literal("a[1]*?.md"), "a[1]*?.md")
    assert not matches(literal("a*"), "ab")
