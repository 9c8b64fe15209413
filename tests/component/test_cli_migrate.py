"""`seatrial migrate` in a repository: what it writes and what it says."""

from pathlib import Path

from tests import harbour
from tests.shell import seatrial

HEARD = """\
kind: fixture
type: persona
id: ann
goal: A berth.
opening: Hello.
rules:
  - when: {matches: PATTERN}  # agrees
    say: Thank you.
"""


def test_documents_are_brought_forward_and_check_takes_them(tmp_path: Path):
    root = harbour.write(tmp_path, {"fixtures/ann.yaml": HEARD.replace("PATTERN", "of course")})

    code, out, _ = seatrial(root, "check")
    assert code == 2
    assert "`seatrial migrate fixtures/ann.yaml` brings it forward" in out
    code, out, _ = seatrial(root, "migrate", "--check")
    assert code == 2
    assert "would write fixtures/ann.yaml\n" in out
    assert out.endswith("7 files: 7 not in version 2, 1 document changed by more than that\n")
    code, out, _ = seatrial(root, "migrate")
    assert code == 0
    assert "when: {contains: of course} # agrees" in (root / "fixtures/ann.yaml").read_text("utf-8")
    assert "schema_version: 2\n" in (root / "cases/take.yaml").read_text("utf-8")
    assert seatrial(root, "check")[0] == 0
    seatrial(root, "fmt")
    assert seatrial(root, "migrate")[1].startswith("7 files: 0 brought")
    again = "7 files: 0 brought to version 2, 0 documents changed by more than that\n"
    assert seatrial(root, "migrate") == (0, again, "")


def test_what_is_left_to_do_by_hand_is_told_at_its_place(tmp_path: Path):
    root = harbour.write(tmp_path, {"fixtures/ann.yaml": HEARD.replace("PATTERN", '"^of"')})
    (root / "cases/broken.yaml").write_text("a: [\n", "utf-8")

    code, out, _ = seatrial(root, "migrate", "fixtures")

    assert code == 2
    assert "fixtures/ann.yaml:7:" in out
    assert "Write the words to look for: `contains`" in out
    assert "broken" not in out
    assert "cases/broken.yaml:2:1" in seatrial(root, "migrate")[1]
