"""Functions that documents name: found and imported from the repository, every problem told at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from seatrial import functions
from seatrial.errors import FunctionError

CODE = """\
print("imported")

def fair(trace, most=1):
    print("\\x1b[2Jjudging")
    return "passed", f"{trace} {most}"

number = 3
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    package = tmp_path / f"checks_{tmp_path.name.replace('-', '_')}"
    package.mkdir()
    (package / "rent.py").write_text(CODE, encoding="utf-8")
    (package / "broken.py").write_text("import no_such_dependency\n", encoding="utf-8")
    (package / "leaves.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    return tmp_path


def test_functions_are_loaded_and_print_nothing(repository, capsys):
    package = next(repository.iterdir()).name
    name = f"{package}.rent:fair"

    found = functions.load_all([name, name], repository)

    assert list(found) == [name]
    assert found[name]("a trace", most=2) == ("passed", "a trace 2")
    assert capsys.readouterr().out == ""


def test_every_function_that_cannot_be_had_is_told_at_once(repository):
    package = next(repository.iterdir()).name
    names = [
        f"{package}.rent:fair",
        f"{package}.rent:fairly",
        f"{package}.rent:number",
        f"{package}.broken:f",
        f"{package}.leaves:f",
        f"{package}.absent:f",
    ]

    with pytest.raises(FunctionError) as failed:
        functions.load_all(names, repository)

    assert failed.value.render().replace(package, "checks") == (
        "checks.rent:fairly: module 'checks.rent' has no function 'fairly'; it has fair\n"
        "checks.rent:number: module 'checks.rent' has no function 'number'; it has fair\n"
        "checks.broken:f cannot be imported: ModuleNotFoundError: No module named "
        "'no_such_dependency' (broken.py:1)\n"
        "checks.leaves:f cannot be imported: SystemExit: 3 (leaves.py:1)\n"
        "checks.absent:f: there is no module 'checks.absent' at the repository's root\n"
        "  → checks of kind `python` name these"
    )


def test_an_error_is_told_in_one_line_that_no_terminal_obeys():
    assert functions.told(ValueError("\x1b[2J one\n two")) == "ValueError: \\x1b[2J one two"
    assert functions.told(KeyboardInterrupt()) == "KeyboardInterrupt"
    assert len(functions.told(ValueError("x" * 5000))) < 250
