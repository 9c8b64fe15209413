"""The config files of agent runtimes: each is read back as its runtime reads it, and leads to the trial's tools."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, get_args

import pytest
import yaml

from seatrial.documents import ConfigFormat
from seatrial.documents.adapters import ONLY_STDIO
from seatrial.runtimes import HOME, RUNTIMES, Endpoint

URL = "http://127.0.0.1:4021/c/s3/help-desk/mcp"
DESK = Endpoint(
    url=URL,
    token='t"0\\k\x7fen',
    bridge=("/opt/py thon", "-I", "/opt/bridge.py"),
    marks={"SEATRIAL_TRIAL": "abc"},
)
HEADERS = {"Authorization": 'Bearer t"0\\k\x7fen'}
ENVIRONMENT = {
    "SEATRIAL_MCP_URL": URL,
    "SEATRIAL_MCP_TOKEN": 't"0\\k\x7fen',
    "SEATRIAL_TRIAL": "abc",
}
ARGUMENTS = ["-I", "/opt/bridge.py"]


def read(name: ConfigFormat, transport: Any) -> Mapping[str, Any]:
    """The servers in a file, as its runtime finds them."""
    text = RUNTIMES[name].file({"help-desk": DESK, "café": DESK}, transport)
    servers: dict[str, dict[str, Any]]
    match name:
        case "codex":
            servers = tomllib.loads(text)["mcp_servers"]
        case "goose":
            servers = yaml.safe_load(text)["extensions"]
        case "langgraph":
            servers = json.loads(text)
        case "opencode":
            servers = json.loads(text)["mcp"]
        case _:
            servers = json.loads(text)["mcpServers"]
    assert list(servers) == ["help-desk", "café"]
    return servers["help-desk"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mcp-servers", {"type": "http", "url": URL, "headers": HEADERS}),
        ("claude-code", {"type": "http", "url": URL, "headers": HEADERS}),
        ("codex", {"url": URL, "http_headers": HEADERS}),
        ("copilot-cli", {"type": "http", "url": URL, "headers": HEADERS, "tools": ["*"]}),
        ("cursor", {"url": URL, "headers": HEADERS}),
        ("fastmcp", {"type": "http", "url": URL, "headers": HEADERS}),
        ("gemini-cli", {"httpUrl": URL, "headers": HEADERS}),
        (
            "goose",
            {
                "type": "streamable_http", "enabled": True, "name": "help-desk",
                "description": "help-desk", "timeout": 300, "uri": URL, "headers": HEADERS,
            },
        ),
        ("langgraph", {"transport": "streamable_http", "url": URL, "headers": HEADERS}),
        ("opencode", {"type": "remote", "url": URL, "headers": HEADERS, "oauth": False}),
        ("pydantic-ai", {"type": "http", "url": URL, "headers": HEADERS}),
    ],
)  # fmt: skip
def test_a_runtime_is_told_address_and_token(name: ConfigFormat, expected: dict[str, Any]):
    assert read(name, "http") == expected


@pytest.mark.parametrize("name", get_args(ConfigFormat))
def test_every_runtime_can_be_told_of_a_program(name: ConfigFormat):
    server = read(name, "stdio")

    program = server.get("command", server.get("cmd"))
    arguments = server.get("args", ARGUMENTS)
    environment = next(server[k] for k in ("env", "envs", "environment") if k in server)
    assert (program, arguments) in (
        ("/opt/py thon", ARGUMENTS),
        (["/opt/py thon", *ARGUMENTS], ARGUMENTS),
    )
    assert environment == ENVIRONMENT
    assert not {"url", "uri", "httpUrl", "headers"} & server.keys()


def test_every_format_of_an_arm_is_known_and_reaches_by_address_unless_it_only_starts_programs():
    assert set(RUNTIMES) == set(get_args(ConfigFormat))
    for name, runtime in RUNTIMES.items():
        assert (runtime.transports[0] == "stdio") == (name in ONLY_STDIO)
        assert runtime.file({"d": DESK}) == runtime.file({"d": DESK}, runtime.transports[0])
    with pytest.raises(ValueError, match="cannot reach MCP servers over http"):
        RUNTIMES["claude-desktop"].file({"d": DESK}, "http")


def test_no_file_lies_outside_the_trials_own_folder():
    for runtime in RUNTIMES.values():
        path = PurePosixPath(runtime.path)
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert path.parts[0] in {HOME, "mcp.json"}
