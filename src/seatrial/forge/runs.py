"""A workflow's run that has ended, as the workflow behind it (`on: workflow_run`) sees it.

The run may be one of a fork: whoever wrote the change decided what it did. What is taken from it is bytes, within
bounds; which commit and which repository it was of, GitHub says, and which pull request that is, GitHub is asked.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seatrial.errors import UsageError
from seatrial.forge.asking import Api
from seatrial.forge.workflow import Commit

MOST_ZIPPED = 8_000_000
"""Bytes of an artifact as it is sent."""
_EVENTS = frozenset({"pull_request", "merge_group", "push"})


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Repository(_Part):
    id: int


class EndedRun(_Part):
    """What GitHub says of the run."""

    id: Annotated[int, Field(gt=0)]
    run_attempt: Annotated[int, Field(gt=0)] = 1
    event: str
    conclusion: str | None = None
    head_sha: Commit
    head_repository: _Repository | None = None
    """None where the fork was deleted."""
    repository: _Repository

    @property
    def from_fork(self) -> bool:
        """It is of somebody else's repository."""
        return self.head_repository != self.repository

    @property
    def of_head(self) -> bool:
        """Its `head_sha` is the commit that it ruled on; a run started by hand may be of any other."""
        return self.event in _EVENTS

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> EndedRun:
        """The run of the event.

        Raises:
            UsageError: the event is another one, or cannot be read.
        """
        path = environment.get("GITHUB_EVENT_PATH", "")
        try:
            event = json.loads(Path(path).read_bytes()) if path else {}
            return cls.model_validate(event["workflow_run"])
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            first = error.errors()[0] if isinstance(error, ValidationError) else None
            where = ": " + ".".join(map(str, first["loc"])) if first else ""
            raise UsageError(
                f"the event is not that of a workflow's run which has ended{where}",
                hint="in a workflow with `on: workflow_run`, types: [completed]",
            ) from error


class Runs:
    """Pull requests and artifacts of a repository."""

    def __init__(self, api: Api, repository: str) -> None:
        """Say where.

        Args:
            api: with a token that may read actions and pull requests.
            repository: `owner/name`.
        """
        self._api = api
        self._path = f"/repos/{repository}"

    def pull_requests(self, run: EndedRun) -> list[int]:
        """Numbers of the open pull requests whose newest commit the run is of.

        The event does not name them for a fork, and what the run itself says is what its author wants.
        """
        if run.head_repository is None:
            return []
        return [
            pull["number"]
            for pull in self._api.pages(f"{self._path}/pulls", state="open")
            if isinstance(pull, dict)
            and isinstance(pull.get("number"), int)
            and _at(pull, "head", "sha") == run.head_sha
            and _at(pull, "head", "repo", "id") == run.head_repository.id
        ]

    def is_head(self, number: int, commit: str) -> bool:
        """Whether this commit is the newest of an open pull request."""
        pull = self._api.ask("GET", f"{self._path}/pulls/{number}").value
        return bool(_at(pull, "state") == "open" and _at(pull, "head", "sha") == commit)

    def file(self, run: int, artifact: str, name: str, most: int) -> bytes | None:
        """The one file of an artifact of the run; None where the run left no such artifact.

        Args:
            run: its id.
            artifact: the artifact's name.
            name: the file's.
            most: bytes that it may have.

        Raises:
            seatrial.errors.ForgeError: GitHub does not give it.
            UsageError: it is something else than that one file, or too large.
        """
        listed = self._api.ask(
            "GET",
            f"{self._path}/actions/runs/{run}/artifacts",
            query={"name": artifact, "per_page": 100},
        ).value
        artifacts = _at(listed, "artifacts")
        ids = [
            found["id"]
            for found in (artifacts if isinstance(artifacts, list) else ())
            if isinstance(found, dict)
            and found.get("name") == artifact
            and found.get("expired") is not True
            and isinstance(found.get("id"), int)
        ]
        if not ids:
            return None
        data = self._api.download(f"{self._path}/actions/artifacts/{max(ids)}/zip", MOST_ZIPPED)
        return only_file(data, name, most)


def only_file(data: bytes, name: str, most: int) -> bytes:
    """The content of the one file in a zip archive. Nothing is unpacked onto a disk.

    Raises:
        UsageError: it is no such archive, or holds anything else: another name, a second file, a link, more bytes.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) != 1 or members[0].filename != name:
                raise UsageError(f"the artifact holds {len(members)} files, not {name} alone")
            (member,) = members
            kind = member.external_attr >> 16 & 0o170000
            if kind not in {0, 0o100000} or member.flag_bits & 1:
                raise UsageError(f"{name} in the artifact is no plain file")
            with archive.open(member) as file:
                content = file.read(most + 1)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        raise UsageError("the artifact is no archive that could be read") from error
    if len(content) > most:
        raise UsageError(f"{name} in the artifact has more than {most:,} bytes")
    return content


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
