"""Real MCP servers in documents: how they are reached, where they may be mocked, tools of one name."""

from typing import Any

import pytest
from pydantic import ValidationError
from tests import harbour

from seatrial.documents import Server
from seatrial.errors import InvalidDocuments
from seatrial.loading import load


def server(**more: Any) -> Server:
    return Server.model_validate(
        {"kind": "fixture", "type": "server", "id": "files", "command": ["x"], **more}
    )


def refused(**more: Any) -> str:
    with pytest.raises(ValidationError) as error:
        server(**more)
    return error.value.errors()[0]["msg"]


def test_a_server_is_a_program_or_a_service_and_never_both():
    both = refused(url="http://127.0.0.1:1/mcp")
    neither = refused(command=[])
    shared_url = refused(command=[], url="http://127.0.0.1:1/mcp", shared=True)
    headers_of_a_program = refused(headers={"x": "y"})

    assert "`command` (a program) or `url` (a service)" in both
    assert both == neither
    assert "`shared` is for a program" in shared_url
    assert "`headers` are for a `url`" in headers_of_a_program


def test_a_header_that_names_a_variable_which_is_not_handed_on_is_refused():
    why = refused(command=[], url="https://example.com/mcp", headers={"a": "Bearer {TOKEN}"})

    assert "write `pass_env: [TOKEN]`" in why


def test_a_shared_server_cannot_ask_agents():
    assert "nothing says which trial" in refused(shared=True, client={"sampling": "pass_through"})


@pytest.mark.parametrize("environment", ["prod", "production", "live", "prod-eu", "eu.live"])
def test_a_live_environment_can_only_be_real(environment: str):
    assert f"write `{environment}: real`" in refused(targets={environment: "pass_through"})
    assert server().mocks_refused(environment)
    assert server(targets={environment: "real"}).target(environment) == "real"


@pytest.mark.parametrize("environment", ["test", "delivery", "alive", "products"])
def test_names_that_only_look_like_live_ones_may_be_mocked(environment: str):
    assert server(targets={environment: "mock"}).mocks_refused(environment) is None


def test_a_server_is_started_unless_fixtures_answer_all_it_offers():
    known = {"read": {"parameters": {"type": "object"}}, "write": {"read_only": False}}

    assert server().is_started("test", {"read"})
    assert server(targets={"test": "pass_through"}).is_started("test", {"read"})
    assert not server(targets={"test": "mock"}).is_started("test", ())
    assert not server(targets={"test": "pass_through"}, tools=known).is_started("test", {"read"})
    assert server(targets={"test": "pass_through"}, tools=known).is_started("test", ())


SERVER = """\
kind: fixture
type: server
id: files
command: [files]
targets: {test: pass_through, staging: real}
tools: {read_file: {read_only: true, parameters: {type: object}}, show_log: {read_only: true}}
"""
MOCKS = """\
kind: fixture
type: answers
id: mocks
tools: {TOOL: {rules: [{answer: x}]}}
"""


def problems(case: str = "", **files: str) -> list[str]:
    """What is wrong when the case says more, and there are more fixtures."""
    changes = {f"fixtures/{name}.yaml": text for name, text in files.items()}
    changes["cases/take.yaml"] = harbour.CASE + case
    try:
        load(harbour.contents(changes))
    except InvalidDocuments as error:
        return [problem.render() for problem in error.problems]
    return []


def test_cases_and_arms_name_servers_that_are_there():
    of_a_case = problems("servers: [fils]\n", files=SERVER)
    of_an_arm = problems(files=SERVER)
    arm = {"arms/released.yaml": harbour.ARM + "servers: [storm]\n"}

    assert of_an_arm == []
    assert problems("servers: [files]\n", files=SERVER) == []
    (why,) = of_a_case
    assert "there is no fixture `fils`; did you mean `files`?" in why
    with pytest.raises(InvalidDocuments, match="1 problem") as raised:
        load(harbour.contents(arm))
    assert "of type `answers`, expected `server`" in raised.value.problems[0].render()


def test_mocked_answers_in_a_live_environment_are_refused():
    (why,) = problems(
        "servers: [files]\nanswers: mocks\nenvironment: production\n",
        files=SERVER,
        mocks=MOCKS.replace("TOOL", "read_file"),
    )

    assert why.startswith("cases/take.yaml:23:10: environment `production` is live")


@pytest.mark.parametrize("tool", ["read_file", "show_log", "only_the_server_knows"])
def test_answers_of_a_server_that_is_not_mocked_are_refused_with_the_target_to_change(tool: str):
    mocks = MOCKS.replace("TOOL", tool)
    more = "servers: [files]\nanswers: mocks\n"

    assert problems(more, files=SERVER, mocks=mocks) == []
    for environment in ("staging", "elsewhere"):
        (why,) = problems(f"{more}environment: {environment}\n", files=SERVER, mocks=mocks)
        assert f"`{tool}` cannot be mocked in case `take-a-berth`" in why
        assert f"write `targets: {{{environment}: pass_through}}` (or `mock`)" in why


def test_nothing_is_passed_through_to_a_server_that_is_never_started():
    mocks = MOCKS.replace("TOOL: {rules: [{answer: x}]}", "read_file: {pass_through: true}")
    more = "servers: [files]\nanswers: mocks\n"
    never = SERVER.replace("test: pass_through", "test: mock")

    assert problems(more, files=SERVER, mocks=mocks) == []
    (why,) = problems(more, files=never, mocks=mocks)
    assert why == (
        "fixtures/mocks.yaml:4:9: `read_file` is passed through to server `files`, which is `mock` in environment "
        "`test` and never started. Write `targets: {test: pass_through}` in fixture `files`"
    )

    rule = MOCKS.replace(
        "TOOL: {rules: [{answer: x}]}", "read_file: {rules: [{when: {a: 1}, answer: x}]}"
    )
    falls = rule.replace("type: answers", "type: answers\nreplay: fall_through")
    assert problems(more, files=never, mocks=rule) == []
    (why,) = problems(more, files=never, mocks=falls)
    assert "`read_file` is passed through to server `files`, which is `mock`" in why
    assert problems(more, files=never, mocks=falls.replace("rules:", "answer: y, rules:")) == []


def test_a_server_that_is_never_started_must_say_in_its_fixture_what_only_reads():
    more = "servers: [files]\nanswers: mocks\n"
    mocks = MOCKS.replace("TOOL", "read_file")
    silent = SERVER.replace("{read_only: true, parameters", "{parameters").replace(
        "test: pass_through", "test: mock"
    )
    excused = mocks.replace("{rules", "{allow_undeclared: true, reason: It reads., rules")

    (why,) = problems(more, files=silent, mocks=mocks)

    assert "`read_file` of server `files`, which is not started, does not say whether" in why
    assert problems(more, files=silent, mocks=excused) == []


def test_a_server_may_declare_what_its_mocked_answers_are_held_against():
    more = "servers: [files]\nanswers: mocks\n"
    mocks = MOCKS.replace("TOOL: {rules: [{answer: x}]}", "read_file: {answer: {size: big}}")
    declared = "{type: object, properties: {size: {type: integer}}}"
    typed = SERVER.replace(
        "parameters: {type: object}", f"parameters: {{type: object}}, output: {declared}"
    )

    (why,) = problems(more, files=typed, mocks=mocks)

    assert (
        "does not fit the output schema of `read_file` of server `files`: size must be a whole"
        in why
    )


def test_tools_of_the_world_are_mocked_whatever_its_servers_are():
    mocks = MOCKS.replace("TOOL", "show_weather")
    more = "servers: [files]\nanswers: mocks\nenvironment: staging\n"

    assert problems(more, files=SERVER, mocks=mocks) == []


def test_a_case_acts_under_a_role_that_its_servers_name():
    roles = SERVER + "roles: {master: {allow: [read_file]}}\n"

    (why,) = problems("servers: [files]\n", files=roles)

    assert why == (
        "cases/take.yaml:7:7: server `files` says nothing of role `clerk`, which may call nothing there. It names "
        "`master`; write an empty `allow` where nothing is what is meant"
    )
    assert problems("servers: [files]\n", files=roles.replace("master", "clerk")) == []


def test_two_tools_of_one_name_are_refused_with_both_places():
    like_the_world = SERVER.replace("read_file", "show_berth")
    other = SERVER.replace("id: files", "id: other")

    (with_world,) = problems("servers: [files]\n", files=like_the_world)
    (with_other,) = problems("servers: [files, other]\n", files=SERVER, other=other)
    hidden = problems(
        "servers: [files, other]\n", files=SERVER, other=other + "hide: [read_file]\n"
    )

    assert (
        "cases/take.yaml:22:11: two tools of case `take-a-berth` are called `show_berth`"
        in with_world
    )
    assert "fixtures/harbour.yaml:23:3 and fixtures/files.yaml:6:9" in with_world
    assert "fixtures/files.yaml:6:9 and fixtures/other.yaml:6:9" in with_other
    assert hidden == []


TIDES = """\
kind: fixture
type: server
id: tides
command: ["{python}", "tides.py"]
"""


def tide_case(tool: str) -> dict[str, str]:
    case = harbour.CASE.replace("world: harbour\n", "world: harbour\nservers: [tides]\n")
    case = case.replace("tool: take_berth\n    arguments: {berth_id: b-1}", f"tool: {tool}")
    return {"fixtures/tides.yaml": TIDES, "cases/take.yaml": case}


@pytest.mark.parametrize("tool", ["show_tide", "tides/show_tide", "harbour/take_berth"])
def test_checks_may_name_the_tools_of_a_real_server_which_only_it_knows(tool: str):
    assert "take-a-berth" in load(harbour.contents(tide_case(tool))).cases


@pytest.mark.parametrize("tool", ["harbour/show_tide", "tide/show_tide"])
def test_a_tool_of_no_server_there_is_refused(tool: str):
    with pytest.raises(InvalidDocuments) as caught:
        load(harbour.contents(tide_case(tool)))

    assert f"offers no tool `{tool}`" in caught.value.problems[0].message
