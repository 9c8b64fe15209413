"""What one trial sees of a real MCP server, and what the server sees of the trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import anyio

from seatrial.documents import Server
from seatrial.documents.server import ClientSide, Elicited, Sampled
from seatrial.errors import ToolServerError
from seatrial.state.schemas import schema_problem
from seatrial.state.values import unkeepable
from seatrial.tools import Tool
from seatrial.trace import Answer, Json
from seatrial.upstream import METHOD_NOT_FOUND, Rejected, Response, Session
from seatrial.upstream.session import EXIT_SECONDS

_ANY: dict[str, Any] = {"type": "object"}


class Front(Protocol):
    """The clients of the trial."""

    def told(self, message: dict[str, Json]) -> None:
        """Take a notification that is not about one request."""
        ...

    async def asked(
        self, message: dict[str, Json], given: dict[str, Json] | None
    ) -> dict[str, Json]:
        """The answer to a request of the server: the given one, or that of a client."""
        ...


class RealServer:
    """A real server as one trial reaches it."""

    version = 0
    """What stands behind its tools is not looked at."""

    def __init__(self, document: Server) -> None:
        self._document = document
        self._session: Session | None = None
        self._front: Front | None = None
        self._tools: tuple[Tool, ...] = ()
        self._is_stale = False
        self._looking = anyio.Lock()

    # --- what the gateway asks ---

    @property
    def name(self) -> str:
        """The server's name: the fixture's id."""
        return self._document.id

    @property
    def about(self) -> Mapping[str, Json]:
        """What it says of itself: `serverInfo`, `capabilities`, `instructions`."""
        return self._open.info

    @property
    def instructions(self) -> str:
        """What it tells a client about itself when it connects."""
        said = self._open.info.get("instructions")
        return said if isinstance(said, str) else ""

    @property
    def asks_agents(self) -> bool:
        """Agents may be asked what it asks its client."""
        return self._document.client.asks_agents

    @property
    def seconds(self) -> float:
        """How long any answer may take."""
        return self._document.seconds

    def attach(self, front: Front) -> None:
        """Let it know who hears what it says of its own accord."""
        self._front = front

    def hides(self, tool: str) -> bool:
        """Whether agents must not reach a tool."""
        return tool in self._document.hide

    def tools(self) -> tuple[Tool, ...]:
        """Its tools as it listed them last, without those that are hidden."""
        return self._tools

    async def refresh(self) -> None:
        """See to it that `tools` are those that it has now.

        Raises:
            ToolServerError: it does not say.
        """
        if self._is_stale:
            await self.look()

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Never asked for: the gateway hands calls over as they came."""
        raise AssertionError("a real server is asked by `exchange`")

    async def exchange(
        self, method: str, params: dict[str, Json], tell: Callable[[dict[str, Json]], None] | None
    ) -> Response:
        """Its answer to a request, be it a result or an error.

        Raises:
            ToolServerError: it died, hung, or answered garbage.
        """
        return await self._open.exchange(method, params, seconds=self._document.seconds, tell=tell)

    async def notify(self, method: str, params: Mapping[str, Json] | None) -> None:
        """Tell it something; one that does not listen is not waited for."""
        with anyio.move_on_after(EXIT_SECONDS):
            await self._open.notify(method, params)

    def abandon(self, why: str) -> None:
        """Speak with it no more: whoever waits for it is told why."""
        self._open.abandon(why)

    # --- what opens it ---

    async def begin(self, session: Session) -> None:
        """Take a session that has begun, and ask for the tools.

        Raises:
            ToolServerError: the server does not list them, or not as tools.
        """
        self._session = session
        await self.look()

    async def look(self) -> None:
        """Ask for the tools anew.

        Raises:
            ToolServerError: the server does not list them, or not as tools.
        """
        async with self._looking:
            self._is_stale = False
            capabilities = self._open.info.get("capabilities")
            if isinstance(capabilities, dict) and "tools" not in capabilities:
                return
            try:
                listed = await self._open.listed(
                    "tools/list", "tools", seconds=self._document.start_seconds
                )
            except Rejected as error:
                raise self._fault(f"does not list its tools: {error.message}") from error
            if why := unkeepable(listed):
                raise self._fault(f"lists its tools with what is no JSON: {why}")
            tools = [self._tool(entry) for entry in listed]
            names = [tool.name for tool in tools]
            if len(set(names)) < len(names):
                raise self._fault("lists two tools of one name")
            for wanted in (*self._document.tools, *self._document.hide):
                if wanted not in names:
                    raise self._fault(f"has no tool {wanted!r}; it has {', '.join(names)}")
            self._tools = tuple(tool for tool in tools if not self.hides(tool.name))

    # --- what the server wants ---

    def told(self, message: dict[str, Any]) -> None:
        """Take a notification that is not about one request."""
        if message["method"] == "notifications/tools/list_changed":
            self._is_stale = True
        if self._front is not None:
            self._front.told(message)

    async def asked(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of the server."""
        given = given_answer(self._document.client, message["method"])
        if self._front is None:
            return given or {"error": {"code": METHOD_NOT_FOUND, "message": "Nobody is there yet"}}
        return await self._front.asked(message, given)

    # --- within ---

    @property
    def _open(self) -> Session:
        assert self._session is not None
        return self._session

    def _tool(self, entry: Any) -> Tool:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name:
            raise self._fault("lists a tool without a name")
        arguments, answer = entry.get("inputSchema"), entry.get("outputSchema")
        said = entry.get("annotations")
        annotations = said if isinstance(said, dict) else {}
        known = self._document.tools.get(name)
        read_only = known.read_only if known is not None else None
        destructive = known.destructive if known is not None else None
        leaves_world = known.leaves_world if known is not None else None
        return Tool(
            name=name,
            description=str(entry.get("description") or ""),
            # A schema that is none is the server's own matter, and the agent's: nothing is held against it.
            input_schema=arguments if _is_schema(arguments) else _ANY,
            output_schema=answer if _is_schema(answer) else None,
            read_only=_hint(read_only, annotations.get("readOnlyHint")),
            destructive=_hint(destructive, annotations.get("destructiveHint")),
            leaves_world=_hint(leaves_world, annotations.get("openWorldHint")),
            title=str(entry.get("title") or annotations.get("title") or ""),
            entry=entry,
        )

    def _fault(self, what: str) -> ToolServerError:
        return ToolServerError(f"server {self.name!r} {what}")


def capabilities(client: ClientSide) -> dict[str, Any]:
    """What a server is told that its client can do."""
    return {
        key: {} for key in ("roots", "sampling", "elicitation") if getattr(client, key) is not None
    }


_ASKED_FOR = {
    "roots/list": "roots",
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
}
"""Request of a server → the key of the fixture that says who answers it."""


def given_answer(client: ClientSide, method: str) -> dict[str, Any] | None:
    """The fixture's answer to a request of a server; None when the agent is to be asked."""
    found = getattr(client, _ASKED_FOR[method]) if method in _ASKED_FOR else None
    if found is None:
        message = f"The client cannot be asked for {method}"
        return {"error": {"code": METHOD_NOT_FOUND, "message": message}}
    if found == "pass_through":
        return None
    if isinstance(found, Sampled):
        return {
            "result": {
                "role": "assistant",
                "content": {"type": "text", "text": found.text},
                "model": found.model,
                "stopReason": found.stop_reason,
            }
        }
    if isinstance(found, Elicited):
        return {"result": found.model_dump(exclude_none=True)}
    return {"result": {"roots": [root.model_dump(exclude_none=True) for root in found]}}


def _is_schema(schema: Any) -> bool:
    return isinstance(schema, dict) and schema_problem(schema) is None


def _hint(written: bool | None, said: Any) -> bool | None:
    """What the fixture says, else what the server says."""
    if written is not None:
        return written
    return said if isinstance(said, bool) else None
