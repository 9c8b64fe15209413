"""The files an arm is built from, as digests."""

from pathlib import Path

import pytest
from tests import bike_shop

from seatrial import arms
from seatrial.errors import UsageError


def test_digest_changes_with_content_with_name_and_with_a_further_file(tmp_path: Path):
    arm = bike_shop.arm(sources={"prompt": "prompts/**/*.md", "rules": ["rules.json"]})
    (tmp_path / "prompts" / "deep").mkdir(parents=True)
    (tmp_path / "prompts" / "deep" / "a.md").write_text("Be kind.", encoding="utf-8")
    (tmp_path / "rules.json").write_text("{}", encoding="utf-8")
    first = arms.source_digests(arm, tmp_path)

    (tmp_path / "prompts" / "deep" / "a.md").rename(tmp_path / "prompts" / "b.md")
    renamed = arms.source_digests(arm, tmp_path)
    (tmp_path / "prompts" / "c.md").write_text("", encoding="utf-8")
    grown = arms.source_digests(arm, tmp_path)

    assert list(first) == ["prompt", "rules"]
    assert len({first["prompt"], renamed["prompt"], grown["prompt"]}) == 3
    assert first["rules"] == grown["rules"]


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("nothing/*.md", "fits no file"),
        ("../secret", "leads out of the repository"),
        ("/etc/hostname", "leads out of the repository"),
        ("link", "through a link"),
    ],
)
def test_pattern_that_fits_nothing_or_leads_out_is_refused(tmp_path: Path, pattern: str, says: str):
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "link").symlink_to(tmp_path / "secret")

    with pytest.raises(UsageError, match=says):
        arms.source_digests(bike_shop.arm(sources={"x": pattern}), tmp_path / "repository")
