"""A practice world of kind `http`: a service that is reset and read by URLs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt

from seatrial.documents import placeholders
from seatrial.documents.base import Part
from seatrial.documents.patterns import inside
from seatrial.documents.world.base import Name, ToolAsData, World

UrlPath = Annotated[str, Field(pattern=r"^/[^?#\s]*$")]
"""The path of a URL, from its first `/`, without a query."""

REFUSALS = (400, 403, 404, 405, 409, 410, 412, 422)
"""Statuses by which a service tells whoever asks that it will not do that."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class _Request(Part):
    method: Method = "GET"
    """The HTTP method."""
    path: UrlPath
    """Below the world's `url`; may hold placeholders, which are encoded."""
    query: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the URL; may hold placeholders. One that is an argument not given is left out."""
    body: Any = Field(default=None, alias="json")
    """What is sent as JSON; may hold placeholders. What is an argument not given is left out."""


class Reset(_Request):
    """How the service is brought to its starting state."""

    method: Method = "POST"
    """The HTTP method."""


class Reading(_Request):
    """Where the objects of a type are read."""

    at: str = ""
    """Where they stand in the answer: a dotted path; the whole answer when empty. A list of objects, or a
    mapping from keys to objects."""
    key: Name = "id"
    """In a list, the property that is an object's key."""


class HttpTool(ToolAsData):
    """A tool that is a request to the service."""

    method: Method = "GET"
    """The HTTP method."""
    path: UrlPath
    """Below the world's `url`; may hold `{{args.…}}`, which is encoded."""
    query: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the URL; may hold `{{args.…}}`. One that is an argument not given is left out."""
    body: Any = Field(default=None, alias="json")
    """What is sent as JSON; may hold `{{args.…}}`. What is an argument not given is left out."""


class HttpWorld(World):
    """A practice world of kind `http`: a service that runs already, reset before each trial.

    Where `url`, `headers` or `reset` hold `{{run}}`, each trial has a part of the service to itself;
    otherwise trials take turns.
    """

    world: Literal["http"]
    """The kind of practice world."""
    url: str = Field(pattern=r"^https?://[^?#\s]+$")
    """Where the service is."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with each request. `{NAME}` stands for a variable named in `pass_env`."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables that `headers` may use; their values are kept out of every file."""
    sources: Annotated[tuple[str, ...], AfterValidator(inside)] = ()
    """Files or globs that the service is built from; a change in any of them is a change of the world."""
    reset: Reset
    """The request that brings it to its starting state, before each trial."""
    state: dict[Name, Reading] = Field(min_length=1)
    """Object type → where its objects are read, at the start and at the end."""
    same_start: StrictBool = True
    """Every trial must start from the same state, so that nothing of one is left for the next. Write
    `false` for a service that draws ids of its own when it is reset."""
    refusals: tuple[StrictInt, ...] = REFUSALS
    """Statuses that are an answer for the agent. Any other from 300 up is a fault of the world."""
    seconds: StrictFloat | StrictInt = Field(default=10.0, gt=0)
    """How long a request may take."""
    tools: dict[Name, HttpTool] = Field(min_length=1)
    """Tools by name; the agent sees them on a server named as the world."""

    @property
    def is_shared(self) -> bool:
        """Whether trials must take turns, because nothing tells them apart."""
        told_apart_by = (self.url, self.headers, self.reset.path, self.reset.query, self.reset.body)
        return not any("run" in placeholders.names(part) for part in told_apart_by)

    def files(self) -> Mapping[str, tuple[str, ...]]:
        return {"sources": self.sources} if self.sources else {}

    def variables(self) -> tuple[str, ...]:
        return self.pass_env

    def tools_as_data(self) -> Mapping[str, ToolAsData]:
        return self.tools

    def declared_types(self) -> Mapping[str, frozenset[str] | None]:
        return dict.fromkeys(self.state)
