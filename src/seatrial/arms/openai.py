"""Seatrial is the agent: a model behind an OpenAI-compatible endpoint, its prompt, and the loop over the tools.

A turn is one or more answers of the model. What it calls is called through the gateway, one call after the other
in the order in which they were written, and answered in that order under ids of our own: a model's own ids are not
read, since models repeat them. What a model thought while it called tools goes back to it until the turn ends.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from seatrial.arms.connections import Connections
from seatrial.arms.filling import filled
from seatrial.arms.replies import MOST_TEXT
from seatrial.arms.schema_answers import Answered, Constrained
from seatrial.arms.seat import Reply, Seat
from seatrial.chat import Completion, Endpoint, Pace, Unanswered, Wish, complete
from seatrial.documents import Arm, OpenAI, placeholders
from seatrial.errors import ArmError
from seatrial.tools import Tool
from seatrial.trace import Answer, Completed, Usage, Wished

MOST_PROMPT = 1_000_000
"""The longest system prompt, in bytes."""
MOST_ARGUMENTS = 200_000
"""The longest arguments of a call that are read, in characters."""
MOST_HEARD = 16_000_000
"""All that a model writes in one trial, in characters."""
UNBOUNDED_ANSWER = 4096
"""Tokens that are set aside for an answer where the arm bounds none."""
_NAME = re.compile(r"[^A-Za-z0-9_-]")
_MOST_NAME = 64
_REPLY = {
    "description": "Say something to the person. It ends your turn.",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What is said."}},
        "required": ["text"],
    },
}


async def open(arm: Arm, adapter: OpenAI, seat: Seat, shared: Connections) -> Conversation:
    """Seat the model.

    Raises:
        ArmError: its prompt cannot be read, or a variable is not set.
    """
    prompt = ""
    if adapter.prompt is not None:
        prompt = await anyio.to_thread.run_sync(_read, seat.root / adapter.prompt, adapter.prompt)
    return Conversation(arm, adapter, seat, shared, _dated(prompt, seat.now))


class Conversation:
    """One trial's conversation with a model."""

    def __init__(
        self, arm: Arm, adapter: OpenAI, seat: Seat, shared: Connections, prompt: str
    ) -> None:
        self.notes: list[str] = []
        self._adapter = adapter
        self._seat = seat
        self._shared = shared
        self._prompt = prompt
        self._endpoint = _endpoint(adapter, seat)
        self._pace: Pace = shared.pace(self._endpoint.url, arm.limits)
        self._body = _body(arm, adapter, seat)
        self._messages: list[dict[str, Any]] = []
        self._tools: dict[str, tuple[str, Tool]] | None = None
        self._constrained: Constrained | None = None
        self._reply_tool = ""
        self._calls = 0
        self._steps = 0
        self._longest = 0
        self._heard = 0

    @property
    def meanwhile(self) -> str:
        """How far it has come instead of replying."""
        return f"the model had answered {self._steps} times in this turn"

    async def reply(self, turn: int, text: str) -> Reply:
        """Let the model answer, and call what it asks for, until it says something to the person.

        Raises:
            ArmError: the endpoint gives no answer.
        """
        if self._tools is None:
            await self._prepare()
        began = len(self._messages)
        self._messages.append({"role": "user", "content": text})
        usages: list[Usage] = []
        self._steps = 0
        models: dict[str, None] = {}
        for _ in range(self._adapter.steps):
            completion = await self._completed(turn)
            self._steps += 1
            usages += [completion.usage] if completion.usage else []
            if completion.model:
                models[completion.model] = None
            said = await self._taken(completion)
            if said is not None:
                self._forget_thoughts(began)
                return Reply(said, _sum(usages), ", ".join(models) or None)
        return Reply("", step_limit=True)

    async def _prepare(self) -> None:
        assert self._seat.tools is not None
        listed = await self._seat.tools.listed()
        self._tools = _named({tool.name: (server, tool) for server, tool in listed})
        system = self._prompt
        if self._adapter.answers == "schema":
            self._constrained = Constrained([tool for _, tool in self._tools.values()])
            system = "\n\n".join(part for part in (system, self._constrained.told) if part)
            self._body["response_format"] = self._constrained.response_format
        elif self._tools:
            functions = {name: _function(tool) for name, (_, tool) in self._tools.items()}
            if self._adapter.tool_choice == "required":
                self._reply_tool = "reply" if "reply" not in functions else "reply_to_person"
                functions[self._reply_tool] = _REPLY
            self._body["tools"] = [
                {"type": "function", "function": {"name": name, **function}}
                for name, function in functions.items()
            ]
            for key in ("tool_choice", "parallel_tool_calls"):
                if (value := getattr(self._adapter, key)) is not None:
                    self._body[key] = value
        if system:
            self._messages.append({"role": self._adapter.prompt_role, "content": system})

    async def _completed(self, turn: int) -> Completion:
        """One answer of the model, taken down."""
        seat = self._seat
        retries: list[str] = []
        body = {**self._body, "messages": self._messages}
        at_ms = seat.clock()
        try:
            completion = await self._pace.ask(
                lambda: self._asked(body),
                used=_tokens,
                told=retries.append,
                waiting=seat.waiting,
            )
        except Unanswered as error:
            again = f" (asked {len(retries) + 1} times)" if retries else ""
            raise ArmError("agent_unreachable", f"{error.message}{again}") from error
        self._heard += sum(
            map(
                len,
                (completion.text, completion.reasoning, *(w.arguments for w in completion.calls)),
            )
        )
        if self._heard > MOST_HEARD or len(completion.text) > MOST_TEXT:
            raise ArmError(
                "agent_unreachable",
                f"{self._endpoint.shown} wrote too much: {len(completion.text):,} characters at last, and "
                f"{self._heard:,} in this trial",
            )
        self._longest = max(
            self._longest, completion.usage.output_tokens if completion.usage else 0
        )
        seat.tell(
            Completed(
                turn=turn,
                model=completion.model,
                fingerprint=completion.fingerprint,
                text=completion.text,
                reasoning=completion.reasoning,
                calls=tuple(Wished(tool=w.tool, arguments=w.arguments) for w in completion.calls),
                finish=completion.finish,
                usage=completion.usage,
                retries=tuple(retries),
                at_ms=at_ms,
                took_ms=round(seat.clock() - at_ms, 3),
            )
        )
        return completion

    async def _asked(self, body: dict[str, Any]) -> Completion:
        """Ask once, if that still fits into what may be spent, and account it.

        Where nobody counted, a request is taken to have cost what it can at most.
        """
        allowance, most = self._seat.allowance, self._most(body)
        if allowance is None:
            return await self._answered(body)
        if why := allowance.afford(most):
            raise ArmError("budget", why)
        spent: Usage | None = most
        try:
            completion = await self._answered(body)
            spent = completion.usage or most
        except Unanswered as error:
            spent = None if error.free else most
            raise
        finally:  # when the trial is stopped in its midst, too
            if spent is not None:
                allowance.spend(spent)
        return completion

    async def _answered(self, body: dict[str, Any]) -> Completion:
        seconds = self._adapter.request_seconds
        with anyio.move_on_after(seconds):
            return await complete(self._shared.client, self._endpoint, body)
        raise Unanswered(
            f"{self._endpoint.shown} gave no answer within {seconds:g} s", passing=True
        )

    def _most(self, body: dict[str, Any]) -> Usage:
        """What a request may take at most: no token is shorter than a byte; of the answer the arm says."""
        written = self._adapter.max_tokens or max(UNBOUNDED_ANSWER, 2 * self._longest)
        read = len(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
        return Usage(input_tokens=read, output_tokens=written)

    async def _taken(self, completion: Completion) -> str | None:
        """Do what the model asks for; what it says to the person, when that ends the turn."""
        if self._constrained is not None:
            return await self._taken_as_json(completion, self._constrained)
        if not completion.calls:
            self._messages.append({"role": "assistant", "content": completion.text})
            self._look_for_a_call_in(completion.text)
            return completion.text
        # Some templates take ids of nine letters and digits and no others.
        ids = [f"c{self._calls + n:08d}" for n in range(1, len(completion.calls) + 1)]
        self._calls += len(ids)
        self._messages.append(_assistant(completion, ids))
        said = None
        for id, wish in zip(ids, completion.calls, strict=True):
            if self._reply_tool and wish.tool == self._reply_tool:
                said, content = _text_in(wish, completion.text), "It was said."
            else:
                content = _content(await self._carried_out(wish))
            self._messages.append({"role": "tool", "tool_call_id": id, "content": content})
        return said

    def _look_for_a_call_in(self, text: str) -> None:
        """Say where a model wrote a call as text: that is a reply like any other, and seldom what it meant."""
        assert self._tools is not None
        inner = text.strip().removeprefix("```json").strip("`\n ")
        if not inner.startswith("{"):
            return
        try:
            value = json.loads(inner)
        except (ValueError, RecursionError):
            return
        name = value.get("name") if isinstance(value, dict) else None
        if isinstance(name, str) and name in self._tools and not self.notes:
            self.notes.append(
                f"the model wrote a call of {name} as text, which is a reply like any other; `answers: schema` "
                "constrains a model that is weak at tool calls"
            )

    async def _taken_as_json(self, completion: Completion, constrained: Constrained) -> str | None:
        self._messages.append({"role": "assistant", "content": completion.text})
        answered: Answered = constrained.read(completion.text)
        if answered.reply is not None:
            return answered.reply
        if answered.wish is None:
            content = answered.mistake
        else:
            content = constrained.result(
                answered.wish, _content(await self._carried_out(answered.wish))
            )
        self._messages.append({"role": "user", "content": content})
        return None

    async def _carried_out(self, wish: Wish) -> Answer:
        """Call a tool through the gateway, or let it take down why that cannot be."""
        assert self._tools is not None
        seat = self._seat
        server, tool = self._tools.get(wish.tool, (None, None))
        name = tool.name if tool is not None else wish.tool
        arguments, why = _arguments(wish.arguments)
        if not why:
            try:
                return await seat.call(name, arguments, server)
            except ValueError as error:  # JSON for Python that is none on the wire
                why = f"they are no JSON: {error}"
        assert seat.tools is not None
        return await seat.tools.misspoken(name, wish.arguments, why, server)

    def _forget_thoughts(self, began: int) -> None:
        for message in self._messages[began:]:
            for key in [key for key in message if key.startswith("reasoning")]:
                del message[key]


def _read(path: Path, name: str) -> str:
    try:
        data = path.read_bytes()
        if len(data) > MOST_PROMPT:
            raise ArmError("internal", f"the prompt {name} is longer than {MOST_PROMPT:,} bytes")
        return data.decode("utf-8")
    except OSError as error:
        raise ArmError("internal", f"the prompt {name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ArmError("internal", f"the prompt {name} is not UTF-8: {error}") from error


def _dated(prompt: str, now: str) -> str:
    """The prompt with the trial's clock in it; other braces are the prompt's own."""
    moment = dt.datetime.fromisoformat(now)
    return re.sub(
        r"\{\{\s*((?:now|today)\b[^{}]*?)\s*\}\}",
        lambda found: placeholders.moved(found[1], moment) or found[0],
        prompt,
    )


def _endpoint(adapter: OpenAI, seat: Seat) -> Endpoint:
    headers = {name: filled(value, seat) for name, value in adapter.headers.items()}
    if adapter.key is not None:
        key = filled(f"{{{adapter.key}}}", seat)
        bearer = adapter.key_header.lower() == "authorization"
        headers[adapter.key_header] = f"Bearer {key}" if bearer else key
    base = filled(adapter.url, seat).rstrip("/")
    return Endpoint(
        url=f"{base}/chat/completions",
        shown=f"the model at {adapter.url}",
        headers=headers,
        query=adapter.query,
    )


def _body(arm: Arm, adapter: OpenAI, seat: Seat) -> dict[str, Any]:
    """What every request of a trial has in common."""
    assert arm.model is not None
    body: dict[str, Any] = {**adapter.extra_body, "model": adapter.model or arm.model.name}
    if adapter.temperature is not None:
        body["temperature"] = adapter.temperature
    if adapter.seed == "trial":
        body["seed"] = seat.seed & 0x7FFFFFFF  # some take no number beyond 31 bits
    elif adapter.seed is not None:
        body["seed"] = adapter.seed
    if adapter.max_tokens is not None:
        body[adapter.max_tokens_as] = adapter.max_tokens
    if adapter.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _named(tools: Mapping[str, tuple[str, Tool]]) -> dict[str, tuple[str, Tool]]:
    """Tools by names that endpoints take: letters, digits, `_` and `-`, at most 64."""
    found: dict[str, tuple[str, Tool]] = {}
    for name, entry in tools.items():
        plain = base = _NAME.sub("_", name)[:_MOST_NAME]
        number = 2
        while plain in found or (plain != name and plain in tools):
            plain = f"{base[: _MOST_NAME - 4]}_{number}"
            number += 1
        found[plain] = entry
    return found


def _function(tool: Tool) -> dict[str, Any]:
    shown = tool.as_mcp()
    return {
        "description": shown.get("description") or shown.get("title") or "",
        "parameters": shown["inputSchema"],
    }


def _assistant(completion: Completion, ids: Sequence[str]) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": completion.text or None,
        "tool_calls": [
            {
                "id": id,
                "type": "function",
                "function": {"name": wish.tool, "arguments": _sendable(wish.arguments)},
            }
            for id, wish in zip(ids, completion.calls, strict=True)
        ],
    }
    if completion.reasoning:
        message[completion.reasoning_key] = completion.reasoning
    return message


def _sendable(arguments: str) -> str:
    """Arguments as they go back: templates read them, and some endpoints fail over what is no JSON."""
    read, why = _arguments(arguments)
    # In ASCII: there may be half characters in it.
    return "{}" if why else json.dumps(read)


def _arguments(text: str) -> tuple[dict[str, Any], str]:
    """The arguments of a call, or why they cannot be read."""
    if not text.strip():
        return {}, ""
    if len(text) > MOST_ARGUMENTS:
        return {}, f"they are longer than {MOST_ARGUMENTS:,} characters"
    try:
        value = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        return {}, "they are nested too deeply"
    except ValueError as error:
        return {}, f"they are no JSON: {error}"
    if not isinstance(value, dict):
        return {}, "a JSON object is needed"
    return value, ""


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")


def _text_in(wish: Wish, otherwise: str) -> str:
    arguments, _ = _arguments(wish.arguments)
    text = arguments.get("text")
    return text if isinstance(text, str) else otherwise


def _content(answer: Answer) -> str:
    """What a tool gave back, as text for the model."""
    if answer.text:
        return answer.text
    if answer.structured is not None:
        return json.dumps(answer.structured, ensure_ascii=False)
    kinds = [str(part.get("mimeType") or part.get("type")) for part in answer.content]
    return f"[{', '.join(kinds)}]" if kinds else "(nothing)"


def _tokens(completion: Completion) -> int:
    usage = completion.usage
    return usage.input_tokens + usage.output_tokens if usage is not None else 0


def _sum(usages: Sequence[Usage]) -> Usage | None:
    if not usages:
        return None
    return Usage(
        input_tokens=sum(u.input_tokens for u in usages),
        output_tokens=sum(u.output_tokens for u in usages),
        cached_input_tokens=sum(u.cached_input_tokens for u in usages),
        reasoning_tokens=sum(u.reasoning_tokens for u in usages),
    )
