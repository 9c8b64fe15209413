"""`seatrial schema`: writes the schemas, and says when they are out of date."""

from pathlib import Path

from tests.shell import seatrial


def schema(folder: Path, *words: str) -> tuple[int, str, str]:
    return seatrial(folder, "schema", *words)


def test_the_schemas_are_written_once(tmp_path: Path):
    names = ["case.json", "suite.json", "arm.json", "fixture.json", "defaults.json"]
    written = "".join(f"wrote site/schema/{name}\n" for name in names)

    assert schema(tmp_path) == (0, written, "")
    assert sorted(p.name for p in (tmp_path / "site" / "schema").iterdir()) == sorted(names)
    assert schema(tmp_path) == (0, "the schemas in site/schema are up to date\n", "")


def test_a_schema_that_is_out_of_date_is_told_and_left_alone(tmp_path: Path):
    schema(tmp_path, "--out", "editor")
    (tmp_path / "editor" / "arm.json").write_text("{}", encoding="utf-8")
    (tmp_path / "editor" / "case.json").unlink()

    assert schema(tmp_path, "--out", "editor", "--check") == (
        2,
        "editor/case.json is missing\neditor/arm.json is out of date\n"
        "run `seatrial schema --out editor` to write them anew\n",
        "",
    )
    assert (tmp_path / "editor" / "arm.json").read_text(encoding="utf-8") == "{}"


def test_schemas_that_are_up_to_date_pass_the_check(tmp_path: Path):
    schema(tmp_path)

    assert schema(tmp_path, "--check") == (0, "the schemas in site/schema are up to date\n", "")


def test_a_folder_that_cannot_be_written_is_a_fault_of_the_machine(tmp_path: Path):
    (tmp_path / "taken").write_text("", encoding="utf-8")

    code, output, errors = schema(tmp_path, "--out", "taken/schema")

    assert (code, output) == (4, "")
    assert errors == "Error: taken/schema/case.json cannot be written: Not a directory\n"
