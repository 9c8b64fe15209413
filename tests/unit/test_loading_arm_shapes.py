"""Arms that declare the form in which they are asked and answer: what is wrong with it is told at its place."""

from typing import Any

import pytest
from pydantic import ValidationError
from tests import bike_shop

from seatrial.documents import starts_a_program
from seatrial.documents.sources import patterns
from seatrial.errors import InvalidDocuments
from seatrial.loading import load

HEAD = """\
kind: arm
id: a
agent: desk
version: "1"
settings: {tone: {voice: kind}}
"""
HTTP = HEAD + "adapter:\n  type: http\n  url: http://127.0.0.1:1/turn\n  pass_env: [KEY]\n"
MCP = HEAD + "adapter:\n  type: mcp\n  tool: ask\n  command: [x]\n"
A2A = HEAD + "adapter:\n  type: a2a\n  url: http://127.0.0.1:1\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            HTTP + "  response: {text: answer.text}\n",
            "10:20: `text`: 'answer.text' is no JSONPath: it begins with `$`, for example `$.reply.text`",
        ),
        (
            HTTP + "  response: {text: $.a, usage: {input_tokens: '$.b[x]'}}\n",
            "10:47: `input_tokens`: '$.b[x]' is no JSONPath: character 5: ",
        ),
        (
            HTTP + "  events:\n    - {add: $.a, where: {'$.b[?': 1}}\n",
            "11:26: `$.b[?`: '$.b[?' is no JSONPath: unexpected end",
        ),
        (
            HTTP + "  events:\n    - {event: x}\n",
            "11:7: `events[0]`: write what the event means: `add`, `text`",
        ),
        (HTTP + "  events:\n    - {end: true}\n", "10:3: `events`: no event brings the reply"),
        (
            HTTP + "  events:\n    - {data: x, add: $.a}\n",
            "11:7: `events[0]`: an event that is known by its whole `data` has nothing",
        ),
        (HTTP + "  response: {usage: {}}\n", "10:21: `usage`: write where at least one number stands"),
        (HTTP + "  request: {a: 1}\n", "10:12: `request`: nothing carries what the person says"),
        (
            HTTP + "  request: {a: '{{text}}', '{{run}}': 1}\n",
            "10:12: `request`: the key `{{run}}` has a placeholder; only values take them",
        ),
        (
            HTTP + "  request: {a: ['{{texd}}', '{{messages}}']}\n",
            "10:17: `{{texd}}` stands for nothing; did you mean `{{text}}`?",
        ),
        (
            HTTP + "  request: {a: '{{text}}', b: '{{settings.tone.voise}}'}\n",
            "10:31: `{{settings.tone.voise}}` stands for nothing",
        ),
        (
            HTTP + "  request: {a: '{{text}}', b: '{{env.KEI}}'}\n",
            "10:31: `{{env.KEI}}` stands for nothing; did you mean `{{env.KEY}}`?",
        ),
        (HTTP + "  headers: {X: '{{text}}'}\n", "10:16: `{{text}}` stands for nothing. Known here: "),
        (
            HTTP + "  headers: {X: '{{turn}}'}\n  begin: {url: 'http://h/', session: $.id}\n",
            "10:16: `{{turn}}` stands for nothing. Known here: `{{run}}`",
        ),
        (
            HTTP + "  begin: {url: 'http://h/{{session}}', session: $.id}\n",
            "10:16: `{{session}}` stands for nothing. Known here: `{{run}}`",
        ),
        (
            HTTP + "  begin: {url: 'http://h/', session: $.id, body: {a: '{{text}}'}}\n",
            "10:54: `{{text}}` stands for nothing",
        ),
        (
            HTTP.replace("127.0.0.1:1", "{{env.KEY}}"),
            "8:8: `url`: http://{{env.KEY}}/turn has a placeholder in its host",
        ),
        (
            HTTP + "  headers: {X: '{KEI} {{seed}}'}\n",
            "6:1: `adapter`: header `X` has `{KEI}`, which is not among `pass_env`",
        ),
        (MCP + "  arguments: {a: 1}\n", "10:14: `arguments`: nothing carries what the person says"),
        (
            MCP + "  arguments: {a: '{{text}}'}\n  url: http://h/\n",
            "6:1: `adapter`: write `command` (a program) or `url` (a service)",
        ),
        (
            MCP + "  arguments: {a: '{{text}}'}\n  headers: {X: y}\n",
            "6:1: `adapter`: `headers` are for a `url`, and this agent is a program",
        ),
        (
            MCP.replace("command: [x]", "url: http://h/") + "  arguments: {a: '{{text}}'}\n  env: {X: y}\n",
            "6:1: `adapter`: `env` is for a program, and this agent is at a `url`",
        ),
        (
            MCP.replace("command: [x]", "url: http://h/{{run}}") + "  arguments: {a: '{{text}}'}\n",
            "9:8: `{{run}}` stands for nothing. None is known here",
        ),
        (
            MCP.replace("command: [x]", "url: http://h/")
            + "  arguments: {a: '{{text}}'}\n  headers: {X: '{{session}}'}\n",
            "11:16: `{{session}}` stands for nothing. Known here: ",
        ),
        (
            MCP + "  arguments: {a: '{{text}}'}\n"
            "  config_format: claude-desktop\n  config_transport: http\n",
            "6:1: `adapter`: `claude-desktop` only starts programs",
        ),
        (
            A2A + "  metadata: {a: '{{sesion}}'}\n",
            "9:17: `{{sesion}}` stands for nothing; did you mean `{{session}}`?",
        ),
        (
            A2A + "  headers: {X: '{{turn}}'}\n",
            "9:16: `{{turn}}` stands for nothing. Known here: ",
        ),
        (A2A + "  response: {model: model}\n", "9:21: `model`: 'model' is no JSONPath"),
        (
            MCP + "  arguments: {a: '{{text}}'}\nlimits: {requests_per_minute: 5}\n",
            "1:1: limits by the minute are kept where Seatrial sends the requests, and a `mcp` agent",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_at_its_line_and_column(text: str, told: str):
    with pytest.raises(InvalidDocuments) as failed:
        load({"arms/a.yaml": text.encode()})

    assert [p.render() for p in failed.value.problems if told in p.render()], failed.value.render()
    assert len(failed.value.problems) == 1


def test_every_placeholder_that_a_trial_can_fill_is_taken():
    names = "text turn session history messages run now today seed settings settings.tone.voice mcp mcp.url "
    names += "mcp.token mcp.url.helpdesk env.KEY"
    values = ", ".join(f"'{{{{ {name} }}}}'" for name in names.split())

    assert "a" in load({"arms/a.yaml": f"{HTTP}  request: {{all: [{values}]}}\n".encode()}).arms


def test_the_files_of_a_program_are_a_component_and_a_service_has_none():
    of_program = mcp(command=["{python}", "agents/desk.py"])
    of_service = mcp(url="http://127.0.0.1:1/mcp")

    assert patterns(of_program) == {"adapter": ("agents/desk.py",)}
    assert patterns(of_service) == {}
    assert starts_a_program(of_program.adapter)
    assert not starts_a_program(of_service.adapter)


def test_limits_by_the_minute_hold_for_an_agent_at_an_address():
    with pytest.raises(ValidationError, match="limits by the minute"):
        mcp(command=["x"], limits={"requests_per_minute": 5})

    paced = mcp(url="http://127.0.0.1:1/mcp", limits={"requests_per_minute": 5})
    assert paced.limits.requests_per_minute == 5


def mcp(limits: dict[str, Any] | None = None, **adapter: Any) -> Any:
    raw = {"type": "mcp", "tool": "ask", "arguments": {"text": "{{text}}"}, **adapter}
    return bike_shop.arm("x", raw, limits=limits or {})
