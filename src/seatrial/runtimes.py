"""Agent runtimes, and the config file in which each of them looks for MCP servers.

An arm says `config_format: codex`, and its agent finds its tools where that runtime looks for them, below
a home folder of the trial's own. Nothing here touches a disk: a file is a path and a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seatrial.documents import ConfigFormat, Transport

HOME = "home"
"""The folder of a trial that is the agent's home, in paths of config files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One MCP server of a trial, as a client reaches it."""

    url: str
    token: str
    bridge: Sequence[str]
    """The program, with its arguments, that speaks stdio for it."""
    marks: Mapping[str, str]
    """Variables by which what a trial started is found; given to the program, too."""

    @property
    def headers(self) -> dict[str, str]:
        """What each request carries."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def environment(self) -> dict[str, str]:
        """What the program needs in its environment: most clients hand none of their own on."""
        return {"SEATRIAL_MCP_URL": self.url, "SEATRIAL_MCP_TOKEN": self.token, **self.marks}

    def program(self, kind: str = "stdio") -> dict[str, Any]:
        """The program as most files name it."""
        named = {"command": self.bridge[0], "args": list(self.bridge[1:]), "env": self.environment}
        return {"type": kind, **named} if kind else named


Endpoints = Mapping[str, Endpoint]
_Entry = Callable[[str, Endpoint, Transport], dict[str, Any]]
"""What a file says of one server: its name, where it is, and how it is to be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A program or library that runs agents, and how it is told of MCP servers."""

    title: str
    path: str
    """Of its config file within the trial's folder."""
    found: str
    """How the runtime comes to read it."""
    write: Callable[[Endpoints, Transport], str]
    """The file's text."""

    transports: tuple[Transport, ...] = ("http", "stdio")
    """What it can do; the first is taken where nothing is said."""

    def file(self, endpoints: Endpoints, transport: Transport | None = None) -> str:
        """The text of its config file.

        Raises:
            ValueError: it cannot do this transport.
        """
        transport = transport or self.transports[0]
        if transport not in self.transports:
            raise ValueError(f"{self.title} cannot reach MCP servers over {transport}")
        return self.write(endpoints, transport)


def _json(entry: _Entry, *keys: str, **beside: Any) -> Callable[[Endpoints, Transport], str]:
    """A JSON file with an object of servers under these keys, each within the one before."""

    def write(endpoints: Endpoints, transport: Transport) -> str:
        value: dict[str, Any] = {n: entry(n, e, transport) for n, e in endpoints.items()}
        for key in reversed(keys):
            value = {key: value}
        return _written({**beside, **value}, indent=2) + "\n"

    return write


def _usual(name: str, endpoint: Endpoint, transport: Transport) -> dict[str, Any]:
    if transport == "stdio":
        return endpoint.program()
    return {"type": "http", "url": endpoint.url, "headers": endpoint.headers}


def _desktop(name: str, endpoint: Endpoint, transport: Transport) -> dict[str, Any]:
    return endpoint.program("")


def _copilot(name: str, endpoint: Endpoint, transport: Transport) -> dict[str, Any]:
    return {**_usual(name, endpoint, transport), "tools": ["*"]}


def _cursor(name: str, endpoint: Endpoint, transport: Transport) -> dict[str, Any]:
    if transport == "stdio":
        return endpoint.program("")
    return {"url": endpoint.url, "headers": endpoint.headers}


def _gemini(name: str, endpoint: Endpoint, transport: Transport) -> dict[str, Any]:
    if transport == "stdio":
        return endpoint.program("")
    return {"httpUrl": endpoint.url, "headers": endpoint.headers}


def _goose(name: str, endpoint: Endpoint, transport: Transport) -> dict[str, Any]:
    shared = {"enabled": True, "name": name, "description": name, "timeout": 300}
    if transport == "stdio":
        program, *arguments = endpoint.bridge
        own = {"cmd": program, "args": arguments, "envs": endpoint.environment}
        return {"type": "stdio", **shared, **own}
    return {"type": "streamable_http", **shared, "uri": endpoint.url, "headers": endpoint.headers}


def _langgraph(name: str, endpoint: Endpoint, transport: Transport) -> dict[str, Any]:
    if transport == "stdio":
        return {"transport": "stdio", **endpoint.program("")}
    return {"transport": "streamable_http", "url": endpoint.url, "headers": endpoint.headers}


def _opencode(name: str, endpoint: Endpoint, transport: Transport) -> dict[str, Any]:
    if transport == "stdio":
        command = list(endpoint.bridge)
        return {"type": "local", "command": command, "environment": endpoint.environment}
    address = {"url": endpoint.url, "headers": endpoint.headers}
    return {"type": "remote", **address, "oauth": False}


def _codex(endpoints: Endpoints, transport: Transport) -> str:
    lines = []
    for name, endpoint in endpoints.items():
        lines.append(f"[mcp_servers.{_toml(name)}]")
        if transport == "stdio":
            lines.append(f"command = {_toml(endpoint.bridge[0])}")
            lines.append(f"args = [{', '.join(map(_toml, endpoint.bridge[1:]))}]")
            lines.append(f"env = {_inline(endpoint.environment)}")
        else:
            lines.append(f"url = {_toml(endpoint.url)}")
            lines.append(f"http_headers = {_inline(endpoint.headers)}")
        lines.append("")
    return "\n".join(lines)


def _inline(table: Mapping[str, str]) -> str:
    return f"{{ {', '.join(f'{_toml(k)} = {_toml(v)}' for k, v in table.items())} }}"


def _toml(text: str) -> str:
    return _written(text)  # a basic string of TOML is one of JSON


def _written(value: Any, indent: int | None = None) -> str:
    """JSON that YAML and TOML read as well: both refuse DEL as it is."""
    return json.dumps(value, indent=indent, ensure_ascii=False).replace("\x7f", "\\u007f")


_NAMED = "`{config}` in the command, or `SEATRIAL_MCP_CONFIG`"

RUNTIMES: Mapping[ConfigFormat, Runtime] = {
    "mcp-servers": Runtime(
        title="whatever reads the usual `mcpServers` file",
        path="mcp.json",
        found=f"{_NAMED}.",
        write=_json(_usual, "mcpServers"),
    ),
    "claude-code": Runtime(
        title="Claude Code, Claude Agent SDK",
        path="mcp.json",
        found="`claude -p --strict-mcp-config --mcp-config {config}`; the SDK: "
        "`ClaudeAgentOptions(mcp_servers=path, strict_mcp_config=True)`.",
        write=_json(_usual, "mcpServers"),
    ),
    "claude-desktop": Runtime(
        title="Claude Desktop",
        path=f"{HOME}/.config/Claude/claude_desktop_config.json",
        found="By itself, from the home folder. It starts programs only.",
        transports=("stdio",),
        write=_json(_desktop, "mcpServers"),
    ),
    "codex": Runtime(
        title="Codex CLI",
        path=f"{HOME}/.codex/config.toml",
        found="By itself, from the home folder.",
        write=_codex,
    ),
    "copilot-cli": Runtime(
        title="GitHub Copilot CLI",
        path=f"{HOME}/.copilot/mcp-config.json",
        found="By itself, from the home folder.",
        write=_json(_copilot, "mcpServers"),
    ),
    "cursor": Runtime(
        title="Cursor and its CLI",
        path=f"{HOME}/.cursor/mcp.json",
        found="By itself, from the home folder.",
        write=_json(_cursor, "mcpServers"),
    ),
    "fastmcp": Runtime(
        title="FastMCP's client",
        path="mcp.json",
        found=f"`Client(json.loads(…))`; {_NAMED}.",
        write=_json(_usual, "mcpServers"),
    ),
    "gemini-cli": Runtime(
        title="Gemini CLI",
        path=f"{HOME}/.gemini/settings.json",
        found="By itself, from the home folder.",
        write=_json(_gemini, "mcpServers"),
    ),
    "goose": Runtime(
        title="Goose",
        path=f"{HOME}/.config/goose/config.yaml",
        found="By itself, from the home folder.",
        write=_json(_goose, "extensions"),
    ),
    "langgraph": Runtime(
        title="langchain-mcp-adapters (LangGraph, LangChain)",
        path="mcp.json",
        found=f"`MultiServerMCPClient(json.loads(…))`; {_NAMED}.",
        write=_json(_langgraph),
    ),
    "opencode": Runtime(
        title="OpenCode 1.x",
        path=f"{HOME}/.config/opencode/opencode.json",
        found="By itself, from the home folder.",
        write=_json(_opencode, "mcp", **{"$schema": "https://opencode.ai/config.json"}),
    ),
    "pydantic-ai": Runtime(
        title="Pydantic AI",
        path="mcp.json",
        found=f"`load_mcp_toolsets(path)`; {_NAMED}.",
        write=_json(_usual, "mcpServers"),
    ),
}
"""Every `config_format`."""
