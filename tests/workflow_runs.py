"""Whole runs of workflows, by `act` on this machine: no container, no network, stand-ins for GitHub's own actions.

A repository in which Seatrial is set up lies in a folder, with the shipped workflows and actions at hand under the name
that they are called by. Every `seatrial` of a step is a fork of a process that has imported it already.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests import shell
from tests.servers import github_api
from tests.work_trees import WorkTree

ROOT = Path(__file__).parents[1]
ACT = shutil.which("act") or shutil.which("act", path=str(Path(sys.executable).parent))
SEATRIAL = "acme/seatrial"
COMMIT = "5ea" + "0" * 37
_USED = re.compile(r"uses: (actions/([a-z-]+)@[0-9a-f]{40})")


@dataclass(frozen=True)
class Ran:
    """What came of a run."""

    results: dict[str, str]
    """Job → success, failure; those that were skipped are not there."""
    log: str
    artifacts: Path

    @property
    def names(self) -> list[str]:
        """Of the artifacts."""
        return sorted(path.name for path in self.artifacts.iterdir())


@dataclass
class Actions:
    """A repository, and the machine that runs its workflows."""

    origin: WorkTree
    """What is checked out; it has every commit."""
    folder: Path
    python: Path
    hub_url: str
    library: Path
    """Seatrial's own repository, as far as workflows call it."""
    secrets: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    reports: bool = True
    """Reports can be built; it takes longer than all the rest."""
    runs: int = 0

    def run(
        self, workflow: str, event: str, about: Mapping[str, Any], *, of: str, **environment: str
    ) -> Ran:
        """Run a workflow of the repository.

        Args:
            workflow: its file.
            event: what happened.
            about: the event's payload.
            of: the commit that GitHub would check out.
            environment: what every step finds in it.
        """
        self.runs += 1
        here = self.folder / f"run{self.runs}"
        artifacts = here / "artifacts"
        artifacts.mkdir(parents=True)
        tree = self.origin.clone(here / "tree")
        tree.git("fetch", "-q", "origin", of)
        tree.git("checkout", "-q", "--detach", of)
        tree.git("remote", "set-url", "origin", f"https://github.com/{github_api.REPOSITORY}.git")
        payload = here / "event.json"
        repository = {"id": 1, "fork": False, "default_branch": "main"}
        payload.write_text(json.dumps({"repository": repository} | dict(about)), encoding="utf-8")
        given = {
            "GITHUB_API_URL": self.hub_url,
            "SEATRIAL_PYTHON": str(self.python),
            "STAND_IN_REPORTS": str(self.reports),
            "STAND_IN_ARTIFACTS": str(artifacts),
            "STAND_IN_ORIGIN": str(self.origin.root),
        } | environment
        local = {f"{SEATRIAL}@{COMMIT}": self.library} | {
            used: ROOT / "tests/actions" / name
            for file in (ROOT / ".github/workflows").glob("seatrial-*.yml")
            for used, name in _USED.findall(file.read_text(encoding="utf-8"))
        }
        assert ACT is not None
        words = [
            ACT, event, "--json", "-C", str(tree.root), "-W", f".github/workflows/{workflow}", "-e", str(payload),
            "-P", "ubuntu-latest=-self-hosted", "--container-daemon-socket", "-", "--no-cache-server",
            "--use-new-action-cache", "--no-skip-checkout", "--concurrent-jobs", "1",
            *(w for name, value in given.items() for w in ("--env", f"{name}={value}")),
            *(w for name, value in self.variables.items() for w in ("--var", f"{name}={value}")),
            *(w for name, folder in local.items() for w in ("--local-repository", f"{name}={folder}")),
            *(w for name in ("GITHUB_TOKEN", *self.secrets) for w in ("-s", name)),
        ]  # fmt: skip
        done = subprocess.run(
            words, cwd=here, capture_output=True, text=True, timeout=110, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(here), "GITHUB_TOKEN": github_api.TOKEN, **self.secrets},
        )  # fmt: skip
        shutil.rmtree(here / ".cache", ignore_errors=True)
        results, lines = {}, []
        for line in done.stdout.splitlines():
            told = json.loads(line)
            if "jobResult" in told:
                results[told["jobID"]] = told["jobResult"]
            lines.append(told.get("msg", "").rstrip("\n"))
        return Ran(results, "\n".join((*lines, done.stderr)), artifacts)


@contextmanager
def actions(folder: Path, origin: WorkTree, hub_url: str) -> Iterator[Actions]:
    """A machine for the workflows of a repository; `library` in the folder is what `publish` made."""
    library = folder / "library"
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    with interpreter(folder) as python:
        yield Actions(origin, folder, python, hub_url, library)


def publish(library: Path) -> None:
    """Seatrial's own repository. `$/…` is GitHub's word for itself, which act does not know."""
    for name in ("action", "post", ".github"):
        shutil.copytree(ROOT / name, library / name)
    for file in (library / ".github/workflows").glob("seatrial-*.yml"):
        text = file.read_text(encoding="utf-8")
        own = re.sub(r"uses: \$/(\S+)", rf"uses: {SEATRIAL}/\1@{COMMIT}", text)
        assert "uses: $/" not in own
        assert yaml.safe_load(own)
        file.write_text(own, encoding="utf-8")


@contextmanager
def interpreter(folder: Path) -> Iterator[Path]:
    """An interpreter that has Seatrial, as SEATRIAL_PYTHON names one: each command is a fork of a warm process."""
    script = folder / "python"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        script.write_text(
            f"#!{sys.executable} -IS\n"
            "import json, os, socket, sys\n"
            "assert sys.argv[1:4] == ['-I', '-m', 'seatrial'], sys.argv\n"
            f"with socket.create_connection({address!r}) as to:\n"
            "    order = {'words': sys.argv[4:], 'folder': os.getcwd(), 'environment': dict(os.environ)}\n"
            "    to.sendall(json.dumps(order).encode())\n"
            "    to.shutdown(socket.SHUT_WR)\n"
            "    with to.makefile() as answers:\n"
            "        done = json.load(answers)\n"
            "sys.stdout.write(done['out'])\n"
            "sys.stderr.write(done['err'])\n"
            "sys.exit(done['code'])\n",
            encoding="utf-8",
        )
        script.chmod(0o755)
        thread = threading.Thread(target=_serve, args=(listening,))
        thread.start()
        try:
            yield script
        finally:
            socket.create_connection(address).close()
            thread.join(60)


def _serve(listening: socket.socket) -> None:
    """Answer one command after another, until somebody asks for nothing."""
    while True:
        taken, _ = listening.accept()
        with taken, taken.makefile() as lines:
            text = lines.read()
            if not text:
                return
            order = json.loads(text)
            if order["words"] == ["--version"]:
                taken.sendall(json.dumps({"code": 0, "out": "seatrial\n", "err": ""}).encode())
                continue
            if order["words"][0] == "report" and order["environment"]["STAND_IN_REPORTS"] != "True":
                taken.sendall(json.dumps({"code": 4, "out": "", "err": "no report\n"}).encode())
                continue
            code, out, err = shell.warm(
                Path(order["folder"]), tuple(order["words"]), order["environment"]
            )
            done = {"code": code, "out": out.decode(), "err": err.decode()}
            taken.sendall(json.dumps(done).encode())
