"""`seatrial pseudonymize` in a repository: what it writes, what it leaves, and what it says."""

from pathlib import Path

import pytest
from tests import harbour
from tests.shell import seatrial

KEY = {"SEATRIAL_STAND_INS_KEY": "a key of the tests, long enough"}
MAIL = harbour.CASE.replace(
    "title: A free berth", "title: A berth for jonas.vik@gmail.com # ask Lena, +49 30 901820"
)
TALK = harbour.TALK.replace("Thank you.", "Thanks. I am JONAS.VIK@gmail.com")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return harbour.write(tmp_path, {"cases/take.yaml": MAIL, "cases/talk.yaml": TALK})


def test_files_are_written_anew_and_then_nothing_looks_real(root: Path):
    before = seatrial(root, "check")[1]
    code, out, err = seatrial(
        root, "pseudonymize", "cases/take.yaml", "cases/talk.yaml", environment=KEY
    )
    take = (root / "cases/take.yaml").read_text(encoding="utf-8")
    talk = (root / "cases/talk.yaml").read_text(encoding="utf-8")
    stand_in = take.split("A berth for ")[1].split(" ")[0]

    assert before.count("looks like") == 3
    assert (code, err) == (0, "")
    assert "  cases/take.yaml.title: e-mail address, 1\n" in out
    assert out.endswith("3 values replaced in 2 of 2 files\n")
    assert stand_in.endswith("@example.com")
    assert f"I am {stand_in}" in talk
    assert " # ask Lena, +49 " in take
    assert "looks like" not in seatrial(root, "check")[1]
    again = seatrial(root, "pseudonymize", "cases/take.yaml", "cases/talk.yaml", environment=KEY)
    assert again == (0, "0 values replaced in 0 of 2 files\n", "")


def test_with_check_nothing_is_written(root: Path):
    code, out, _ = seatrial(root, "pseudonymize", "--check", "cases/take.yaml", environment=KEY)

    assert code == 2
    assert out.endswith("2 values would be replaced in 1 of 1 file\n")
    assert (root / "cases/take.yaml").read_text(encoding="utf-8") == MAIL


def test_a_folder_stands_for_the_documents_in_it(root: Path):
    (root / "cases" / "empty").mkdir()
    code, out, _ = seatrial(root, "pseudonymize", "cases", environment=KEY)

    assert code == 0
    assert "3 values replaced in 2 of" in out
    code, _, err = seatrial(root, "pseudonymize", "cases/empty", environment=KEY)
    assert (code, "cases/empty is neither a file of documents nor a folder" in err) == (2, True)


def test_what_is_allowed_stays_and_ids_of_documents_do(root: Path):
    allowance = "- {value: jonas.vik@gmail.com, reason: He has agreed to it.}\n"
    (root / "real-data.yaml").write_text(allowance, encoding="utf-8")

    seatrial(root, "pseudonymize", "cases/take.yaml", environment=KEY)

    take = (root / "cases/take.yaml").read_text(encoding="utf-8")
    assert "A berth for jonas.vik@gmail.com # ask Lena, +49 3023125" in take
    assert "id: take-a-berth\n" in take


def test_the_key_is_made_once_beside_the_repository_and_never_in_it(root: Path):
    seatrial(root, "pseudonymize", "cases/take.yaml")
    first = (root / "cases/take.yaml").read_text(encoding="utf-8")
    (root / "cases/take.yaml").write_text(MAIL, encoding="utf-8")
    seatrial(root, "pseudonymize", "cases/take.yaml")

    assert (root / "cases/take.yaml").read_text(encoding="utf-8") == first
    assert (root / ".seatrial" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_what_holds_no_documents_or_cannot_be_read_is_told(root: Path):
    (root / "notes.yaml").write_text("a: b\n", encoding="utf-8")
    (root / "cases/broken.yaml").write_text("a: [\n", encoding="utf-8")

    code, _, err = seatrial(root, "pseudonymize", "notes.yaml")
    assert (code, "notes.yaml holds no documents" in err) == (2, True)
    code, _, err = seatrial(root, "pseudonymize", "cases/broken.yaml", "cases/take.yaml")
    assert code == 2
    assert "cases/broken.yaml:2:1" in err
    assert (root / "cases/take.yaml").read_text(encoding="utf-8") == MAIL
