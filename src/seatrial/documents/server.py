"""A fixture of type `server`: a real MCP server that stands behind the gateway."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator

from seatrial.documents.adapters import VARIABLE
from seatrial.documents.base import Document, Id, Part
from seatrial.documents.patterns import RepositoryPath, escapes, inside, literal
from seatrial.documents.world.base import Denial, Grants, Name

Target = Literal["real", "mock", "pass_through"]
"""real: everything reaches the server, nothing may be mocked. mock: everything is answered by fixtures, the
server is never started. pass_through: mocked tools are answered by fixtures, everything else by the server."""

_LIVE = frozenset({"prod", "production", "live"})


def is_live(environment: str) -> bool:
    """Whether an environment is one in which people rely on what is answered: nothing is mocked there."""
    return not _LIVE.isdisjoint(re.split(r"[-_.]", environment.lower()))


class Root(Part):
    """A folder that the server is told about when it asks its client for roots."""

    uri: str = Field(min_length=1)
    """For example `file:///data`."""
    name: str | None = None
    """What it is called."""


class Sampled(Part):
    """What the server is answered when it asks for a completion of a model."""

    text: str
    """The completion."""
    model: str = "fixture"
    """The model that is said to have written it."""
    stop_reason: str = "endTurn"
    """Why it is said to end."""


class Elicited(Part):
    """What the server is answered when it asks the person something."""

    action: Literal["accept", "decline", "cancel"]
    """What the person does."""
    content: dict[str, Any] | None = None
    """What the person fills in, when it accepts."""


class ClientSide(Part):
    """What the server may ask of its client; the client declares only what is named here.

    `pass_through` asks the agent; anything else is answered from here, without the agent. Which agent it is
    makes no difference to what the server is told of its client, so that all arms see the same tools.
    """

    roots: Literal["pass_through"] | tuple[Root, ...] | None = None
    """The folders that the server may work on."""
    sampling: Literal["pass_through"] | Sampled | None = None
    """Completions of a model."""
    elicitation: Literal["pass_through"] | Elicited | None = None
    """Questions to the person."""

    @property
    def asks_agents(self) -> bool:
        """Whether any of it is asked of the agent."""
        return "pass_through" in (self.roots, self.sampling, self.elicitation)


class ServerTool(Part):
    """What is known of one of the server's tools without asking it, or what it says wrongly.

    With `parameters` the tool can be offered without starting the server.
    """

    read_only: StrictBool | None = None
    """Changes nothing. What is written here counts, whatever the server says."""
    destructive: StrictBool | None = None
    """Deletes or overwrites what cannot be had back. What is written here counts, whatever the server says."""
    leaves_world: StrictBool | None = None
    """Its arguments reach somebody outside, as those of every tool that does not say otherwise. What is
    written here counts, whatever the server says (`openWorldHint`)."""
    description: str = ""
    """What the agent reads, where the server is not started."""
    title: str = ""
    """A short name for people, where the server is not started."""
    parameters: dict[str, Any] | None = None
    """JSON Schema of the arguments, an object, where the server is not started."""
    output: dict[str, Any] | None = None
    """JSON Schema of the structured answer, an object, where the server is not started."""


class Server(Document):
    """A real MCP server, spoken to through the gateway: a program (`command`) or a service (`url`)."""

    kind: Literal["fixture"]
    type: Literal["server"]
    title: str = ""
    """One line for people; agents do not see it."""
    command: tuple[str, ...] = ()
    """Program and arguments of a server that is spoken to on its stdin and stdout. `{python}` is the running
    interpreter, `{root}` the repository's root, `{scratch}` an empty folder of its own."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables set for the program; `{root}` and `{scratch}` as in the command."""
    cwd: RepositoryPath | None = None
    """The folder of the repository that the program is started in; the root when left out."""
    shared: StrictBool = False
    """One program for all trials of a run; otherwise each trial starts its own."""
    url: str | None = Field(default=None, pattern=r"^https?://[^?#\s]+$")
    """Where a server is that is spoken to over streamable HTTP."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with each request to `url`. `{NAME}` stands for a variable named in `pass_env`."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables: the program is given them, `headers` may use them. Their values are kept
    out of every file, and reach only this server."""
    sources: Annotated[tuple[str, ...], AfterValidator(inside)] = ()
    """Files or globs that the server is built from, beside those of the command that begin with `{root}/`;
    a change in any of them is a change of the server."""
    targets: dict[Id, Target] = Field(default_factory=dict)
    """Environment → what answers there; `real` where nothing is said."""
    client: ClientSide = ClientSide()
    """What the server may ask of its client."""
    tools: dict[Name, ServerTool] = Field(default_factory=dict)
    """What is known of its tools without asking it."""
    hide: tuple[str, ...] = ()
    """Tools that agents never see."""
    roles: dict[Name, Grants] = Field(default_factory=dict)
    """Role of the world → what it may call here; one that is not named may call nothing. Left out: everybody may
    call everything."""
    denied_when: tuple[Denial, ...] = ()
    """Errors by which the server refuses a call of its own accord. A call that gets one of them is a violation, as
    one that a role forbids."""
    start_seconds: StrictFloat | StrictInt = Field(default=30.0, gt=0)
    """How long the server may take to begin a session and to list its tools."""
    seconds: StrictFloat | StrictInt = Field(default=30.0, gt=0)
    """How long any answer may take; then the trial is invalid (`tool_server`)."""

    @model_validator(mode="after")
    def _is_reached_one_way(self) -> Server:
        if bool(self.command) == (self.url is not None):
            raise ValueError("write `command` (a program) or `url` (a service)")
        given = [key for key in ("env", "cwd", "shared") if getattr(self, key)]
        if self.url is not None and given:
            raise ValueError(f"`{given[0]}` is for a program, and this server is a `url`")
        if self.url is None and self.headers:
            raise ValueError("`headers` are for a `url`, and this server is a program")
        if self.shared and self.client.asks_agents:
            raise ValueError(
                "a shared server cannot ask agents (`client`: `pass_through`): nothing says which trial it asks for"
            )
        return self

    @model_validator(mode="after")
    def _knows_its_variables(self) -> Server:
        for header, value in self.headers.items():
            for name in VARIABLE.findall(value):
                if name not in self.pass_env:
                    raise ValueError(
                        f"header `{header}` has `{{{name}}}`, which is not among `pass_env`, so that it "
                        f"would be sent as it stands; write `pass_env: [{', '.join((*self.pass_env, name))}]`"
                    )
        return self

    @model_validator(mode="after")
    def _mocks_nothing_live(self) -> Server:
        for environment, target in self.targets.items():
            if target != "real" and is_live(environment):
                raise ValueError(
                    f"targets: `{environment}` is a live environment, where nothing may be mocked; write "
                    f"`{environment}: real`"
                )
        return self

    def target(self, environment: str) -> Target:
        """What answers in an environment."""
        return self.targets.get(environment, "real")

    def mocks_refused(self, environment: str) -> str | None:
        """Why its tools may not be mocked in an environment, and the target to change; None where they may."""
        if is_live(environment):
            return (
                f"environment `{environment}` is live, and nothing may be mocked there; name another "
                "environment in the case"
            )
        if self.target(environment) == "real":
            return (
                f"server `{self.id}` is `real` in environment `{environment}`; write "
                f"`targets: {{{environment}: pass_through}}` (or `mock`) in fixture `{self.id}`"
            )
        return None

    def is_started(self, environment: str, mocked: Collection[str]) -> bool:
        """Whether the real server is needed: not where fixtures answer all that it offers."""
        if self.target(environment) == "mock":
            return False
        offered = {name for name in self.declared() if name not in self.hide}
        return not (offered and offered <= set(mocked)) or self.target(environment) == "real"

    def declared(self) -> dict[str, ServerTool]:
        """The tools that can be offered without starting the server."""
        return {name: tool for name, tool in self.tools.items() if tool.parameters is not None}

    def variables(self) -> tuple[str, ...]:
        """Environment variables that it is given; their values are secrets."""
        return self.pass_env

    def files(self) -> Mapping[str, tuple[str, ...]]:
        """The key that names files of the repository → patterns of these; they are part of the server."""
        found: dict[str, tuple[str, ...]] = {}
        programs = [word.removeprefix("{root}/") for word in self.command if "{root}/" in word]
        named = tuple(literal(path) for path in programs if not escapes(path) and "{" not in path)
        if named:
            found["command"] = named
        if self.sources:
            found["sources"] = self.sources
        return found
