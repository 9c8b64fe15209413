"""A session with an MCP server, whatever carries the messages: requests, answers, and what it says of its own.

Nothing here raises on what a server writes: one that dies, hangs, floods or writes garbage is told to
whoever waits for it, as a ToolServerError.
"""

from __future__ import annotations

import json
import re
import secrets
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import anyio.abc
from pydantic_core import from_json

from seatrial import __version__
from seatrial.errors import ToolServerError, printable

VERSION = "2025-11-25"
"""The protocol version that is asked for."""
VERSIONS = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", VERSION})
"""What a server may answer: in all of these, a session begins with a handshake."""

EXIT_SECONDS = 1.0
"""How long a server that is in trouble is waited for: its exit status, or that it takes a message."""
MOST_LINE = 64_000_000
"""The longest message, in bytes."""
MOST_STRAY = 1_000_000
"""Bytes that are no messages."""
MOST_ASKED = 100
"""Requests of a server that are answered at the same time."""
MOST_TOLD = 16_000_000
"""Bytes of progress that one request may bring."""
MOST_PAGES = 100
"""Pages of a list."""
_SHOWN = 200

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603

Tell = Callable[[dict[str, Any]], None]
"""Is handed the progress of a request, as a message of the protocol."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ID = re.compile(rb'"id"\s*:\s*([0-9]{1,20})')
_HUGE = re.compile(rb"[0-9][eE]\+?[0-9]{3}|[0-9]{300}")
"""What a number that no computer holds must have in it."""


class Rejected(Exception):
    """A server answered a request with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


class Client(Protocol):
    """What hears what a server says of its own accord."""

    def told(self, message: dict[str, Any]) -> None:
        """Take a notification that is not about one request."""
        ...

    async def asked(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of the server: an object with `result`, or with `error`."""
        ...


@dataclass(frozen=True, slots=True)
class Response:
    """A server's answer to a request, as it came and as it is read."""

    line: bytes
    """The message, as the server wrote it."""
    number: int
    """The id under which it was asked for."""
    message: dict[str, Any]
    sound: bool = True
    """It is JSON that everybody can read and write; else that is to be found out."""

    def under(self, id: str | int) -> bytes:
        """The message under another id: the server's own bytes but for that, and on one line."""
        head = b'"id":%d' % self.number
        at = self.line.find(head)
        if at < 0:  # written with spaces
            found = [m for m in _ID.finditer(self.line) if int(m[1]) == self.number]
            spans = [match.span() for match in found]
        else:
            spans = [(at, at + len(head))]
            if self.line.find(head, at + 1) >= 0:
                spans = []
        if len(spans) != 1:  # it also stands elsewhere in the answer
            return _encode({**self.message, "id": id}).encode()
        start, end = spans[0]
        line = b'%b"id":%b%b' % (self.line[:start], _encode(id).encode(), self.line[end:])
        if b"\n" in line or b"\r" in line:  # between tokens: inside of texts they are written out
            line = line.replace(b"\n", b" ").replace(b"\r", b" ")
        return line


@dataclass(slots=True, eq=False)
class Waiting:
    """A request under way."""

    done: anyio.Event = field(default_factory=anyio.Event)
    response: Response | None = None
    tell: Tell | None = None
    token: Any = None
    """Under which the client wants to hear of progress."""
    told: int = 0
    """Bytes of progress so far."""
    failed: str = ""
    """Why there will be no answer to this request, although the server is still there."""
    passing: bool = False
    """That may go away by itself."""


class Session(ABC):
    """A server that has shaken hands."""

    speaks_while_written_to = False
    """Once a request is written, its answer has been read too (HTTP)."""

    def __init__(
        self, tasks: anyio.abc.TaskGroup, *, who: str, client: Client | None = None
    ) -> None:
        """Set up a session.

        Args:
            tasks: answers to the server's requests are worked out in.
            who: what messages call the server.
            client: hears what it says of its own accord; without one it is only given a sign of life.
        """
        self.info: dict[str, Any] = {}
        """What it answered to `initialize`: `serverInfo`, `capabilities`, `instructions`."""
        self.version = ""
        """The version of the protocol that was agreed on."""
        self.lists_changed = False
        """It has said since it was started that its tools are no longer those that it listed."""
        self.client = client
        self._who = who
        self._tasks = tasks
        # Nobody's numbers: in an answer, the id of its request is found by its digits.
        self._numbers = 10**12 + secrets.randbelow(10**12)
        self._waiting: dict[int, Waiting] = {}
        self._asking: dict[str | int, anyio.CancelScope] = {}
        self._stray: deque[str] = deque(maxlen=1)
        self._stray_bytes = 0
        self._gone = ""

    @property
    def is_gone(self) -> bool:
        """It has ended, or can no longer be spoken to."""
        return bool(self._gone)

    @property
    def why_gone(self) -> str:
        """What has become of it, with its last words; empty while it is there."""
        return f"{self._who} {self._gone}{self._last_words()}" if self._gone else ""

    # --- what is asked of it ---

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, seconds: float
    ) -> dict[str, Any]:
        """The result of a request. When we are cancelled, the server is told so.

        Raises:
            Rejected: the server answered with an error.
            ToolServerError: it is gone, or did not answer in time, or with no object.
        """
        response = await self.exchange(method, dict(params or {}), seconds=seconds)
        return self.result(method, response)

    async def exchange(
        self, method: str, params: dict[str, Any], *, seconds: float, tell: Tell | None = None
    ) -> Response:
        """The answer to a request, be it a result or an error. When we are cancelled, the server is told so.

        Args:
            method: in MCP's words.
            params: its parameters; a progress token among them is the client's own.
            seconds: how long it may take.
            tell: is handed the progress that the server reports, under that token.

        Raises:
            ToolServerError: the server is gone, or did not answer in time, or with what is no answer.
        """
        self._numbers = number = self._numbers + 1
        self._waiting[number] = waiting = Waiting()
        meta = params.get("_meta")
        if isinstance(meta, dict) and "progressToken" in meta:
            waiting.tell, waiting.token = tell, meta["progressToken"]
            params = {**params, "_meta": {**meta, "progressToken": number}}
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            with anyio.fail_after(seconds):
                await self._send(message, waiting)
                if waiting.response is None and not (self._gone or waiting.failed):
                    if self.speaks_while_written_to:
                        waiting.failed = f"does not answer {method}: it ends its reply without"
                    else:
                        await waiting.done.wait()
        except TimeoutError:
            await self._give_up(number, "it took too long")
            raise ToolServerError(
                f"{self._who} did not answer {method} within {seconds:g} s{self._last_words()}"
            ) from None
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._give_up(number, "the client cancelled it")
            raise
        finally:
            del self._waiting[number]
        if waiting.response is None:
            if waiting.failed:
                failure = ToolServerError(f"{self._who} {waiting.failed}")
                failure.passing = waiting.passing
                raise failure
            raise ToolServerError(self.why_gone)
        return waiting.response

    def result(self, method: str, response: Response) -> dict[str, Any]:
        """The result in an answer.

        Raises:
            Rejected: it is an error.
            ToolServerError: it is neither.
        """
        error = response.message.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            known = code if isinstance(code, int) else INTERNAL_ERROR
            raise Rejected(known, str(error.get("message", "")), error.get("data"))
        result = response.message.get("result")
        if not isinstance(result, dict):
            raise ToolServerError(
                f"{self._who} answers {method} with neither a result nor an error"
            )
        return result

    async def listed(self, method: str, key: str, *, seconds: float) -> list[Any]:
        """All pages of a list (`tools/list`, `tools`).

        Raises:
            Rejected, ToolServerError: as for a request.
        """
        found: list[Any] = []
        cursor: Any = None
        for _ in range(MOST_PAGES):
            page = await self.request(
                method, {} if cursor is None else {"cursor": cursor}, seconds=seconds
            )
            items = page.get(key)
            if not isinstance(items, list):
                raise ToolServerError(f"{self._who} answers {method} without a list of {key}")
            found += items
            cursor = page.get("nextCursor")
            if cursor is None:
                return found
        raise ToolServerError(f"{self._who} answers {method} with more than {MOST_PAGES} pages")

    async def shake_hands(
        self, *, seconds: float, capabilities: Mapping[str, Any] | None = None
    ) -> None:
        """Begin the session.

        Raises:
            ToolServerError: it does not, or in a version of the protocol that is not spoken here.
        """
        asked = {
            "protocolVersion": VERSION,
            "capabilities": dict(capabilities or {}),
            "clientInfo": {"name": "seatrial", "version": __version__},
        }
        try:
            self.info = await self.request("initialize", asked, seconds=seconds)
        except Rejected as error:
            raise ToolServerError(
                f"{self._who} does not begin a session: {printable(error.message)} ({error.code})"
            ) from error
        version = self.info.get("protocolVersion")
        if version not in VERSIONS:
            raise ToolServerError(
                f"{self._who} speaks version {version!r} of the protocol; spoken here are "
                + ", ".join(sorted(VERSIONS))
            )
        self.version = version
        await self.notify("notifications/initialized")

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Tell the server something; one that is gone, or does not listen, is not told."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        await self._send(message if params is None else {**message, "params": dict(params)})

    def abandon(self, why: str) -> None:
        """Speak with the server no more: whoever waits for it is told why."""
        self._lose(why)

    # --- what carries the messages ---

    @abstractmethod
    async def _write(self, line: bytes, waiting: Waiting | None) -> None:
        """Hand a message over; one that cannot be is noticed elsewhere, or in `waiting.failed`."""

    def _last_words(self) -> str:
        """What it said last beside the protocol, to be added to a sentence."""
        return f"; its last line on stdout is no message: {self._stray[-1]}" if self._stray else ""

    async def _send(self, message: Mapping[str, Any], waiting: Waiting | None = None) -> None:
        await self._write(_encode(message).encode("utf-8", "replace"), waiting)

    def _take(self, line: bytes) -> bool:
        """Take a message in; false when it is none."""
        sound = True
        try:
            message = from_json(line, allow_inf_nan=False)
        except ValueError:
            sound, message = False, _leniently_read(line)
        if isinstance(message, list) and message and all(isinstance(m, dict) for m in message):
            for each in message:  # a batch, in the versions that have them
                self._take_message(_encode(each).encode("utf-8", "replace"), each, sound)
            return True
        if not isinstance(message, dict):
            return False
        self._take_message(line, message, sound)
        return True

    def _take_message(self, line: bytes, message: dict[str, Any], sound: bool) -> None:
        if isinstance(message.get("method"), str):
            self._heard(message, len(line))
        elif type(id := message.get("id")) is int and id in self._waiting:
            sound = sound and _HUGE.search(line) is None
            self._waiting[id].response = Response(line, id, message, sound)
            self._waiting[id].done.set()

    def _put_aside(self, line: bytes) -> None:
        """Some servers write a greeting on stdout; a flood of it is no greeting, nor is half an answer."""
        self._stray.append(excerpt(line[: 4 * _SHOWN]))
        self._stray_bytes += len(line)
        if self._stray_bytes > MOST_STRAY:
            self._lose(f"wrote more than {MOST_STRAY:,} bytes on stdout that are no messages")
            return
        for found in _ID.finditer(line[:MOST_STRAY]):
            if waiting := self._waiting.get(int(found[1])):
                waiting.failed = f"answers with what is no JSON: {self._stray[-1]}"
                waiting.done.set()

    def _lose(self, why: str) -> None:
        self._gone = self._gone or why
        for waiting in self._waiting.values():
            waiting.done.set()
        for scope in self._asking.values():
            scope.cancel()

    async def _give_up(self, number: int, why: str) -> None:
        with anyio.move_on_after(EXIT_SECONDS):
            await self.notify("notifications/cancelled", {"requestId": number, "reason": why})

    # --- what it says of its own accord ---

    def _heard(self, message: dict[str, Any], size: int) -> None:
        id = message.get("id")
        if id is not None:
            if len(self._asking) >= MOST_ASKED:
                self._lose(f"asked for more than {MOST_ASKED} things at once")
            elif isinstance(id, str | int):
                self._asking[id] = anyio.CancelScope()
                self._tasks.start_soon(self._reply, id, message)
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        match message["method"]:
            case "notifications/progress":
                token = params.get("progressToken")
                waiting = self._waiting.get(token) if type(token) is int else None
                if waiting is None or waiting.tell is None:
                    return
                waiting.told += size
                if waiting.told > MOST_TOLD:
                    waiting.failed = f"told more than {MOST_TOLD:,} bytes of how far it is"
                    waiting.done.set()
                else:
                    waiting.tell({**message, "params": {**params, "progressToken": waiting.token}})
            case "notifications/cancelled":
                asked = params.get("requestId")
                if isinstance(asked, str | int) and asked in self._asking:
                    self._asking[asked].cancel()
            case method:
                if method == "notifications/tools/list_changed":
                    self.lists_changed = True
                if self.client is not None:
                    self.client.told(message)

    async def _reply(self, id: str | int, message: dict[str, Any]) -> None:
        try:
            with self._asking[id]:
                answer = await self._answer(message)
                await self._send({"jsonrpc": "2.0", "id": id, **answer})
        finally:
            del self._asking[id]

    async def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["method"] == "ping":
            return {"result": {}}
        if self.client is None:
            return {"error": {"code": METHOD_NOT_FOUND, "message": "Method not found"}}
        return await self.client.asked(message)


def excerpt(line: bytes) -> str:
    """What a server wrote, short and safe to print."""
    text = printable(" ".join(line.decode("utf-8", "replace").split()))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def alone(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What came out of a block that our own tasks, which raise nothing, were running beside."""
    found: Iterable[BaseException] = group.exceptions
    first, *others = found
    return group if others else first


def _leniently_read(line: bytes) -> Any:
    """JSON as other parsers read it: halves of characters, more depth. None when it is none of that either."""
    try:
        return json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
