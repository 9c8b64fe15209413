"""Every kind of ground stands in the documentation, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_documentation_lists_the_kinds_of_ground_that_exist():
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "src" / "seatrial" / "gate").glob("*.py")
    )
    kinds = set(re.findall(r'brief\(\s*"(\w+)"', source))
    kinds |= set(re.findall(r'^\s+\(?\s*"((?:required|forbidden)_\w+)",', source, re.MULTILINE))
    page = (ROOT / "docs" / "concepts" / "verdicts.md").read_text(encoding="utf-8")
    table = page.partition("## Grounds")[2].partition("`invalid_share` leaves")[0]
    documented = set(re.findall(r"`(\w+)`", table)) - {"kind", "effect"}

    assert len(kinds) > 25
    assert documented == kinds
