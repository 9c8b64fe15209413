"""The servers of a run: where they stand, and the door through which each trial gets its own."""

from __future__ import annotations

import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from re import Match

import anyio
import anyio.abc
import anyio.to_thread

from seatrial import processes
from seatrial.documents import Server
from seatrial.documents.adapters import VARIABLE
from seatrial.errors import ToolServerError
from seatrial.servers.declared import DeclaredServer
from seatrial.servers.keeping import Kept
from seatrial.servers.real import RealServer, capabilities
from seatrial.servers.sharing import Shared
from seatrial.upstream import Client, Session
from seatrial.upstream.http import connected
from seatrial.upstream.session import alone
from seatrial.upstream.stdio import started


@dataclass(slots=True)
class Servers:
    """Where the real servers of a run stand."""

    root: Path
    """The repository's root: fixtures name their files from there."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment that servers are given parts of."""
    run: str = ""
    """The run's id."""
    tasks: anyio.abc.TaskGroup | None = None
    """Where servers that trials share are kept."""
    started: int = 0
    """How many have been started or connected to so far."""
    _shared: dict[str, Shared] = field(default_factory=dict)

    @asynccontextmanager
    async def open(
        self, servers: Sequence[Server], *, environment: str, mocked: Collection[str]
    ) -> AsyncIterator[tuple[RealServer | DeclaredServer, ...]]:
        """A trial's servers, until the block ends; then nothing of its own ones is left.

        Args:
            servers: the fixtures.
            environment: where the case is run.
            mocked: tools that a fixture answers for.

        Raises:
            ToolServerError: a server cannot be started or reached, or does not list its tools.
        """
        opened: list[RealServer | DeclaredServer | None] = [None] * len(servers)
        errors: list[Exception | None] = [None] * len(servers)
        own: list[Kept] = []
        async with AsyncExitStack() as stack:

            async def begin(at: int, document: Server) -> None:
                try:
                    opened[at] = await self._begun(document, stack, own)
                except Exception as error:  # the first of them is raised below
                    errors[at] = error

            async with anyio.create_task_group() as beginning:
                for at, document in enumerate(servers):
                    if document.is_started(environment, mocked):
                        beginning.start_soon(begin, at, document)
                    else:
                        opened[at] = DeclaredServer(document, mocked)
            for error in errors:
                if error is not None:
                    raise error
            try:
                yield tuple(server for server in opened if server is not None)
            finally:
                for kept in own:  # all at once: the stack waits for one after the other
                    kept.leave()

    async def close(self) -> None:
        """End the servers that trials shared."""
        for shared in self._shared.values():
            await shared.end()

    async def _begun(self, document: Server, stack: AsyncExitStack, own: list[Kept]) -> RealServer:
        assert self.tasks is not None
        server = RealServer(document)
        if document.shared:
            shared = self._shared.setdefault(
                document.id, Shared(partial(self._session, document), self.tasks)
            )
            session = await stack.enter_async_context(shared.joined(server))
        else:
            kept = Kept(self._session(document, server))
            session = await kept.begin(self.tasks)
            stack.push_async_callback(kept.end)
            own.append(kept)
        await server.begin(session)
        return server

    @asynccontextmanager
    async def _session(self, document: Server, client: Client) -> AsyncIterator[Session]:
        """A session with a server that nobody else uses."""
        who = f"server {document.id!r}"
        self.started += 1
        if document.url is not None:
            headers = {name: self._with_variables(v) for name, v in document.headers.items()}
            async with connected(
                document.url,
                who=who,
                headers=headers,
                seconds=document.start_seconds,
                client=client,
                capabilities=capabilities(document.client),
            ) as service:
                yield service
            return
        cwd = self.root / (document.cwd or ".")
        if not cwd.is_dir():
            raise ToolServerError(
                f"{who} cannot be started in {document.cwd}: there is no such folder"
            )
        prefix = processes.prefix(self.run)
        folder = Path(await anyio.to_thread.run_sync(partial(tempfile.mkdtemp, prefix=prefix)))
        try:
            scratch = folder / "scratch"
            async with started(
                [self._filled(word, scratch) for word in document.command],
                who=who,
                cwd=cwd,
                env=self._environment(document, folder, scratch),
                mark=("SEATRIAL_SERVER", secrets.token_hex(16)),
                seconds=document.start_seconds,
                client=client,
                capabilities=capabilities(document.client),
            ) as program:
                yield program
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(processes.remove, folder)

    def _with_variables(self, value: str) -> str:
        def variable(found: Match[str]) -> str:
            return self.environ.get(found[1], found[0])

        return VARIABLE.sub(variable, value)

    def _filled(self, word: str, scratch: Path) -> str:
        if word == "{python}":
            return sys.executable
        return word.replace("{root}", str(self.root)).replace("{scratch}", str(scratch))

    def _environment(self, document: Server, folder: Path, scratch: Path) -> dict[str, str]:
        home, temporary = folder / "home", folder / "tmp"
        for made in (home, temporary, scratch):
            made.mkdir()
        return {
            **{name: self.environ[name] for name in processes.INHERITED if name in self.environ},
            "HOME": str(home),
            "TMPDIR": str(temporary),
            **{name: self._filled(value, scratch) for name, value in document.env.items()},
            **{name: self.environ[name] for name in document.pass_env if name in self.environ},
            "SEATRIAL_RUN": self.run,
        }


@asynccontextmanager
async def ready(
    root: Path, environ: Mapping[str, str] | None = None, *, run: str = ""
) -> AsyncIterator[Servers]:
    """Room for the servers of a run, until the block ends; then nothing of it is left.

    Args:
        root: the repository's root.
        environ: the environment that servers are given parts of.
        run: the run's id, by which what is left of it is found when it is killed.
    """
    servers = Servers(root, environ or {}, run or secrets.token_hex(8))
    try:
        async with anyio.create_task_group() as tasks:
            servers.tasks = tasks
            try:
                yield servers
            finally:
                with anyio.CancelScope(shield=True):
                    await servers.close()
    except BaseExceptionGroup as group:
        # What is in the group came out of the block, unless a shared server met a bug of ours.
        if (error := alone(group)) is not group:
            raise error from error.__cause__
        raise
