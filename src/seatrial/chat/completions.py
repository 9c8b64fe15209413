"""A request for a completion, and the answer in the shapes that endpoints give it.

Read are the shapes of OpenAI, Azure, vLLM, llama.cpp and Ollama: an object, or server-sent events with pieces of
one; arguments as text or as an object; reasoning under `reasoning_content` or `reasoning`; an error as an
object, a text or an event of a stream.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from seatrial.chat.pace import PASSING, Unanswered, retry_after
from seatrial.chat.pieces import Pieces
from seatrial.errors import printable
from seatrial.trace import MOST_COUNTED, Usage

MOST_BYTES = 8_000_000
"""The largest answer that is read, in bytes."""
REASONING_KEYS = ("reasoning_content", "reasoning")
"""Under which endpoints give what a model thought."""
_MOST_CALLS = 128
_MOST_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where completions are asked for."""

    url: str
    """Of the completions themselves."""
    shown: str
    """The same for people, without what may be secret."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool call as a model wrote it. It has an id of the model's own, which is not read: models repeat them."""

    tool: str
    arguments: str
    """As text, JSON or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model answered."""

    text: str = ""
    reasoning: str = ""
    reasoning_key: str = ""
    """Under which it came."""
    calls: tuple[Wish, ...] = ()
    """In the order in which they were written."""
    finish: str = ""
    """Why it stopped, as the endpoint tells it."""
    model: str | None = None
    """The model that the endpoint says has answered."""
    fingerprint: str | None = None
    """What the endpoint says that model runs on (`system_fingerprint`)."""
    usage: Usage | None = None


async def complete(
    client: httpx.AsyncClient, endpoint: Endpoint, body: Mapping[str, Any]
) -> Completion:
    """Ask for a completion; a stream when the body says so.

    Raises:
        Unanswered: there is none, or it cannot be read.
    """
    try:
        async with client.stream(
            "POST",
            endpoint.url,
            json=body,
            headers=dict(endpoint.headers),
            params=dict(endpoint.query) or None,
        ) as response:
            if not 200 <= response.status_code < 300:
                raise _refused(endpoint, response, await _begun(response))
            if _media_type(response) == "text/event-stream":
                return completion_of(await _gathered(endpoint, response), endpoint.shown)
            data = await _whole(endpoint, response)
    except (httpx.HTTPError, httpx.StreamError) as error:
        why = str(error) or type(error).__name__
        raise Unanswered(
            f"no answer from {endpoint.shown} ({printable(why)}); is it running?",
            passing=True,
            free=isinstance(error, httpx.ConnectError | httpx.ConnectTimeout),
        ) from error
    except (httpx.InvalidURL, UnicodeError) as error:
        raise Unanswered(f"{endpoint.shown} is no address: {error}", free=True) from error
    return completion_of(_json(data, endpoint.shown), endpoint.shown)


def completion_of(value: Any, who: str) -> Completion:
    """The completion in the object that an endpoint sent.

    Raises:
        Unanswered: there is none.
    """
    if isinstance(value, Mapping) and value.get("error"):
        # Some send an error with the status of a success, or in the midst of a stream.
        raise Unanswered(f"{who} answered with an error: {_message(value)}", passing=True)
    choices = value.get("choices") if isinstance(value, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise Unanswered(f"{who} answered without a message: {shown(json.dumps(value))}")
    assert isinstance(value, Mapping)
    assert isinstance(choice, Mapping)
    key = next((key for key in REASONING_KEYS if _text(message.get(key))), "")
    return Completion(
        text=_text(message.get("content")) or _text(message.get("refusal")),
        reasoning=_text(message.get(key)) if key else "",
        reasoning_key=key,
        calls=_calls(message.get("tool_calls"), who),
        finish=_text(choice.get("finish_reason"))[:40],
        model=_named(value.get("model")),
        fingerprint=_named(value.get("system_fingerprint")),
        usage=_usage(value.get("usage")),
    )


def shown(text: str) -> str:
    """The beginning of what an endpoint sent, fit for a message."""
    text = printable(" ".join(text[: 4 * _MOST_SHOWN].split()))
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"


def _calls(value: Any, who: str) -> tuple[Wish, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > _MOST_CALLS:
        raise Unanswered(f"{who} answered with `tool_calls` that are no list of calls")
    wishes = []
    for call in value:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise Unanswered(f"{who} answered with a tool call that names no function")
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = "" if arguments is None else json.dumps(arguments)
        wishes.append(Wish(_text(function.get("name")), _clean(arguments)))
    return tuple(wishes)


def _usage(value: Any) -> Usage | None:
    """The tokens that an endpoint counted; None where it did not, or counted what cannot be."""
    if not isinstance(value, Mapping):
        return None
    read, written = _number(value.get("prompt_tokens")), _number(value.get("completion_tokens"))
    if not read and not written:
        return None
    cached = _part(value, "prompt_tokens_details", "cached_tokens")
    reasoning = _part(value, "completion_tokens_details", "reasoning_tokens")
    return Usage(
        input_tokens=read,
        output_tokens=max(
            written, reasoning
        ),  # some count what was thought beside what was written
        cached_input_tokens=min(cached, read),
        reasoning_tokens=reasoning,
    )


def _part(value: Mapping[str, Any], details: str, key: str) -> int:
    found = value.get(details)
    return _number(found.get(key)) if isinstance(found, Mapping) else 0


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_COUNTED:
        return 0
    return value


def _named(value: Any) -> str | None:
    # Joined by ", " where several answered, so that a name has no comma of its own.
    return _clean(value[:200]).replace(",", ";") if isinstance(value, str) and value else None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):  # parts, of which only texts are read
        parts = (part.get("text") for part in value if isinstance(part, Mapping))
        return "".join(_clean(part) for part in parts if isinstance(part, str))
    return ""


def _clean(text: str) -> str:
    """The text with what cannot be written as UTF-8 (half a surrogate pair) replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _refused(endpoint: Endpoint, response: httpx.Response, body: bytes) -> Unanswered:
    status = response.status_code
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    told = _message(value) if isinstance(value, Mapping) else shown(body.decode("utf-8", "replace"))
    hint = {
        401: "; is the key right?",
        404: "; is the base URL right, and the model there?",
    }.get(status, "")
    return Unanswered(
        f"{endpoint.shown} answered with status {status}: {told or 'an empty body'}{hint}",
        passing=status in PASSING,
        busy=status == 429,
        free=True,
        retry_after=retry_after(response.headers),
    )


def _message(value: Mapping[str, Any]) -> str:
    error = value.get("error", value)
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("detail") or json.dumps(dict(error))
    return shown(error if isinstance(error, str) else json.dumps(error))


def _json(data: bytes, who: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        text = shown(data.decode("utf-8", "replace")) or "an empty body"
        raise Unanswered(f"{who} answered with what is no JSON: {text}") from error


async def _gathered(endpoint: Endpoint, response: httpx.Response) -> dict[str, Any]:
    pieces = Pieces()
    async for data in _events(endpoint, response):
        if data.strip() == b"[DONE]":
            return pieces.whole()
        value = _json(data, endpoint.shown)
        if isinstance(value, Mapping) and value.get("error"):
            raise Unanswered(
                f"{endpoint.shown} broke off with an error: {_message(value)}", passing=True
            )
        if isinstance(value, Mapping):
            pieces.add(value)
    if not pieces.finished:
        raise Unanswered(f"the stream from {endpoint.shown} ended in its midst", passing=True)
    return pieces.whole()


async def _events(endpoint: Endpoint, response: httpx.Response) -> AsyncIterator[bytes]:
    """The data of each server-sent event."""
    unread, lines = bytearray(), list[bytes]()
    received = 0
    async for chunk in response.aiter_bytes():
        received += len(chunk)
        if received > MOST_BYTES:
            raise _too_much(endpoint)
        start = len(unread)
        unread += chunk
        while (cut := unread.find(b"\n", start)) >= 0:
            line = bytes(unread[:cut]).rstrip(b"\r")
            del unread[: cut + 1]
            start = 0
            if line.startswith(b"data:"):
                lines.append(line[5:].removeprefix(b" "))
            elif not line and lines:
                yield b"\n".join(lines)
                lines = []
    if lines:
        yield b"\n".join(lines)


async def _whole(endpoint: Endpoint, response: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MOST_BYTES:
            raise _too_much(endpoint)
    return bytes(body)


async def _begun(response: httpx.Response) -> bytes:
    """The beginning of a body, as much as a message shows."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > 64_000:
            break
    return bytes(body)


def _too_much(endpoint: Endpoint) -> Unanswered:
    return Unanswered(f"{endpoint.shown} answered with more than {MOST_BYTES:,} bytes")


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
