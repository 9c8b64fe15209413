"""One trial's time with a service: reset at its start, read at both ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio

from seatrial.documents.world import HttpTool, HttpWorld
from seatrial.documents.world.http import Reading, Reset
from seatrial.errors import ToolServerError
from seatrial.state import MISSING, State, difference, state_from_json
from seatrial.state.actions import tool as as_tool
from seatrial.state.actions import with_defaults
from seatrial.state.answers import tool_answer
from seatrial.state.schemas import validator
from seatrial.state.values import freeze
from seatrial.tools import Tool
from seatrial.trace import Answer, Change, Json
from seatrial.worlds.filling import Filling
from seatrial.worlds.finding import objects_at, parsed
from seatrial.worlds.http.services import Received, Services, with_variables
from seatrial.worlds.told import Told

_LONGEST_REFUSAL = 4_000
"""Characters of what a service says when it refuses."""


@asynccontextmanager
async def opened(
    world: HttpWorld, services: Services, environ: Mapping[str, str], *, run_token: str
) -> AsyncIterator[HttpCopy]:
    """A service that has been reset for a trial, until the block ends.

    Raises:
        ToolServerError: it cannot be reset or read, or does not start as it did for other trials.
    """
    async with AsyncExitStack() as stack:
        if world.is_shared:
            await stack.enter_async_context(services.turn(world))
        copy = HttpCopy(world, services, environ, run_token=run_token)
        await copy.reset()
        yield copy


class HttpCopy:
    """One trial's service, served as one tool server."""

    def __init__(
        self, world: HttpWorld, services: Services, environ: Mapping[str, str], *, run_token: str
    ) -> None:
        self._world = world
        self._services = services
        self._run_token = run_token
        of_trial = Filling(world, run_token)
        self._url = of_trial.text(world.url).rstrip("/")
        self._headers = {
            name: with_variables(world, of_trial.text(value), environ)
            for name, value in world.headers.items()
        }
        self._tools = tuple(as_tool(name, tool) for name, tool in world.tools.items())
        self._start = self._state = state_from_json({})
        self._version = 0
        self._lock = anyio.Lock()

    @property
    def name(self) -> str:
        """The server's name: the fixture's id."""
        return self._world.id

    @property
    def instructions(self) -> str:
        """What the server tells agents about itself; may be empty."""
        return self._world.instructions

    @property
    def version(self) -> int:
        """Rises by one with each call after which the service's state is another one."""
        return self._version

    def tools(self) -> tuple[Tool, ...]:
        """The tools of the fixture, in its order."""
        return self._tools

    async def reset(self) -> None:
        """Bring the service to its starting state, and read it.

        Raises:
            ToolServerError: it cannot be reset or read, or does not start as it did for other trials.
        """
        answer = await self._send(self._world.reset, Filling(self._world, self._run_token))
        if not 200 <= answer.status < 300:
            raise self._fault(f"{answer.request}, its reset, answers {_status(answer)}")
        self._start = self._state = await self.captured()
        if self._world.same_start:
            same = state_from_json(_without_token(self._start.to_json(), self._run_token))
            differs = self._services.differs_from_first(self._world, same)
            if differs:
                raise self._fault(
                    f"its reset does not bring it back to where the first trial started: {differs}",
                    hint="make the reset undo everything; or write `same_start: false` where the "
                    "service draws ids of its own",
                )

    async def call(self, tool: str, arguments: dict[str, Json]) -> Answer:
        """Carry out a tool. A status among the refusals is an answer for the agent.

        Raises:
            ToolServerError: the service is not there, or answers with any other failure.
        """
        declared = self._world.tools.get(tool)
        if declared is None:
            return Answer.of_text(f"there is no such tool: {tool[:80]}", is_error=True)
        if declared.read_only:
            return await self._carried_out(tool, declared, arguments)
        # One after the other, so that each change is known to come of its call.
        async with self._lock:
            answer = await self._carried_out(tool, declared, arguments)
            state = await self.captured()
            if state != self._state:
                self._state = state
                self._version += 1
            return answer

    async def captured(self) -> State:
        """Everything there is now, as the service tells it.

        Raises:
            ToolServerError: it cannot be read.
        """
        filling = Filling(self._world, self._run_token)
        answers: dict[str, Json] = {}
        objects: dict[str, dict[str, Json]] = {}
        for type, reading in self._world.state.items():
            asked = json.dumps(
                [reading.method, reading.path, reading.query, reading.body], default=str
            )
            if asked not in answers:
                answers[asked] = await self._read(reading, filling)
            where = f"{reading.method} {reading.path}"
            try:
                objects[type] = objects_at(answers[asked], type, reading.at, reading.key, where)
            except ValueError as error:
                raise self._fault(str(error)) from error
        try:
            return state_from_json(objects)
        except TypeError as error:
            raise self._fault(f"what it tells of its state cannot be used: {error}") from error

    async def difference(self) -> tuple[Change, ...]:
        """The exact difference from the trial's start to now."""
        return difference(self._start, await self.captured())

    # --- within ---

    async def _carried_out(
        self, name: str, tool: HttpTool, arguments: Mapping[str, Json]
    ) -> Answer:
        args = with_defaults(tool.parameters, arguments)
        try:
            answer = await self._send(tool, Filling(self._world, self._run_token, args))
        except Told as told:
            return Answer.of_text(f"{name}: {told}.", is_error=True)
        if answer.status in self._world.refusals:
            text = answer.text()[:_LONGEST_REFUSAL] or f"{name}: {_status(answer)}"
            return Answer.of_text(text, is_error=True, code=answer.status)
        if not 200 <= answer.status < 300:
            raise self._fault(f"{answer.request} answers {_status(answer)}")
        output = None if tool.output is None else validator(tool.output)
        value = self._value(answer)
        return tool_answer(value, output, world=self._world.id, tool=f"tools.{name}")

    async def _send(self, asked: HttpTool | Reset | Reading, filling: Filling) -> Received:
        query, body = filling.value(asked.query), filling.value(asked.body)
        return await self._services.send(
            self._world,
            asked.method,
            self._url + filling.path(asked.path),
            headers=self._headers,
            query=query if isinstance(query, dict) else {},
            body=None if body is MISSING else body,
        )

    async def _read(self, reading: Reading, filling: Filling) -> Json:
        answer = await self._send(reading, filling)
        if not 200 <= answer.status < 300:
            raise self._fault(f"{answer.request}, which tells its state, answers {_status(answer)}")
        return self._json(answer)

    def _value(self, answer: Received) -> Json:
        if not answer.body:
            return "done"
        if answer.is_json:
            return self._json(answer)
        if answer.kind.startswith("text/") or not answer.kind:
            return answer.text()
        raise self._fault(f"{answer.request} answers with {answer.kind}, which is no text")

    def _json(self, answer: Received) -> Json:
        try:
            return freeze(parsed(answer.body))
        except ValueError as error:
            raise self._fault(
                f"{answer.request} answers with what is no JSON: {answer.shown()}"
            ) from error

    def _fault(self, what: str, *, hint: str = "") -> ToolServerError:
        return ToolServerError(f"world {self._world.id!r}: {what}", hint=hint)


def _status(answer: Received) -> str:
    return f"with status {answer.status}: {answer.shown()}"


def _without_token(value: Any, token: str) -> Any:
    """A value with the trial's token written as its placeholder: in this, trials may differ."""
    if isinstance(value, str):
        return value.replace(token, "{{run}}") if token else value
    if isinstance(value, dict):
        return {_without_token(k, token): _without_token(v, token) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_token(item, token) for item in value]
    return value
