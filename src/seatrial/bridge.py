"""A stdio MCP server that is nothing but a wire to a trial's endpoint, for agents that only speak stdio.

`seatrial gateway connect` runs it, and so does `python -I bridge.py` with address and token in the
environment, which is what config files name: it is one file and needs the standard library alone, because
an agent waits for it to start, wherever Seatrial is installed.

Every message goes on as it came, in any version of the protocol. What HTTP knows beside the body is
added here: the session and the negotiated version of the first era (a handshake), and the headers that
repeat version, method and name in the second (from 2026-07-28). A call that is given up in the second
era ends with its connection, as over HTTP. An answer that is no message (an HTML page, half a body, a
dropped connection) becomes a JSON-RPC error of the request it belongs to: on stdout there is nothing but
the protocol, and no request is left without an answer.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import queue
import re
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlsplit

MOST_AT_ONCE = 128
"""Requests under way; more wait for their turn, first come, first served."""
CONNECT_SECONDS = 10.0
"""A gateway on the same machine that does not take a connection by then is not there."""
LEAVE_SECONDS = 1.0
"""How long answers on their way are waited for once the client has closed stdin."""
LISTEN_AGAIN_SECONDS = 1.0

OVER, INTERRUPTED, WRONG = 0, 130, 2
"""Exit codes: the client left or the conversation is over; Ctrl-C; wrong address or token."""

_PARSE_ERROR, _INVALID_REQUEST, _INTERNAL_ERROR = -32700, -32600, -32603
_HEADER_MISMATCH = -32020
_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method → the parameter that the `Mcp-Name` header repeats."""
_MARK = "x-mcp-header"
"""In a tool's schema: the argument is repeated in the header `Mcp-Param-…`."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_DEEPEST = 20
"""Objects within objects in which marks are looked for."""
_PLAIN = re.compile(r"[!-~]([ -~]*[!-~])?")
"""What may stand in a header as it is."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SHOWN = 200


class Misdirected(Exception):
    """There is no address, or it is none."""


class _Broken(Exception):
    """A request that got no proper answer, and why."""

    def __init__(self, why: str, **data: Any) -> None:
        super().__init__(why)
        self.error: dict[str, Any] = {"code": _INTERNAL_ERROR, "message": why}
        """As JSON-RPC tells it."""
        if data := {name: value for name, value in data.items() if value is not None}:
            self.error["data"] = data


class _Request:
    """A message of the client's that is to be answered."""

    def __init__(
        self, body: bytes, method: str, headers: dict[str, str], id: Any, *, modern: bool
    ) -> None:
        self.body = body
        self.method = method
        self.headers = headers
        self.id = id
        self.modern = modern
        self.dropped = False
        """The client wants no answer any more, or has one."""
        self.connection: http.client.HTTPConnection | None = None


def address(environ: Mapping[str, str], url: str | None = None, server: str | None = None) -> str:
    """The endpoint to connect to.

    Args:
        environ: where `SEATRIAL_MCP_URL` and its like are looked up.
        url: an endpoint (`…/mcp`), or the base of a trial's addresses; the environment's when None.
        server: the name of the MCP server; needed where there are several.

    Raises:
        Misdirected: none is given, or it is not an address of this machine.
    """
    given = url or environ.get("SEATRIAL_MCP_URL", "")
    if not given:
        raise Misdirected("no address: set SEATRIAL_MCP_URL, or say --url")
    try:
        parts = urlsplit(given)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise Misdirected(f"{given!r} is no address: {error}") from None
    if parts.scheme != "http" or host not in _LOOPBACK:
        raise Misdirected(f"{given!r} is no http address of this machine (http://127.0.0.1:PORT/…)")
    base = given.rstrip("/")
    if base.endswith("/mcp") and server is None:
        return base
    if server is not None:
        return f"{base}/{quote(server, safe='')}/mcp"
    own = sorted(
        address
        for name, address in environ.items()
        if re.fullmatch("SEATRIAL_MCP_.+_URL", name) and address.startswith(f"{base}/")
    )
    if len(own) == 1:
        return own[0]
    names = ", ".join(address.split("/")[-2] for address in own)
    raise Misdirected(
        "which server? say --server NAME"
        + (f", one of {names}" if names else f" ({base} is a base)")
    )


class Bridge:
    """Messages from a client's pipe to an endpoint, and back."""

    def __init__(self, url: str, token: str, *, source: int = 0, sink: int = 1) -> None:
        """Set up.

        Args:
            url: the endpoint.
            token: the trial's bearer token.
            source: file descriptor that the client writes to.
            sink: file descriptor that the client reads.
        """
        parts = urlsplit(url)
        self._host, self._port, self._path = parts.hostname or "", parts.port or 80, parts.path
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._source, self._sink = source, sink
        self._writing, self._changing = threading.Lock(), threading.Lock()
        self._ends: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
        self._jobs: queue.SimpleQueue[_Request] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._workers = 0
        self._own = self._connection()
        """Of the thread that reads: for what must arrive in order."""
        self._pending: dict[tuple[str, str], _Request] = {}
        self._session: dict[str, str] = {}
        """Headers of the first era, once there was a handshake."""
        self._modern: dict[str, str] = {}
        """The version header of the second, once it was spoken."""
        self._marked: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
        """Tool → its arguments that headers repeat: the path of each, and what its header ends in."""
        self._reached = False
        self._listening = False

    def run(self) -> int:
        """Carry messages until either side is gone or a signal comes; the exit code."""
        signal.signal(signal.SIGTERM, lambda *_: self._ends.put((OVER, "")))
        signal.signal(signal.SIGINT, lambda *_: self._ends.put((INTERRUPTED, "")))
        for descriptor in (self._source, self._sink):
            with suppress(OSError):
                os.set_blocking(descriptor, True)
        _start(self._read)
        code, why = self._ends.get()
        if not why:
            self._leave()
        closed = _Broken(why or "Not answered: the connection is closed")
        for request in self._waiting():
            self._fail(request, closed)
        if why:
            _tell(why)
        return code

    # --- from the client ---

    def _read(self) -> None:
        unread = bytearray()
        while True:
            try:
                received = os.read(self._source, 1 << 16)
            except OSError:
                received = b""
            if not received:
                self._ends.put((OVER, ""))
                return
            start = len(unread)
            unread += received
            while (cut := unread.find(b"\n", start)) >= 0:
                line = bytes(unread[:cut])
                del unread[: cut + 1]
                start = 0
                if line.strip():
                    self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, list):  # a batch, which two versions of the first era have
            request = _Request(line, "", self._session, None, modern=False)
        elif isinstance(message, dict):
            request = self._request(line, message)
        else:
            error = {"code": _PARSE_ERROR, "message": "A line is one JSON-RPC message"}
            self._write(_encoded({"jsonrpc": "2.0", "id": None, "error": error}))
            return
        if isinstance(message, dict) and not ("method" in message and "id" in message):
            self._pass_on(message, request)
            return
        with self._changing:
            self._pending[_key(request.id)] = request
        if request.method == "initialize":
            self._ask(request, self._own)  # what comes next belongs to this session
        else:
            self._submit(request)

    def _request(self, line: bytes, message: dict[str, Any]) -> _Request:
        """A message with what HTTP wants to know of it beside its body."""
        method, id, params = (
            str(message.get("method", "")),
            message.get("id"),
            message.get("params"),
        )
        meta = params.get("_meta") if isinstance(params, dict) else None
        version = meta.get(_META_VERSION) if isinstance(meta, dict) else None
        if method == "initialize":
            self._session = {}
        if not isinstance(params, dict) or not isinstance(version, str):
            modern = bool(self._modern) and not self._session and method != "initialize"
            headers = self._modern if modern else self._session
            return _Request(line, method, headers, id, modern=modern)
        self._modern = {"Mcp-Protocol-Version": _header(version)}
        headers = {**self._modern, "Mcp-Method": _header(method)}
        name = params.get(_NAMED_BY.get(method, ""))
        if isinstance(name, str):
            headers["Mcp-Name"] = _header(name)
        if method == "tools/call":
            headers |= self._mirrored(params)
        return _Request(line, method, headers, id, modern=True)

    def _mirrored(self, params: dict[str, Any]) -> dict[str, str]:
        """The headers that repeat arguments of a call, as far as it is known that they are to be repeated."""
        headers = {}
        for path, token in self._marked.get(str(params.get("name")), ()):
            value = params.get("arguments")
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            if isinstance(value, bool):
                headers[f"Mcp-Param-{token}"] = "true" if value else "false"
            elif isinstance(value, str | int | float):
                headers[f"Mcp-Param-{token}"] = _header(str(value))
        return headers

    def _pass_on(self, message: dict[str, Any], request: _Request) -> None:
        """A notification, or the answer to a request of the server's."""
        if request.method == "notifications/cancelled" and self._give_up(message):
            return
        try:
            self._connect(self._own)
            self._exchange(self._own, "POST", request).read()
        except _Broken:
            pass
        except (OSError, http.client.HTTPException):
            self._own.close()  # it asks for nothing, so nobody can be told; the next request tells
        if request.method == "notifications/initialized" and self._session and not self._listening:
            self._listening = True
            _start(self._listen)

    def _give_up(self, message: dict[str, Any]) -> bool:
        """Forget a request that the client cancels; whether the server has been told by that."""
        params = message.get("params")
        id = params.get("requestId") if isinstance(params, dict) else None
        with self._changing:
            request = self._pending.pop(_key(id), None)
            if request is None:
                return False
            request.dropped = True
            if request.modern and request.connection is not None:
                _hang_up(request.connection)
        return request.modern

    # --- to the endpoint ---

    def _submit(self, request: _Request) -> None:
        self._jobs.put(request)
        if not self._idle.acquire(blocking=False) and self._workers < MOST_AT_ONCE:
            self._workers += 1
            _start(self._work)

    def _work(self) -> None:
        connection = self._connection()
        while True:
            self._ask(self._jobs.get(), connection)
            self._idle.release()

    def _ask(self, request: _Request, connection: http.client.HTTPConnection) -> None:
        """Post a request, and see to it that it gets an answer."""
        with self._changing:
            if request.dropped:
                return
            request.connection = connection
        try:
            self._connect(connection)
            if not request.dropped:  # from here on giving it up hangs up
                self._carry_out(request, connection)
        except _Broken as error:
            connection.close()
            self._fail(request, error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            why = str(error) or type(error).__name__
            self._fail(request, _Broken(f"The connection to the tools broke: {why}"))
        finally:
            with self._changing:
                request.connection = None

    def _carry_out(
        self,
        request: _Request,
        connection: http.client.HTTPConnection,
        *,
        once_more: bool = True,
    ) -> None:
        response = self._exchange(connection, "POST", request)
        for message, line in _messages(response, request.id):
            if isinstance(message, dict) and "method" in message:
                self._write(line)
                continue
            # Refused before anything was done: this client has not listed the tools.
            mismatch = once_more and _code_of(message) == _HEADER_MISMATCH
            if mismatch and self._mirror_anew(request, connection):
                self._carry_out(request, connection, once_more=False)
                return
            self._learn(request, message, response)
            if self._forget(request):
                self._write(line)
        if request.id is not None or response.status != 202:
            self._fail(request, _Broken("The tools answered with nothing"))
        self._forget(request)

    def _mirror_anew(self, request: _Request, connection: http.client.HTTPConnection) -> bool:
        """Ask which arguments headers repeat; whether a call is to be sent with other headers now."""
        params = json.loads(request.body).get("params")
        if request.method != "tools/call" or not isinstance(params, dict):
            return False
        asked = {"jsonrpc": "2.0", "id": 0, "method": "tools/list"}
        body = _encoded({**asked, "params": {"_meta": params.get("_meta")}})
        headers = {**self._modern, "Mcp-Method": "tools/list"}
        listing = _Request(body, "tools/list", headers, 0, modern=True)
        response = self._exchange(connection, "POST", listing)
        for message, _ in _messages(response, listing.id):
            self._learn(listing, message, response)
        before, request.headers = request.headers, {**request.headers, **self._mirrored(params)}
        return request.headers != before

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        """Make sure that it is connected: one that the endpoint has closed is opened anew.

        Raises:
            _Broken: the endpoint is gone.
        """
        if connection.sock is not None and _is_quiet(connection.sock):
            return
        connection.close()
        try:
            connection.connect()
        except OSError as error:
            why = f"nothing answers at port {self._port}: {error.strerror or error}"
            raise self._over(why) from None
        connection.sock.settimeout(None)

    def _exchange(
        self, connection: http.client.HTTPConnection, verb: str, request: _Request
    ) -> http.client.HTTPResponse:
        """Send one HTTP request; the response, once its head is there.

        Raises:
            _Broken: the token is wrong, or the conversation is over; the process ends with it.
        """
        headers = {**self._headers, **request.headers}
        connection.request(verb, self._path, request.body or None, headers)
        response = connection.getresponse()
        if response.status in {401, 404}:
            body = response.read()
            error = _error_of(body)
            if error.get("code") != _INVALID_REQUEST:
                raise _unreadable(response, body, error)
            if response.status == 401:
                raise self._over("the token is not accepted (SEATRIAL_MCP_TOKEN)", code=WRONG)
            if "session" not in str(error.get("message")).lower():
                raise self._over("there are no tools at this address")
            raise _unreadable(response, body, error)
        self._reached = self._reached or response.status < 300
        return response

    def _over(self, why: str, *, code: int | None = None) -> _Broken:
        """The endpoint is gone, as it is when a conversation ends; the process ends with it."""
        if code is None:
            code = OVER if self._reached else WRONG
        if code == OVER:
            why = f"the conversation is over: {why}"
        self._ends.put((code, why))
        return _Broken(why)

    def _learn(self, request: _Request, message: Any, response: http.client.HTTPResponse) -> None:
        """Take out of an answer what later requests need: version and session, marks of arguments."""
        result = message.get("result") if isinstance(message, dict) else None
        if not isinstance(result, dict):
            return
        version, tools = result.get("protocolVersion"), result.get("tools")
        if request.method == "initialize" and isinstance(version, str):
            self._session = {"Mcp-Protocol-Version": _header(version)}
            if id := response.getheader("Mcp-Session-Id"):
                self._session["Mcp-Session-Id"] = id
        if request.method == "tools/list" and isinstance(tools, list):
            for tool in tools:
                self._marked[str(tool.get("name"))] = tuple(_marks(tool.get("inputSchema"), ()))

    def _listen(self) -> None:
        """Hear what the server says of its own accord, where the endpoint has a stream for it."""
        connection = self._connection()
        while True:
            with suppress(OSError, http.client.HTTPException, ValueError):
                try:
                    self._connect(connection)
                    asked = _Request(b"", "", self._session, None, modern=False)
                    response = self._exchange(connection, "GET", asked)
                except _Broken:
                    return
                if response.status != 200:
                    return
                for line in _events(response):
                    json.loads(line)
                    self._write(line)
            connection.close()
            time.sleep(LISTEN_AGAIN_SECONDS)

    def _leave(self) -> None:
        """Wait for answers on their way, a moment; then end the session."""
        deadline = time.monotonic() + LEAVE_SECONDS
        while time.monotonic() < deadline:
            if all(request.method == "subscriptions/listen" for request in self._waiting()):
                break
            time.sleep(0.01)
        if "Mcp-Session-Id" in self._session:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=LEAVE_SECONDS)
            with suppress(OSError, http.client.HTTPException):
                connection.request("DELETE", self._path, headers={**self._headers, **self._session})
                connection.getresponse().read()

    # --- to the client ---

    def _waiting(self) -> list[_Request]:
        with self._changing:
            return list(self._pending.values())

    def _forget(self, request: _Request) -> bool:
        """Take a request off the list; whether it was still to be answered."""
        with self._changing:
            to_be_answered = not request.dropped
            request.dropped = True
            if self._pending.get(_key(request.id)) is request:
                del self._pending[_key(request.id)]
        return to_be_answered

    def _fail(self, request: _Request, why: _Broken) -> None:
        """Answer with an error; the first answer to a request counts, and one given up gets none."""
        if self._forget(request):
            self._write(_encoded({"jsonrpc": "2.0", "id": request.id, "error": why.error}))

    def _write(self, message: bytes) -> None:
        # A line break within JSON stands between two tokens.
        unwritten = message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        try:
            with self._writing:
                while unwritten:
                    unwritten = unwritten[os.write(self._sink, unwritten) :]
        except OSError:  # nobody reads on
            self._ends.put((OVER, ""))

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)


def _messages(response: http.client.HTTPResponse, id: Any) -> Iterator[tuple[Any, bytes]]:
    """What the endpoint says to the request of this id, up to its answer: each message, and as written.

    Raises:
        _Broken: it is no message of the protocol.
    """
    if response.getheader("Content-Type", "").startswith("text/event-stream"):
        for line in _events(response):
            message = json.loads(line)
            yield message, line
            if isinstance(message, dict) and "method" not in message:
                response.read()
                return
        return
    body = response.read()
    if response.status == 202:
        return
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, list) and id is None:
        yield message, body
    elif not isinstance(message, dict) or not message.keys() & {"result", "error"}:
        raise _unreadable(response, body)
    elif message.get("id") is None and id is not None:  # refused before it was read
        yield message, _encoded({**message, "id": id})
    else:
        yield message, body


def _unreadable(
    response: http.client.HTTPResponse, body: bytes, error: dict[str, Any] | None = None
) -> _Broken:
    """The error for an answer that is none: what JSON-RPC says in it, or what HTTP says of it."""
    shown = " ".join(body[: 4 * _SHOWN].decode("utf-8", "replace").split())[:_SHOWN]
    broken = _Broken(
        f"The tools answered with HTTP status {response.status} and what is no message: {shown!r}",
        status=response.status,
        retryAfter=response.getheader("Retry-After"),
    )
    broken.error = error or broken.error
    return broken


def _events(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The data of each server-sent event that has any."""
    data: list[bytes] = []
    while line := response.readline():
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line.removeprefix(b"data:").removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data)
            data = []


def _marks(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The arguments in a schema that headers repeat: path, and what the header's name ends in."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(path) > _DEEPEST:
        return
    for name, inner in properties.items():
        token = inner.get(_MARK) if isinstance(inner, dict) else None
        if isinstance(token, str) and _TOKEN.fullmatch(token):
            yield (*path, name), token
        yield from _marks(inner, (*path, name))


def _code_of(message: Any) -> Any:
    error = message.get("error") if isinstance(message, dict) else None
    return error.get("code") if isinstance(error, dict) else None


def _encoded(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def _error_of(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = message.get("error") if isinstance(message, dict) else None
    return error if isinstance(error, dict) else {}


def _header(text: str) -> str:
    """A text as a header of the second era: as it is, or encoded where it cannot stand there."""
    if _PLAIN.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def _key(id: Any) -> tuple[str, str]:
    """1 and "1" are two ids."""
    return type(id).__name__, str(id)


def _is_quiet(connection: socket.socket) -> bool:
    """Whether nothing has come on a connection where nothing was asked: not its end either."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return not poll.poll(0)


def _hang_up(connection: http.client.HTTPConnection) -> None:
    own = connection.sock
    if own is not None:
        with suppress(OSError):
            own.shutdown(socket.SHUT_RDWR)


def _start(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()


def _tell(what: str) -> None:
    with suppress(OSError):
        os.write(2, f"seatrial gateway connect: {what}\n".encode("utf-8", "replace"))


def main(environ: Mapping[str, str]) -> int:
    """Bridge this process's pipes to the endpoint that the environment names; the exit code."""
    try:
        url = address(environ)
    except Misdirected as error:
        _tell(str(error))
        return WRONG
    return Bridge(url, environ.get("SEATRIAL_MCP_TOKEN", "")).run()


if __name__ == "__main__":
    sys.exit(main(os.environ))
