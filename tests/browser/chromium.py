"""A headless Chromium, asked through the DevTools protocol over a pair of pipes.

No driver program and no library in between: the protocol is JSON messages that end in a zero byte.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROGRAM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
SECONDS = 30.0
"""Any single answer, and any condition that is waited for, comes within this time."""


@contextlib.contextmanager
def chromium(profile: Path, *, scheme: str) -> Iterator[Chromium]:
    """A browser with one page, ended for certain."""
    assert PROGRAM
    (their_input, to_it), (from_it, their_output) = os.pipe(), os.pipe()
    arguments = [
        PROGRAM, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
        "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
        "--no-first-run", "--window-size=1400,1000", f"--user-data-dir={profile}", "about:blank",
    ]  # fmt: skip
    # Chromium reads from descriptor 3 and writes to descriptor 4.
    ends = f"3</proc/self/fd/{their_input} 4>/proc/self/fd/{their_output}"
    process = subprocess.Popen(
        ["sh", "-c", f'exec "$@" {ends}', "sh", *arguments],
        pass_fds=(their_input, their_output),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(their_input)
    os.close(their_output)
    try:
        page = Chromium(to_it, from_it)
        page.emulate(scheme)
        yield page
    finally:
        os.close(to_it)  # a browser whose pipe is closed ends itself
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait(10)
        os.close(from_it)


class Chromium:
    """One page, asked by JavaScript expressions and CSS selectors."""

    def __init__(self, to_it: int, from_it: int) -> None:
        self._to_it = to_it
        self._from_it = from_it
        self._unread = b""
        self._numbers = itertools.count(1)
        self._complaints: list[str] = []
        self._requested: list[str] = []
        self._session: str | None = None
        pages = self._call("Target.getTargets")["targetInfos"]
        target = next(p["targetId"] for p in pages if p["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def emulate(self, scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def open(self, page: Path, rest: str = "") -> None:
        """Load a page anew, and wait until its script has drawn it."""
        self.go("about:blank")
        self._complaints.clear()  # those are about the page before
        self.go(f"{page.as_uri()}{rest}")
        self.until("document.querySelector('.st table, .st-card, .st h1') !== null")

    def go(self, address: str) -> None:
        self._call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def ask(self, expression: str) -> Any:
        """The value of an expression, as JSON."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        end = time.monotonic() + SECONDS
        while not self.ask(condition):
            assert time.monotonic() < end, f"{condition} did not come true; {self._complaints}"
            select.select([], [], [], 0.02)

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.ask(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)"
        )
        return found

    def press(self, keys: str) -> None:
        for key in keys:
            self._call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
            self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def complaints(self) -> list[str]:
        """What the console said of this page since it was last asked: refused scripts, failed requests, exceptions."""
        said, self._complaints = self._complaints, []
        return said

    def requested(self) -> list[str]:
        """Addresses that were asked for since this was last asked, pages themselves included."""
        asked, self._requested = self._requested, []
        return asked

    def keep_screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        shot = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to_it, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != number:
            match answer:
                case {"method": "Log.entryAdded", "params": {"entry": entry}}:
                    self._complaints.append(entry["text"])
                case {"method": "Runtime.exceptionThrown", "params": {"exceptionDetails": thrown}}:
                    self._complaints.append(json.dumps(thrown))
                case {"method": "Network.requestWillBeSent", "params": {"request": request}}:
                    self._requested.append(request["url"])
                case _:
                    pass
        assert "error" not in answer, (method, answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._from_it], [], [], SECONDS)
            assert ready, "the browser does not answer"
            part = os.read(self._from_it, 1 << 16)
            assert part, "the browser has ended"
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message
