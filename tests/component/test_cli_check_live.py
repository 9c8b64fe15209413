"""`seatrial check --live`: fixtures held against what real servers and worlds offer now."""

import shutil
from pathlib import Path

from tests import harbour
from tests.shell import seatrial

from seatrial import loading
from seatrial.cli.living import live

SCRIPT = Path(__file__).parents[1] / "servers" / "real.py"
SERVER = """\
kind: fixture
type: server
id: real
command: ["{python}", "{root}/real.py"]
targets: {test: pass_through, staging: mock}
tools:
  echo: {read_only: true}
"""
MOCKS = """\
kind: fixture
type: answers
id: heard
tools:
  echo:
    written_for:
      parameters: {type: object, properties: {text: {type: string}}, additionalProperties: false}
    answer: Nothing.
  show_weather:
    answer: calm
"""
CASE = harbour.CASE.replace("role: clerk", "role: clerk\nanswers: heard\nservers: [real]")


def repository(root: Path, **changes: str) -> Path:
    shutil.copy(SCRIPT, root / "real.py")
    files = {"fixtures/real.yaml": SERVER, "fixtures/heard.yaml": MOCKS, "cases/take.yaml": CASE}
    return harbour.write(root, files | {f"fixtures/{n}.yaml": text for n, text in changes.items()})


def problems(root: Path) -> list[str]:
    catalog = loading.load(loading.read_tree(root))
    return [f"[{p.code}] {p.render()}" for p in live(root, catalog).problems]


def test_fixtures_that_fit_what_is_offered_are_right_and_it_is_said_how_many_were_asked(
    tmp_path: Path,
):
    code, out, err = seatrial(repository(tmp_path), "check", "--live")

    assert (code, err) == (0, "")
    assert out.endswith("no problems; 2 fixtures asked\n")


def test_answers_written_for_another_schema_are_stale_with_the_difference(tmp_path: Path):
    mocks = MOCKS.replace("{text: {type: string}}", "{words: {type: string}, text: {type: string}}")
    repository(tmp_path, heard=mocks)

    assert problems(tmp_path) == [
        "[mock-stale] fixtures/heard.yaml:5:3: `echo`: stale: words is gone",
    ]


def test_what_a_fixture_says_of_a_server_is_held_against_the_server(tmp_path: Path):
    schema = "parameters: {type: object, properties: {text: {type: integer}}}"
    server = SERVER.replace("{read_only: true}", f"{{read_only: true, {schema}}}")
    repository(tmp_path, real=server, heard=MOCKS.replace("{type: string}", "{type: integer}"))

    of_answers, of_the_server = problems(tmp_path)

    assert of_the_server == (
        "[mock-stale] fixtures/real.yaml:7:39: stale: what the server declares of `echo` is another: "
        'text had `type` "integer" and has "string"'
    )
    assert of_answers.startswith("[mock-stale] fixtures/heard.yaml:5:3: `echo`: stale: text had")


def test_a_tool_that_a_server_does_not_have_is_told(tmp_path: Path):
    repository(tmp_path, real=SERVER + "  whisper: {read_only: true}\n")

    (told,) = problems(tmp_path)

    assert told.startswith(
        "[live-server] fixtures/real.yaml:1:1: server 'real' has no tool 'whisper'; it has echo, "
    )


def test_tools_that_nobody_offers_and_those_that_declare_nothing_are_told(tmp_path: Path):
    mocks = MOCKS + "  shout: {answer: x}\n  show: {answer: x}\n"
    repository(tmp_path, heard=mocks)

    unknown, declares_nothing = problems(tmp_path)

    assert "`show`: does not say whether it only reads" in declares_nothing
    assert "neither of harbour, real offers a tool `shout`" in unknown


def test_a_server_that_does_not_start_is_told_and_its_answers_are_not_blamed(tmp_path: Path):
    repository(tmp_path, real=SERVER.replace("{root}/real.py", "{root}/gone.py"))

    (told,) = problems(tmp_path)

    assert told.startswith("[live-server] fixtures/real.yaml:1:1: server 'real'")
