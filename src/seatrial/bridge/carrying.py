"""Carrying messages from a client's pipe to an endpoint and back, until either side is gone."""

from __future__ import annotations

import http.client
import json
import os
import queue
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from seatrial.bridge.headers import Headers
from seatrial.bridge.messages import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    PARSE_ERROR,
    Broken,
    Request,
    code_of,
    encoded,
    error_of,
    events,
    messages,
    unreadable,
)

MOST_AT_ONCE = 128
"""Requests under way; more wait for their turn, first come, first served."""
CONNECT_SECONDS = 10.0
"""A gateway on the same machine that does not take a connection by then is not there."""
LEAVE_SECONDS = 1.0
"""How long answers on their way are waited for once the client has closed stdin."""
LISTEN_AGAIN_SECONDS = 1.0

OVER, WRONG, FAILED, INTERRUPTED = 0, 2, 4, 130
"""Exit codes: the client left or the conversation is over; wrong address or token; a defect; Ctrl-C."""


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
        self._always = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._source, self._sink = source, sink
        self._writing, self._changing = threading.Lock(), threading.Lock()
        self._ends: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
        self._jobs: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._workers = 0
        self._own = self._connection()
        """Of the thread that reads: for what must arrive in order."""
        self._pending: dict[tuple[str, str], Request] = {}
        self._known = Headers()
        self._reached = False
        self._listening = False

    def run(self) -> int:
        """Carry messages until either side is gone or a signal comes; the exit code."""
        signal.signal(signal.SIGTERM, lambda *_: self._ends.put((OVER, "")))
        signal.signal(signal.SIGINT, lambda *_: self._ends.put((INTERRUPTED, "")))
        for descriptor in (self._source, self._sink):
            with suppress(OSError):
                os.set_blocking(descriptor, True)
        self._start(self._read)
        code, why = self._ends.get()
        if not why:
            self._leave()
        closed = Broken(why or "Not answered: the connection is closed")
        for request in self._waiting():
            self._fail(request, closed)
        if why:
            tell(why)
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
            request = Request(line, "", self._known.session, None, modern=False)
        elif isinstance(message, dict):
            headers, modern = self._known.of(message)
            method = str(message.get("method", ""))
            request = Request(line, method, headers, message.get("id"), modern=modern)
        else:
            error = {"code": PARSE_ERROR, "message": "A line is one JSON-RPC message"}
            self._write(encoded({"jsonrpc": "2.0", "id": None, "error": error}))
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

    def _pass_on(self, message: dict[str, Any], request: Request) -> None:
        """A notification, or the answer to a request of the server's."""
        if request.method == "notifications/cancelled" and self._give_up(message):
            return
        try:
            self._connect(self._own)
            self._exchange(self._own, "POST", request).read()
        except Broken:
            pass
        except (OSError, http.client.HTTPException):
            self._own.close()  # it asks for nothing, so nobody can be told; the next request tells
        if (
            request.method == "notifications/initialized"
            and self._known.session
            and not self._listening
        ):
            self._listening = True
            self._start(self._listen)

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

    def _submit(self, request: Request) -> None:
        self._jobs.put(request)
        if not self._idle.acquire(blocking=False) and self._workers < MOST_AT_ONCE:
            self._workers += 1
            self._start(self._work)

    def _work(self) -> None:
        connection = self._connection()
        while True:
            self._ask(self._jobs.get(), connection)
            self._idle.release()

    def _ask(self, request: Request, connection: http.client.HTTPConnection) -> None:
        """Post a request, and see to it that it gets an answer."""
        with self._changing:
            if request.dropped:
                return
            request.connection = connection
        try:
            self._connect(connection)
            if not request.dropped:  # from here on giving it up hangs up
                self._carry_out(request, connection)
        except Broken as error:
            connection.close()
            self._fail(request, error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            why = str(error) or type(error).__name__
            self._fail(request, Broken(f"The connection to the tools broke: {why}"))
        finally:
            with self._changing:
                request.connection = None

    def _carry_out(
        self,
        request: Request,
        connection: http.client.HTTPConnection,
        *,
        once_more: bool = True,
    ) -> None:
        response = self._exchange(connection, "POST", request)
        for message, line in messages(response, request.id):
            if isinstance(message, dict) and "method" in message:
                self._write(line)
                continue
            # Refused before anything was done: this client has not listed the tools.
            mismatch = once_more and code_of(message) == HEADER_MISMATCH
            if mismatch and self._mirror_anew(request, connection):
                self._connect(connection)
                self._carry_out(request, connection, once_more=False)
                return
            self._known.learn(request.method, message, response.getheader("Mcp-Session-Id"))
            if self._forget(request):
                self._write(line)
        if request.id is not None or response.status != 202:
            self._fail(request, Broken("The tools answered with nothing"))
        self._forget(request)

    def _mirror_anew(self, request: Request, connection: http.client.HTTPConnection) -> bool:
        """Ask which arguments headers repeat; whether a call is to be sent with other headers now."""
        params = json.loads(request.body).get("params")
        if request.method != "tools/call" or not isinstance(params, dict):
            return False
        asked = {"jsonrpc": "2.0", "id": 0, "method": "tools/list"}
        body = encoded({**asked, "params": {"_meta": params.get("_meta")}})
        headers = {**self._known.modern, "Mcp-Method": "tools/list"}
        listing = Request(body, "tools/list", headers, 0, modern=True)
        self._connect(connection)
        response = self._exchange(connection, "POST", listing)
        for message, _ in messages(response, listing.id):
            self._known.learn(listing.method, message, None)
        before, request.headers = (
            request.headers,
            {**request.headers, **self._known.mirrored(params)},
        )
        return request.headers != before

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        """Make sure that it is connected: one that the endpoint has closed is opened anew.

        Raises:
            Broken: the endpoint is gone.
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
        self, connection: http.client.HTTPConnection, verb: str, request: Request
    ) -> http.client.HTTPResponse:
        """Send one HTTP request; the response, once its head is there.

        Raises:
            Broken: the token is wrong, or the conversation is over; the process ends with it.
        """
        headers = {**self._always, **request.headers}
        connection.request(verb, self._path, request.body or None, headers)
        response = connection.getresponse()
        if response.status in {401, 404}:
            body = response.read()
            error = error_of(body)
            if error.get("code") != INVALID_REQUEST:
                raise unreadable(response, body, error)
            if response.status == 401:
                raise self._over("the token is not accepted (SEATRIAL_MCP_TOKEN)", code=WRONG)
            if "session" not in str(error.get("message")).lower():
                raise self._over("there are no tools at this address")
            raise unreadable(response, body, error)
        self._reached = self._reached or response.status < 300
        return response

    def _over(self, why: str, *, code: int | None = None) -> Broken:
        """The endpoint is gone, as it is when a conversation ends; the process ends with it."""
        if code is None:
            code = OVER if self._reached else WRONG
        if code == OVER:
            why = f"the conversation is over: {why}"
        self._ends.put((code, why))
        return Broken(why)

    def _listen(self) -> None:
        """Hear what the server says of its own accord, where the endpoint has a stream for it."""
        connection = self._connection()
        while True:
            with suppress(OSError, http.client.HTTPException, ValueError):
                try:
                    self._connect(connection)
                    asked = Request(b"", "", self._known.session, None, modern=False)
                    response = self._exchange(connection, "GET", asked)
                except Broken:
                    return
                if response.status != 200:
                    return
                for line in events(response):
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
        if "Mcp-Session-Id" in self._known.session:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=LEAVE_SECONDS)
            with suppress(OSError, http.client.HTTPException):
                connection.request(
                    "DELETE", self._path, headers={**self._always, **self._known.session}
                )
                connection.getresponse().read()

    # --- to the client ---

    def _waiting(self) -> list[Request]:
        with self._changing:
            return list(self._pending.values())

    def _forget(self, request: Request) -> bool:
        """Take a request off the list; whether it was still to be answered."""
        with self._changing:
            to_be_answered = not request.dropped
            request.dropped = True
            if self._pending.get(_key(request.id)) is request:
                del self._pending[_key(request.id)]
        return to_be_answered

    def _fail(self, request: Request, why: Broken) -> None:
        """Answer with an error; the first answer to a request counts, and one given up gets none."""
        if self._forget(request):
            self._write(encoded({"jsonrpc": "2.0", "id": request.id, "error": why.error}))

    def _write(self, message: bytes) -> None:
        # A line break within JSON stands between two tokens.
        unwritten = message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        try:
            with self._writing:
                while unwritten:
                    unwritten = unwritten[os.write(self._sink, unwritten) :]
        except OSError:  # nobody reads on
            self._ends.put((OVER, ""))

    def _start(self, work: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                work()
            except Exception as bug:  # ours: told, and no request is left without an answer
                self._ends.put((FAILED, f"it failed: {type(bug).__name__}: {bug}"))

        threading.Thread(target=guarded, daemon=True).start()

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)


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


def tell(what: str) -> None:
    """Say something on stderr."""
    with suppress(OSError):
        os.write(2, f"seatrial gateway connect: {what}\n".encode("utf-8", "replace"))
