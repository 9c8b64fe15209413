"""How Seatrial talks to an agent: one class a kind of adapter."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    field_validator,
    model_validator,
)

from seatrial.documents import placeholders
from seatrial.documents.answer_shapes import AnswerShape, EventRules
from seatrial.documents.base import Part
from seatrial.documents.json_path import JsonPath
from seatrial.documents.patterns import Patterns, RepositoryPath
from seatrial.documents.programs import PerTurn, named
from seatrial.documents.requests import Body, TurnBody

VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A variable of the environment in a header."""


ConfigFormat = Literal[
    "mcp-servers",
    "claude-code",
    "claude-desktop",
    "codex",
    "copilot-cli",
    "cursor",
    "fastmcp",
    "gemini-cli",
    "goose",
    "langgraph",
    "opencode",
    "pydantic-ai",
]
"""Agent runtimes whose config file is known."""
Transport = Literal["http", "stdio"]
"""How a client reaches an MCP server: at an address, or as a program that it starts."""
ONLY_STDIO: frozenset[ConfigFormat] = frozenset({"claude-desktop"})
"""Runtimes that only start programs."""


class Command(Part):
    """A program: a process per trial that takes JSON lines on stdin and stdout, or a process per turn (`per_turn`)."""

    type: Literal["command"]
    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments, run from the repository's root. `{python}` is the running interpreter,
    `{config}` the path of the config file. With `per_turn`, `{text}` is what the person says, and `{session}` an id
    (a UUID) that the agent is to give the conversation."""
    per_turn: PerTurn | None = None
    """For a program that answers one turn and ends: how it is told the turn, goes on, and answers."""
    config_format: ConfigFormat | None = None
    """The runtime that the config file is written for, in its form and where it looks for it, within the
    trial's own folder. Left out: the `mcpServers` file that most read."""
    config_transport: Transport | None = None
    """How the config file names the tools: by address (`http`) or as a program to start (`stdio`, see
    `seatrial gateway connect`). Left out: by address, where the runtime can."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables set for it."""
    pass_env: tuple[str, ...] = ()
    """Names of variables handed on from the runner's own environment; their values are kept out of every file."""

    @model_validator(mode="after")
    def _can_reach_its_tools(self) -> Command:
        _check_transport(self.config_format, self.config_transport)
        return self

    @model_validator(mode="after")
    def _hears_what_is_said(self) -> Command:
        if self.per_turn is not None:
            self.per_turn.check(self.command)
        elif lost := [name for name in ("text", "session") if named(self.command, name)]:
            raise ValueError(
                f"`{{{lost[0]}}}` stands for something in a program that is started for each turn; write `per_turn`"
            )
        return self


def _check_transport(format: ConfigFormat | None, transport: Transport | None) -> None:
    if format in ONLY_STDIO and transport == "http":
        raise ValueError(
            f"`{format}` only starts programs; write `config_transport: stdio`, or leave it out"
        )


class Begin(Part):
    """A request that begins a conversation, before the first turn."""

    url: str = Field(pattern=r"^https?://")
    """Where it is posted. Placeholders: `{{run}}`, `{{seed}}`, `{{settings.…}}`, `{{env.…}}`."""
    body: Body = Field(default_factory=dict)
    """What is posted. Placeholders: those of `request` that are not of a turn."""
    session: JsonPath
    """Where in the answer stands what the agent calls the conversation: `{{session}}` of each turn."""

    @field_validator("url")
    @classmethod
    def _leads_to_a_host(cls, url: str) -> str:
        return _address(url)


class Http(Part):
    """The agent is a service: one request per turn, answered with JSON or with a stream of events."""

    type: Literal["http"]
    url: str = Field(pattern=r"^https?://")
    """Where each turn is sent. Behind the host it takes the placeholders `{{session}}`, `{{run}}`, `{{seed}}`,
    `{{settings.…}}` and `{{env.…}}`."""
    method: Literal["POST", "PUT"] = "POST"
    """How it is sent."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with each request. `{NAME}` stands for a variable named in `pass_env`; placeholders as in `request`, but for
    what was said."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables that may be used; their values are kept out of every file."""
    begin: Begin | None = None
    """Sent before the first turn, where a conversation has to be begun."""
    request: TurnBody | None = None
    """What is sent in each turn, as JSON. `{{text}}`, `{{messages}}`, `{{session}}`, `{{settings}}`, `{{mcp}}` and
    others stand for what the trial puts in. Left out: Seatrial's own form."""
    response: AnswerShape | None = None
    """Where in an answer the reply stands. Left out: Seatrial's own form."""
    events: EventRules | None = None
    """What the events mean, of an answer that is a stream of them (`text/event-stream`, or a line of JSON each)."""

    @field_validator("url")
    @classmethod
    def _leads_to_a_host(cls, url: str) -> str:
        return _address(url)

    @model_validator(mode="after")
    def _knows_its_variables(self) -> Http:
        _check_variables(_filled_headers(self.headers), self.pass_env)
        return self


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:  # a port that is none
        raise ValueError(f"{url} is no address: {error}") from error
    if not host:
        raise ValueError(f"{url} is no address: it names no host")
    if "{" in parts.netloc:
        raise ValueError(
            f"{url} has a placeholder in its host; only what follows the host may have any"
        )
    return url


class Mcp(Part):
    """The agent is a tool of an MCP server: one call per turn."""

    type: Literal["mcp"]
    command: tuple[str, ...] = ()
    """Program and arguments of a server that is spoken to on its stdin and stdout, started for each trial from the
    repository's root. `{python}` is the running interpreter, `{config}` the path of the config file."""
    url: str | None = Field(default=None, pattern=r"^https?://[^?#\s]+$")
    """Where a server is that is spoken to over streamable HTTP; each trial has a session of its own."""
    tool: str = Field(min_length=1)
    """The tool that is the agent."""
    arguments: TurnBody
    """What it is called with in each turn. `{{text}}`, `{{messages}}`, `{{session}}`, `{{settings}}`, `{{mcp}}` and
    others stand for what the trial puts in."""
    response: AnswerShape = AnswerShape()
    """Where in the result of the call (`{content, structuredContent}`) the reply stands. Left out: the text of its
    content."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with each request to `url`. `{NAME}` stands for a variable named in `pass_env`; placeholders as in
    `arguments`, but for what belongs to a turn."""
    config_format: ConfigFormat | None = None
    """As of a `command` arm: the runtime that the config file of the program is written for."""
    config_transport: Transport | None = None
    """As of a `command` arm: how the config file names the tools."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables set for the program."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables: the program is given them, `headers` and `arguments` may use them. Their values
    are kept out of every file."""
    start_seconds: StrictFloat = Field(default=30.0, gt=0)
    """How long the server may take to begin a session."""

    @field_validator("url")
    @classmethod
    def _leads_to_a_host(cls, url: str | None) -> str | None:
        return None if url is None else _address(url)

    @model_validator(mode="after")
    def _is_reached_one_way(self) -> Mcp:
        if bool(self.command) == (self.url is not None):
            raise ValueError("write `command` (a program) or `url` (a service)")
        of_programs = ("env", "config_format", "config_transport")
        given = [key for key in of_programs if getattr(self, key)]
        if self.url is not None and given:
            raise ValueError(f"`{given[0]}` is for a program, and this agent is at a `url`")
        if self.url is None and self.headers:
            raise ValueError("`headers` are for a `url`, and this agent is a program")
        _check_transport(self.config_format, self.config_transport)
        _check_variables(_filled_headers(self.headers), self.pass_env)
        return self


class A2a(Part):
    """The agent speaks A2A: a message per turn, in one context per trial. Needs the extra `seatrial[a2a]`."""

    type: Literal["a2a"]
    url: str = Field(pattern=r"^https?://[^?#\s]+$")
    """Where its card is found, at `/.well-known/agent-card.json` below. It is spoken to at this host only, over the
    JSON-RPC or the HTTP+JSON binding, as its card says."""
    card: str | None = Field(default=None, min_length=1)
    """The path of its card below `url`, where that is another one."""
    metadata: Body = Field(default_factory=dict)
    """Of each message. Placeholders as in `request` of an `http` arm: `{{mcp}}` and `{{settings}}` are how the agent
    hears of its tools and settings, where `headers` do not say so."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with each request. `{NAME}` stands for a variable named in `pass_env`; placeholders as in `metadata`, but
    for what belongs to a turn."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables that may be used; their values are kept out of every file."""
    response: AnswerShape = AnswerShape()
    """Where in the task or message that answers (in the JSON of A2A 1.0) the reply stands. Left out: the text of the
    message; of a task that of its artifacts, else of its status."""

    @field_validator("url")
    @classmethod
    def _leads_to_a_host(cls, url: str) -> str:
        return _address(url)

    @model_validator(mode="after")
    def _knows_its_variables(self) -> A2a:
        _check_variables(_filled_headers(self.headers), self.pass_env)
        return self


class OpenAI(Part):
    """A model behind an OpenAI-compatible endpoint: Seatrial is the agent, and runs the loop over the tools."""

    type: Literal["openai"]
    url: str = Field(pattern=r"^(https?://|\{)")
    """The base URL, to which `/chat/completions` is added. `{NAME}` stands for a variable named in `pass_env`."""
    key: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The name of the environment variable that holds the key, never the key itself."""
    key_header: str = Field(default="Authorization", min_length=1)
    """The header it is sent in: `Authorization` (as `Bearer …`), or for example `api-key` (as it is)."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with each request. `{NAME}` stands for a variable named in `pass_env`."""
    query: dict[str, str] = Field(default_factory=dict)
    """Added to the address, for example `api-version`."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables that `url` and `headers` may use; their values are kept out of every file."""
    model: str | None = Field(default=None, min_length=1)
    """What the endpoint is asked for, where that is not the name of the arm's pinned model: a deployment, a file."""
    prompt: RepositoryPath | None = None
    """The file with the system prompt; a component of the fingerprint. In it, `{{today}}` and `{{now}}` stand for the
    trial's frozen clock."""
    prompt_role: Literal["system", "developer"] = "system"
    """Whose message it is."""
    answers: Literal["tools", "schema"] = "tools"
    """How the model calls tools: by the endpoint's tool calls, or, for models that are weak at these, by answers that a
    JSON Schema constrains to `{"tool": …, "arguments": …}` or `{"reply": …}`."""
    tool_choice: Literal["auto", "required", "none"] | None = None
    """Sent as it is. With `required` the model has a further tool, `reply`, to end its turn with."""
    parallel_tool_calls: StrictBool | None = None
    """Sent as it is."""
    temperature: StrictFloat | None = Field(default=None, ge=0, le=10)
    """Sent as it is."""
    seed: Literal["trial"] | StrictInt | None = "trial"
    """`trial`: the trial's seed without its highest bit, the same for all arms in the same trial of the same case.
    A number: always this. `null`: none is sent."""
    max_tokens: StrictInt | None = Field(default=None, ge=1)
    """Tokens of one answer, at most. A budget is held for certain only with it."""
    max_tokens_as: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the endpoint calls it."""
    stream: StrictBool = False
    """Have answers sent piece by piece."""
    request_seconds: StrictFloat | None = Field(default=None, gt=0)
    """After so long without a whole answer a request is given up and made again; left out, only the time of the turn
    bounds it."""
    steps: StrictInt = Field(default=20, ge=1)
    """Answers of the model in one turn, at most; the trial fails when it would take more."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Added to each request as it is."""

    @field_validator("extra_body")
    @classmethod
    def _says_nothing_twice(cls, extra: dict[str, Any]) -> dict[str, Any]:
        own = sorted(extra.keys() & _OWN_KEYS)
        if own:
            raise ValueError(f"Seatrial itself writes {', '.join(own)}; use the adapter's own keys")
        return extra

    @model_validator(mode="after")
    def _knows_its_variables(self) -> OpenAI:
        _check_variables({"`url`": self.url, **_headers(self.headers)}, self.pass_env)
        return self


_OWN_KEYS = frozenset({
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "temperature", "seed", "max_tokens",
    "max_completion_tokens", "stream", "stream_options", "response_format", "n",
})  # fmt: skip


def _headers(headers: dict[str, str]) -> dict[str, str]:
    return {f"header `{name}`": value for name, value in headers.items()}


def _filled_headers(headers: dict[str, str]) -> dict[str, str]:
    """Headers without what a trial puts into them."""
    return _headers({name: placeholders.outside(value) for name, value in headers.items()})


def _check_variables(texts: dict[str, str], pass_env: tuple[str, ...]) -> None:
    for where, text in texts.items():
        for name in VARIABLE.findall(text):
            if name not in pass_env:
                raise ValueError(
                    f"{where} has `{{{name}}}`, which is not among `pass_env`, so that it "
                    f"would be sent as it stands; write `pass_env: [{', '.join((*pass_env, name))}]`"
                )


FunctionName = Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]


class Python(Part):
    """A function in this process: `module:function`, sync or async."""

    type: Literal["python"]
    target: FunctionName | None = None
    """`module:function`, imported from the repository's root: the agent."""
    build: FunctionName | None = None
    """`module:function` of the product's own that is given the arm's `settings` and makes the agent, anew for each
    trial; in place of `target`."""

    @model_validator(mode="after")
    def _names_one_function(self) -> Python:
        if (self.target is None) == (self.build is None):
            raise ValueError(
                "write `target` (the agent) or `build` (what makes the agent of `settings`)"
            )
        return self

    @property
    def function(self) -> str:
        """The function that is loaded."""
        named = self.target or self.build
        assert named is not None
        return named


class Recorded(Part):
    """Conversations recorded elsewhere: graded, never executed."""

    type: Literal["recorded"]
    files: Patterns
    """JSON-lines files (`.gz` too), relative to the repository's root."""


Adapter = Annotated[
    A2a | Command | Http | Mcp | OpenAI | Python | Recorded, Field(discriminator="type")
]


def starts_a_program(adapter: Adapter) -> bool:
    """Whether each trial starts a program of the agent's."""
    return isinstance(adapter, Command) or (isinstance(adapter, Mcp) and bool(adapter.command))
