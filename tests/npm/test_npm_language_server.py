"""The generated schemas in an editor: the YAML language server from npm, spoken to over its protocol.

`make test-npm` installs it. Documents name their schema in their first line, as those of this repository do.
"""

import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest

ROOT = Path(__file__).parents[2]
MODULES = Path(os.environ.get("SEATRIAL_NPM", "no such folder")) / "node_modules"
SERVER = MODULES / "yaml-language-server" / "bin" / "yaml-language-server"
LONGEST = 60
"""Seconds for everything that one test asks."""

pytestmark = [
    pytest.mark.npm,
    pytest.mark.skipif(
        not SERVER.is_file(), reason="no language server: SEATRIAL_NPM names no folder with it"
    ),
]

SETTINGS = {
    "hover": True,
    "completion": True,
    "validate": True,
    "schemaStore": {"enable": False},  # nothing is fetched
}
CASE = """\
# yaml-language-server: $schema=../site/schema/case.json
kind: case
id: refund
title: A refund
group: task
agent: helpdesk
world: helpdesk
task: A refund, please.
checks:
  - check: tool_called
    tool: issue_refund
"""

Message = dict[str, Any]


class Editor:
    """What an editor does: opens documents, asks about places, and is told what is wrong."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout
        self._unread, self._asked = b"", 0
        self._told: dict[str, list[Message]] = {}

    async def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        await self._stdin.send(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def ask(self, method: str, **params: Any) -> Any:
        """The answer to a request."""
        self._asked += 1
        await self.send(id=self._asked, method=method, params=params)
        while True:
            message = await self._next()
            if "method" not in message and message["id"] == self._asked:
                return message["result"]

    async def open(self, path: str, text: str) -> None:
        document = {"uri": self._uri(path), "languageId": "yaml", "version": 1, "text": text}
        await self.send(method="textDocument/didOpen", params={"textDocument": document})

    async def at(self, method: str, path: str, line: int, column: int) -> Any:
        """The answer to a request about a place, counted from 1."""
        place = {"line": line - 1, "character": column - 1}
        return await self.ask(
            f"textDocument/{method}", textDocument={"uri": self._uri(path)}, position=place
        )

    async def diagnosed(self, path: str) -> list[str]:
        """`line: message` of all that is wrong with an open document."""
        while self._uri(path) not in self._told:
            await self._next()
        return [
            f"{one['range']['start']['line'] + 1}: {one['message']}"
            for one in self._told[self._uri(path)]
        ]

    def _uri(self, path: str) -> str:
        return (ROOT / path).as_uri()

    async def _next(self) -> Message:
        """The next message; what the server asks of an editor is answered."""
        head = await self._until(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(self._unread) < length:
            self._unread += await self._stdout.receive()
        body, self._unread = self._unread[:length], self._unread[length:]
        message: Message = json.loads(body)
        if "method" in message and "id" in message:
            items = message["params"].get("items", []) if message.get("params") else []
            wanted = [SETTINGS if item.get("section") == "yaml" else {} for item in items]
            result = wanted if message["method"] == "workspace/configuration" else None
            await self.send(id=message["id"], result=result)
        elif message.get("method") == "textDocument/publishDiagnostics":
            self._told[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    async def _until(self, end: bytes) -> bytes:
        while end not in self._unread:
            self._unread += await self._stdout.receive()
        head, _, self._unread = self._unread.partition(end)
        return head


@asynccontextmanager
async def editor() -> AsyncIterator[Editor]:
    command = ["node", str(SERVER), "--stdio"]
    environ = {"PATH": os.environ["PATH"], "HOME": "/", "TMPDIR": "/tmp"}
    async with await anyio.open_process(command, env=environ, stderr=None) as process:
        one = Editor(process)
        hover = {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}
        await one.ask("initialize", processId=None, rootUri=ROOT.as_uri(), capabilities=hover)
        await one.send(method="initialized", params={})
        yield one
        process.terminate()


def in_an_editor(doing: Callable[[Editor], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        with anyio.fail_after(LONGEST):
            async with editor() as one:
                await doing(one)

    anyio.run(bounded)


def test_a_key_is_described_where_the_pointer_rests_on_it():
    async def check(one: Editor) -> None:
        await one.open("cases/new.yaml", CASE)
        of_group = await one.at("hover", "cases/new.yaml", 5, 2)
        of_checks = await one.at("hover", "cases/new.yaml", 9, 2)
        of_tool = await one.at("hover", "cases/new.yaml", 11, 6)

        assert "task, boundary, clarify, injection or purpose" in of_group["contents"]["value"]
        assert "What the whole trial is held against" in of_checks["contents"]["value"]
        assert "The tool's name" in of_tool["contents"]["value"]

    in_an_editor(check)


def test_keys_and_values_are_offered_with_their_descriptions():
    async def check(one: Editor) -> None:
        await one.open("cases/new.yaml", CASE + "gro\n")
        keys = (await one.at("completion", "cases/new.yaml", 12, 1))["items"]
        await one.open("cases/grouped.yaml", CASE.replace("group: task", "group: "))
        groups = (await one.at("completion", "cases/grouped.yaml", 5, 8))["items"]
        begun = CASE.replace("check: tool_called\n    tool: issue_refund", "check: ")
        await one.open("cases/checked.yaml", begun)
        checks = (await one.at("completion", "cases/checked.yaml", 10, 12))["items"]

        offered = {key["label"]: key.get("documentation", "") for key in keys}
        assert {"required", "trials", "limits", "persona"} <= offered.keys()
        assert "kind" not in offered  # it stands there already
        assert "The gate never opens" in str(offered["required"])
        assert {"boundary", "injection", "purpose"} <= {group["label"] for group in groups}
        assert {"tool_called", "end_state", "reply_contains"} <= {name["label"] for name in checks}

    in_an_editor(check)


def test_a_key_that_there_is_not_and_a_value_that_cannot_be_are_told_at_their_line():
    async def check(one: Editor) -> None:
        await one.open("cases/new.yaml", CASE.replace("title:", "titel:"))
        await one.open("cases/valued.yaml", CASE.replace("group: task", "group: tusk"))
        await one.open("cases/right.yaml", CASE)

        assert await one.diagnosed("cases/right.yaml") == []
        assert "4: Property titel is not allowed." in await one.diagnosed("cases/new.yaml")
        (wrong,) = await one.diagnosed("cases/valued.yaml")
        assert wrong.startswith("5: Value is not accepted. Valid values: ")

    in_an_editor(check)


def test_nothing_is_wrong_with_the_documents_of_this_repository_in_an_editor():
    paths = [
        path.relative_to(ROOT).as_posix()
        for folder in ("cases", "suites", "arms", "fixtures")
        for path in sorted((ROOT / folder).rglob("*.yaml"))
    ]

    async def check(one: Editor) -> None:
        for path in paths:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert text.startswith("# yaml-language-server: $schema="), path
            await one.open(path, text)
        wrong = {path: told for path in paths if (told := await one.diagnosed(path))}

        assert wrong == {}
        assert len(paths) > 20

    in_an_editor(check)
