"""The agent speaks A2A, by the official SDK: a message per turn, in one context per trial.

What the agent sends is hostile, and the SDK takes it apart: whatever it raises is what the agent sent. Its
card may name any address; only those at the arm's own host are spoken to, since the way to the tools goes along.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import get_text_parts
from a2a.types import AgentCard, GetTaskRequest, Message, SendMessageRequest, Task, TaskState
from a2a.utils.constants import TransportProtocol
from google.protobuf.json_format import MessageToDict, ParseDict

from seatrial.arms.connections import CONNECT_SECONDS, Connections
from seatrial.arms.filling import Filling
from seatrial.arms.replies import excerpt, wrong
from seatrial.arms.seat import Reply, Seat
from seatrial.arms.shaped import Heard, heard
from seatrial.chat import PASSING
from seatrial.chat.pace import Pace
from seatrial.documents import A2a, ArmLimits
from seatrial.errors import ArmError

MOST_BYTES = 8_000_000
"""The largest answer that is read."""
FIRST_POLL_SECONDS, MOST_POLL_SECONDS = 0.1, 2.0
"""Between two looks at a task that is not done; twice as long each time."""

_HERE = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})
_BINDINGS = [TransportProtocol.JSONRPC.value, TransportProtocol.HTTP_JSON.value]
_UNDER_WAY = frozenset({TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING})
_REPLIED = frozenset({
    TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_REJECTED,
})  # fmt: skip
"""An agent that asks back or refuses has replied."""


@asynccontextmanager
async def open(
    adapter: A2a, seat: Seat, shared: Connections, limits: ArmLimits
) -> AsyncIterator[Conversation]:
    """Read the agent's card; the agent itself runs already.

    Raises:
        ArmError: there is none, or none that can be spoken to.
    """
    filling = Filling(seat)
    headers = {"Accept-Encoding": "identity", **filling.headers(adapter.headers)}
    timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
    async with httpx.AsyncClient(headers=headers, timeout=timeout, transport=_Bounded()) as http:
        with _told(adapter):
            card = await A2ACardResolver(http, adapter.url).get_agent_card(adapter.card)
            _keep_to_the_host(card, adapter)
            config = ClientConfig(
                streaming=False, httpx_client=http, supported_protocol_bindings=_BINDINGS
            )
            client = ClientFactory(config).create(card)
        yield Conversation(adapter, seat, client, filling, shared.pace(adapter.url, limits))


class Conversation:
    """One trial's context with an agent."""

    def __init__(
        self, adapter: A2a, seat: Seat, client: Client, filling: Filling, pace: Pace
    ) -> None:
        self.notes: list[str] = []
        self.meanwhile = ""
        self._adapter = adapter
        self._seat = seat
        self._client = client
        self._filling = filling
        self._pace = pace
        self._task = ""

    async def reply(self, turn: int, text: str) -> Reply:
        """Send the message, and wait until the task that it leads to is done, or asks back."""
        self._filling.say(turn, text)
        message = {
            "messageId": f"{self._seat.trial}-{turn}",
            "role": "ROLE_USER",
            "parts": [{"text": text}],
            "contextId": self._filling.session or "",
            "taskId": self._task,
            "metadata": self._filling.body(self._adapter.metadata),
        }
        found = await self._pace.ask(
            lambda: self._asked(message),
            retries=0,
            used=lambda found: found.reply.tokens,
            waiting=self._seat.waiting,
        )
        self._filling.hear(found.reply.text, found.session)
        return found.reply

    async def _asked(self, message: dict[str, Any]) -> Heard:
        answer: Message | Task | None = None
        with _told(self._adapter):
            request = ParseDict({"message": message}, SendMessageRequest())
            async for event in self._client.send_message(request):
                answer = event.message if event.HasField("message") else event.task
            if isinstance(answer, Task):
                answer = await self._done(answer)
            value = MessageToDict(answer) if answer is not None else None
        who = f"the agent at {self._adapter.url}"
        self._task = ""
        if isinstance(answer, Task):
            text = self._text_of_task(answer, who)
        elif answer is not None:
            text = "\n".join(get_text_parts(answer.parts))
        if answer is None or (not text and self._adapter.response.text is None):
            raise wrong(who, "neither a message nor a task with a text in it")
        found = heard(value, self._adapter.response, who=who, text=text)
        return Heard(found.reply, answer.context_id or None)

    async def _done(self, task: Task) -> Task:
        """The task when it is no longer under way; the turn's time bounds it."""
        wait = FIRST_POLL_SECONDS
        while task.status.state in _UNDER_WAY:
            self.meanwhile = f"its task is {_named(task)}"
            await anyio.sleep(wait)
            wait = min(2 * wait, MOST_POLL_SECONDS)
            task = await self._client.get_task(GetTaskRequest(id=task.id))
        self.meanwhile = ""
        return task

    def _text_of_task(self, task: Task, who: str) -> str:
        said = "\n".join(get_text_parts(task.status.message.parts))
        if task.status.state not in _REPLIED:
            why = f": {excerpt(said)}" if said else ""
            raise ArmError("agent_unreachable", f"{who} says that its task is {_named(task)}{why}")
        if task.status.state != TaskState.TASK_STATE_COMPLETED:
            if task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED:
                self._task = task.id  # what the person says next goes on with it
            return said
        made = [text for artifact in task.artifacts for text in get_text_parts(artifact.parts)]
        return "\n".join(made) or said


def _named(task: Task) -> str:
    try:
        name: str = TaskState.Name(task.status.state)
    except ValueError:  # a number that none of them has
        return "in a state that is none"
    return name.removeprefix("TASK_STATE_").lower().replace("_", " ")


def _keep_to_the_host(card: AgentCard, adapter: A2a) -> None:
    """Forget the addresses elsewhere that a card names."""
    named = list(card.supported_interfaces)
    kept = [found for found in named if _origin(found.url) == _origin(adapter.url)]
    if not kept:
        elsewhere = ", ".join(excerpt(found.url, 80) for found in named[:5]) or "no address"
        raise ArmError(
            "agent_unreachable",
            f"the card of the agent at {adapter.url} names {elsewhere}, and the agent is spoken to only at "
            "the host of `url`",
        )
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(kept)


def _origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port; the names of this machine are one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ("", "", None)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return (parts.scheme, "localhost" if host in _HERE else host, port or usual)


@contextmanager
def _told(adapter: A2a) -> Iterator[None]:
    """What goes wrong within the block is what the agent sent, or did not send."""
    try:
        yield
    except ArmError:
        raise
    except Exception as error:  # what the SDK raises on hostile answers is no closed set
        why = excerpt(str(error)) or type(error).__name__
        raise ArmError(
            "agent_unreachable",
            f"the agent at {adapter.url} cannot be spoken to: {why}",
            passing=_is_passing(error),
        ) from error


def _is_passing(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, httpx.TransportError):
            return True
        if isinstance(error, httpx.HTTPStatusError):
            return error.response.status_code in PASSING
        error = error.__cause__
    return False


class _Bounded(httpx.AsyncHTTPTransport):
    """Answers of a bounded size: the SDK reads them whole."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.stream.aclose()
            raise httpx.DecodingError("the answer is compressed, which was not asked for")
        response.stream = _Counted(response.stream)
        return response


class _Counted(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for received in self._stream:
            size += len(received)
            if size > MOST_BYTES:
                raise httpx.DecodingError(f"more than {MOST_BYTES:,} bytes")
            yield received

    async def aclose(self) -> None:
        await self._stream.aclose()
