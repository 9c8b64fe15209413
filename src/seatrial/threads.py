"""Functions of the repository that may never come back, in threads of their own."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import anyio

_T = TypeVar("_T")


class _Outcome(Generic[_T]):
    value: _T
    error: BaseException | None = None


async def in_thread(function: Callable[[], _T], name: str) -> _T:
    """What the function gives, run in a thread that is left to itself when we are cancelled.

    The thread is a daemon: Python cannot end a thread, and one that hangs must not keep the run, or
    the interpreter's end, waiting.
    """
    outcome: _Outcome[_T] = _Outcome()
    done = anyio.Event()
    loop = asyncio.get_running_loop()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.value = context.run(function)
        except BaseException as error:  # handed to the caller, whatever it is
            outcome.error = error
        try:
            loop.call_soon_threadsafe(done.set)
        except RuntimeError:  # the run has ended: nobody waits any more
            return

    threading.Thread(target=run, name=name, daemon=True).start()
    await done.wait()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value
