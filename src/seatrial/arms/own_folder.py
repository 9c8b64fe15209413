"""The folder that an agent has to itself in one trial, and the environment it is started in.

It holds the agent's home, its temporary files, and the config file in which its runtime looks for its tools;
nothing of it is left when the trial is over.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from seatrial import bridge, processes
from seatrial.arms.seat import Seat
from seatrial.documents import ConfigFormat, Transport
from seatrial.errors import ArmError
from seatrial.runtimes import HOME, RUNTIMES, Endpoint


class Program(Protocol):
    """What an adapter says of the program that it starts."""

    @property
    def config_format(self) -> ConfigFormat | None: ...
    @property
    def config_transport(self) -> Transport | None: ...
    @property
    def env(self) -> Mapping[str, str]: ...
    @property
    def pass_env(self) -> tuple[str, ...]: ...


@asynccontextmanager
async def made(seat: Seat) -> AsyncIterator[Path]:
    """An empty folder, until the block is left.

    Raises:
        ArmError: it cannot be made.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=processes.prefix(seat.run)))
    except OSError as error:
        raise _no_place(error) from error
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(processes.remove, folder)


def furnished(program: Program, seat: Seat, folder: Path) -> tuple[dict[str, str], Path]:
    """Put into the folder what an agent finds there: its whole environment, and the path of its config file.

    Raises:
        ArmError: there is no room for it.
    """
    try:
        for own in (HOME, "tmp"):
            (folder / own).mkdir()
        config = _write_config(program, seat, folder)
    except OSError as error:
        raise _no_place(error) from error
    return _environment(program, seat, folder, config), config


def _no_place(error: OSError) -> ArmError:
    return ArmError(
        "internal",
        f"the agent's own folder cannot be made in {tempfile.gettempdir()}: {error.strerror}; free some "
        "space there, or name another folder in TMPDIR",
    )


def _write_config(program: Program, seat: Seat, folder: Path) -> Path:
    """Where the agent's runtime looks for its tools; only its own user can read it.

    Raises:
        OSError: it cannot be written.
    """
    if program.config_format is None and program.config_transport is None:
        path, text = folder / "mcp.json", json.dumps(seat.config)
    else:
        runtime = RUNTIMES[program.config_format or "mcp-servers"]
        path, text = folder / runtime.path, runtime.file(_endpoints(seat), program.config_transport)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _endpoints(seat: Seat) -> dict[str, Endpoint]:
    return {
        name: Endpoint(
            url=url,
            token=seat.token,
            bridge=bridge.PROGRAM,
            marks={"SEATRIAL_TRIAL": seat.trial, "SEATRIAL_RUN": seat.run},
        )
        for name, url in seat.urls.items()
    }


def _environment(program: Program, seat: Seat, folder: Path, config: Path) -> dict[str, str]:
    given: Mapping[str, str] = seat.environ
    return {
        **{name: given[name] for name in processes.INHERITED if name in given},
        "HOME": str(folder / HOME),
        "TMPDIR": str(folder / "tmp"),
        **program.env,
        **{name: given[name] for name in program.pass_env if name in given},
        "SEATRIAL_MCP_URL": seat.url,
        "SEATRIAL_MCP_TOKEN": seat.token,
        "SEATRIAL_MCP_CONFIG": str(config),
        **{f"SEATRIAL_MCP_{_variable(name)}_URL": url for name, url in seat.urls.items()},
        "SEATRIAL_SEED": str(seat.seed),
        "SEATRIAL_NOW": seat.now,
        "SEATRIAL_SETTINGS": json.dumps(seat.settings, ensure_ascii=False),
        "SEATRIAL_TRIAL": seat.trial,
        "SEATRIAL_RUN": seat.run,
    }


def _variable(server: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in server).upper()
