"""How the model of a person is asked: one chat completion for each message."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import anyio
import httpx

from seatrial.chat import Completion, Endpoint, Pace, Unanswered, complete
from seatrial.documents import Persona, PersonModel
from seatrial.errors import ArmError, SimulatorError, printable
from seatrial.personas.playing import Account, Ask, Asking, Message, Spoken
from seatrial.trace import Usage
from seatrial.verdicts import SimulatorFault


def asking(
    client: httpx.AsyncClient,
    pace: Callable[[str], Pace],
    environ: Mapping[str, str],
    *,
    seed: int,
    waiting: Callable[[], AbstractContextManager[None]],
    account: Account,
) -> Asking:
    """How models are asked in one trial.

    Args:
        client: by which requests are made.
        pace: how fast an endpoint is asked, by its address.
        environ: where the keys are.
        seed: of this attempt at the trial.
        waiting: is open while nothing happens but waiting for an endpoint's limits.
        account: where each request is accounted.
    """

    def asked(persona: Persona) -> Ask:
        model = persona.model
        assert model is not None
        endpoint = _endpoint(model, environ)

        async def ask(messages: Sequence[Message]) -> Spoken:
            body = _body(model, messages, seed)

            async def answered() -> Completion:
                with anyio.move_on_after(model.seconds):
                    return await complete(client, endpoint, body)
                raise Unanswered(f"{endpoint.shown} gave no answer within {model.seconds:g} s")

            async def request() -> Completion:
                most = _most(model, body)
                if why := account.afford(persona, most):
                    raise ArmError("budget", why)
                used: Usage | None = None
                free = False
                try:
                    completion = await answered()
                    used = completion.usage
                except Unanswered as error:
                    free = error.free
                    raise
                finally:  # when the trial is stopped in its midst, too
                    if not free:
                        account.spend(persona, used, most)
                return completion

            try:
                completion = await pace(endpoint.url).ask(request, used=_tokens, waiting=waiting)
            except Unanswered as error:
                raise SimulatorError(
                    SimulatorFault.UNREACHABLE, f"persona {persona.id}: {error.message}"
                ) from error
            if stray := _stray(model, completion):
                raise SimulatorError(
                    SimulatorFault.OTHER_MODEL,
                    f"persona {persona.id}: {endpoint.shown} served {stray}, which is not the pinned model; "
                    "where it is the same one, write that name under `served`",
                )
            if completion.finish == "length":
                raise SimulatorError(
                    SimulatorFault.CUT_OFF,
                    f"persona {persona.id}: its message ended after {model.max_tokens} tokens, in the middle; "
                    "write a larger `max_tokens`",
                )
            return Spoken(completion.text, completion.usage, completion.model)

        return ask

    return asked


def _endpoint(model: PersonModel, environ: Mapping[str, str]) -> Endpoint:
    headers = {}
    if model.key is not None:
        if model.key not in environ:
            raise SimulatorError(
                SimulatorFault.UNREACHABLE, f"the environment variable {model.key} is not set"
            )
        headers["Authorization"] = f"Bearer {environ[model.key]}"
    return Endpoint(
        url=f"{model.url.rstrip('/')}/chat/completions",
        shown=f"the model at {model.url}",
        headers=headers,
    )


def _body(model: PersonModel, messages: Sequence[Message], seed: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        **model.extra_body,
        "model": model.name,
        "messages": [{"role": m.role, "content": m.text} for m in messages],
        "temperature": model.temperature,
        "max_tokens": model.max_tokens,
    }
    if model.seed == "trial":
        body["seed"] = seed & 0x7FFFFFFF  # some take no number beyond 31 bits
    elif model.seed is not None:
        body["seed"] = model.seed
    return body


def _most(model: PersonModel, body: Mapping[str, Any]) -> Usage:
    """What a request may take at most: no token is shorter than a byte."""
    read = len(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
    return Usage(input_tokens=read, output_tokens=model.max_tokens)


def _stray(model: PersonModel, completion: Completion) -> str:
    """What answered in place of the pinned model; empty where that did, or nobody says."""
    if completion.model is not None and not model.is_named(completion.model):
        return printable(completion.model)
    if model.fingerprint is not None and completion.fingerprint != model.fingerprint:
        return f"{printable(completion.fingerprint or 'none')} as its fingerprint"
    return ""


def _tokens(completion: Completion) -> int:
    usage = completion.usage
    return usage.input_tokens + usage.output_tokens if usage is not None else 0
