"""An OpenAI-compatible endpoint on loopback that says what a script says: chat completions, streamed or not.

    with openai_chat.serving(script) as model:
        ... OPENAI_BASE_URL=model.url ...
    model.requests      # what was asked, in order

A script is a function from the request's body to what is said: `Says` (text, tool calls, or both),
`Fails` (a status, with Retry-After), or `Breaks` (a stream that ends in its midst). `in_turn` makes one
of a list: the n-th answer to a conversation that has n-1 of the model's messages.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted-2026-03-01"
FINGERPRINT = "fp_scripted"
CREATED = 1_775_000_000
PIECE = 7
"""Characters of a delta in a stream."""


@dataclass(frozen=True, kw_only=True)
class Says:
    """One answer of the model."""

    text: str | None = None
    calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    """Tools with their arguments; a text is sent as it is, JSON or not. Several are called in parallel."""
    ids: Sequence[str] | None = None
    """Of the calls, where the model chooses them itself; unique ones when None."""
    reasoning: str | None = None
    """What it thought."""
    reasoning_key: str = "reasoning_content"
    """Under which that is told."""
    finish: str | None = None
    """Why it stopped; `tool_calls` or `stop` when None."""
    model: str = MODEL
    """The model that is said to have served."""
    fingerprint: str | None = FINGERPRINT
    prompt_tokens: int = 100
    cached_tokens: int = 0
    completion_tokens: int = 20
    reasoning_tokens: int = 0
    without_usage: bool = False
    refusal: str | None = None


@dataclass(frozen=True, kw_only=True)
class Fails:
    """The endpoint refuses, as a busy or a broken one does."""

    status: int = 429
    retry_after: str | None = None
    """The header, in seconds or as a date."""
    message: str = "Rate limit reached"
    kind: str = "rate_limit_exceeded"
    body: bytes | None = None
    """Instead of the error object, for example an HTML page."""


@dataclass(frozen=True, kw_only=True)
class Breaks:
    """The connection is dropped after so many events of the stream, or bytes of the body."""

    after: int
    answer: Says = Says(text="This will not be heard to its end.")


Step = Says | Fails | Breaks
Script = Callable[[dict[str, Any]], Step]


@dataclass
class Model:
    """The endpoint while it is served."""

    url: str
    """What clients call the base URL."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Bodies, in the order in which they came."""
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each, names in lower case."""
    paths: list[str] = field(default_factory=list)
    """Of each, with its query."""


def in_turn(*steps: Step) -> Script:
    """Say one thing after the other: in each conversation by itself, but for refusals, which come once."""
    refused: set[int] = set()
    lock = threading.Lock()

    def script(body: dict[str, Any]) -> Step:
        said = sum(message["role"] == "assistant" for message in body["messages"])
        spoken = -1
        for number, step in enumerate(steps):
            if isinstance(step, Says):
                spoken += 1
                if spoken == said:
                    return step
            elif spoken == said - 1:
                with lock:
                    if number not in refused:
                        refused.add(number)
                        return step
        return Fails(status=400, message=f"the script has no answer {said + 1}", kind="script")

    return script


@contextmanager
def serving(script: Script, *, key: str | None = None) -> Iterator[Model]:
    """Serve a script on a free port, until the block ends; other keys than `key` are refused, if given."""
    with Server(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        model = Model(f"http://127.0.0.1:{server.server_port}/v1")
        server.conversation = Conversation(script, key, model)  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join(10)


@dataclass
class Conversation:
    script: Script
    key: str | None
    model: Model
    lock: threading.Lock = field(default_factory=threading.Lock)
    answers: int = 0

    def answer(self, body: dict[str, Any], headers: dict[str, str], path: str) -> tuple[int, Step]:
        """What is said to a request, and its number."""
        with self.lock:
            self.answers += 1
            number = self.answers
            self.model.requests.append(body)
            self.model.headers.append(headers)
            self.model.paths.append(path)
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            wrong = "Incorrect API key provided"
            return number, Fails(status=401, message=wrong, kind="invalid_api_key")
        if problem := _problem(body):
            return number, Fails(status=400, message=problem, kind="invalid_request_error")
        return number, self.script(body)


class Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may hang up
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            self.fail(Fails(status=404, message="Unknown request URL", kind="not_found"))
            return
        entry = {"id": MODEL, "object": "model", "created": CREATED, "owned_by": "tests"}
        self.send(200, json.dumps({"object": "list", "data": [entry]}).encode())

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path.partition("?")[0] != "/v1/chat/completions":
            self.fail(Fails(status=404, message="Unknown request URL", kind="not_found"))
            return
        try:
            body = json.loads(raw)
        except ValueError:
            self.fail(Fails(status=400, message="The body is not JSON", kind="invalid_json"))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        conversation: Conversation = self.server.conversation  # type: ignore[attr-defined]
        number, step = conversation.answer(body, headers, self.path)
        if isinstance(step, Fails):
            self.fail(step)
            return
        says, cut = (step.answer, step.after) if isinstance(step, Breaks) else (step, None)
        if body.get("stream"):
            usage = (body.get("stream_options") or {}).get("include_usage", False)
            self.stream(list(_chunks(says, number, usage=usage)), cut)
        else:
            self.send(200, json.dumps(_completion(says, number)).encode(), cut)

    def fail(self, step: Fails) -> None:
        error = {"message": step.message, "type": step.kind, "param": None, "code": step.kind}
        body = step.body if step.body is not None else json.dumps({"error": error}).encode()
        kind = "application/json" if step.body is None else "text/html"
        self.send(step.status, body, kind=kind, retry_after=step.retry_after)

    def send(
        self,
        status: int,
        body: bytes,
        cut: int | None = None,
        *,
        kind: str = "application/json",
        retry_after: str | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(body[:cut])
        self.close_connection = self.close_connection or cut is not None

    def stream(self, events: Sequence[str], cut: int | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events[:cut]:
            data = f"data: {event}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if cut is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


def _problem(body: Any) -> str:
    """What an endpoint would refuse in a request."""
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        return "you must provide a model parameter"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "'messages' is a list with at least one message"
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"messages[{number}]: a tool message must follow the call that it answers"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages[{number}]: the tool calls {open_calls} have no answer"
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
    if open_calls:
        return f"the tool calls {open_calls} have no answer"
    for number, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") != "function" or not (tool.get("function") or {}).get("name"):
            return f"tools[{number}]: a function with a name is needed"
    return ""


def _calls(says: Says, number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}_{place}" if says.ids is None else says.ids[place],
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for place, (name, arguments) in enumerate(says.calls)
    ]


def _usage(says: Says) -> dict[str, Any]:
    return {
        "prompt_tokens": says.prompt_tokens,
        "completion_tokens": says.completion_tokens,
        "total_tokens": says.prompt_tokens + says.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": says.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": says.reasoning_tokens},
    }


def _head(says: Says, number: int, kind: str) -> dict[str, Any]:
    head = {"id": f"chatcmpl-{number}", "object": kind, "created": CREATED, "model": says.model}
    if says.fingerprint is not None:
        head["system_fingerprint"] = says.fingerprint
    return head


def _finish(says: Says) -> str:
    return says.finish or ("tool_calls" if says.calls else "stop")


def _completion(says: Says, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": says.text,
        "refusal": says.refusal,
    }
    if says.reasoning is not None:
        message[says.reasoning_key] = says.reasoning
    if says.calls:
        message["tool_calls"] = _calls(says, number)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(says)}
    completion = {**_head(says, number, "chat.completion"), "choices": [choice]}
    return completion if says.without_usage else {**completion, "usage": _usage(says)}


def _chunks(says: Says, number: int, *, usage: bool) -> Iterator[str]:
    head = _head(says, number, "chat.completion.chunk")
    if usage:
        head["usage"] = None

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return json.dumps({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": "" if says.text is not None else None})
    for key, text in (
        (says.reasoning_key, says.reasoning),
        ("content", says.text),
        ("refusal", says.refusal),
    ):
        for piece in _pieces(text or ""):
            yield chunk({key: piece})
    for index, call in enumerate(_calls(says, number)):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield chunk({"tool_calls": [{**call, "index": index, "function": function}]})
        for piece in _pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish(says))
    if usage and not says.without_usage:
        yield json.dumps({**head, "choices": [], "usage": _usage(says)})
    yield "[DONE]"


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
