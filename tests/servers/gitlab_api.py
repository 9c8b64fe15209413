"""Seven operations of GitLab's API on loopback, with state: statuses, notes and merge requests of one project.

    with gitlab_api.serving() as lab:
        ... CI_API_V4_URL=lab.url ...
    lab.statuses, lab.notes         # what is there now
    lab.asked                       # method and path, in the order in which they came

It does what GitLab's documentation and its own specification of the commit status API say: a status that is
pending or running is changed by the next of its name and pipeline, one that has ended is followed by a new one; no
status can become what it is; a description has 255 characters, a note 1,000,000; lists come in pages of 100 at
most, with `Link` and `X-Next-Page`. `lab.next(...)` says how the next requests of a path go wrong.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.servers.github_api import Fails

TOKEN = "glpat-a-token-for-tests"
BOT = "project_7_bot_0123456789abcdef"
PROJECT = "acme/agents/helpdesk"
LONGEST_DESCRIPTION = 255
LONGEST_NOTE = 1_000_000

STATES = ("pending", "running", "success", "failed", "canceled", "skipped")
_EVENTS = {"success": "success", "failed": "drop", "canceled": "cancel", "skipped": "skip"}

SLOW_DOWN = Fails(
    status=429,
    message="This endpoint has been requested too many times. Try again later.",
    headers={"retry-after": "7"},
)


@dataclass
class Lab:
    """The project while it is served."""

    url: str
    statuses: list[dict[str, Any]] = field(default_factory=list)
    """The oldest first."""
    notes: list[dict[str, Any]] = field(default_factory=list)
    heads: dict[int, str] = field(default_factory=dict)
    """Merge request → head commit."""
    commits: set[str] = field(default_factory=set)
    pipelines: dict[int, str] = field(default_factory=dict)
    """Id → the commit that it is of."""
    asked: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    role: str = "developer"
    protected: bool = False
    """The commit's branch is protected, so that only maintainers set its statuses."""
    writer: str = BOT
    before: dict[str, Callable[[], None]] = field(default_factory=dict)
    """What happens, once, when a method and a kind of path (`POST notes`) are asked for."""
    _failures: dict[str, list[Fails]] = field(default_factory=dict)
    _ids: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, operation: str, *failures: Fails) -> None:
        """The next requests of an operation (`POST notes`) go wrong like this."""
        self._failures.setdefault(operation, []).extend(failures)

    def failure(self, operation: str) -> Fails | None:
        """How this request goes wrong, if it does."""
        waiting = self._failures.get(operation)
        return waiting.pop(0) if waiting else None

    def new_id(self) -> int:
        """A number that nothing else has."""
        self._ids += 1
        return self._ids

    def write(self, iid: int, body: str, username: str, *, system: bool = False) -> dict[str, Any]:
        """Somebody comments on a merge request."""
        author = {"id": abs(hash(username)) % 10_000, "username": username}
        note = {
            "id": self.new_id(), "noteable_iid": iid, "body": body, "author": author, "system": system,
            "edits": 0,
        }  # fmt: skip
        self.notes.append(note)
        return note

    def status(self, name: str = "seatrial/gate") -> dict[str, Any]:
        """The newest status of that name."""
        return next(s for s in reversed(self.statuses) if s["name"] == name)


@contextmanager
def serving() -> Iterator[Lab]:
    """Serve on a free port until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        lab = Lab(f"http://127.0.0.1:{server.server_port}/api/v4")
        server.lab = lab  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield lab
        finally:
            server.shutdown()
            thread.join(10)


_Answer = tuple[int, Any, dict[str, str]]
_PATHS = (
    ("user", r"/user"),
    ("statuses", r"/projects/(?P<project>[^/]+)/statuses/(?P<sha>[^/]+)"),
    ("list", r"/projects/(?P<project>[^/]+)/repository/commits/(?P<sha>[^/]+)/statuses"),
    ("request", r"/projects/(?P<project>[^/]+)/merge_requests/(?P<iid>\d+)"),
    ("notes", r"/projects/(?P<project>[^/]+)/merge_requests/(?P<iid>\d+)/notes"),
    ("note", r"/projects/(?P<project>[^/]+)/merge_requests/(?P<iid>\d+)/notes/(?P<note>\d+)"),
)
_QUERY = {
    "list": {"name", "ref", "stage", "all", "pipeline_id", "order_by", "sort", "page", "per_page"},
    "notes": {"sort", "order_by", "activity_filter", "page", "per_page"},
}
_BODY = {
    "statuses": {"state", "ref", "name", "context", "target_url", "description", "coverage", "pipeline_id"},
    "notes": {"body", "created_at", "internal", "merge_request_diff_head_sha"},
    "note": {"body", "confidential"},
}  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are sent one after the other

    def handle(self) -> None:
        """Answer until the client is gone."""
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def _go(self) -> None:
        lab: Lab = self.server.lab  # type: ignore[attr-defined]
        url = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = url.path.removeprefix("/api/v4")
        kind, match = next(
            ((kind, m) for kind, p in _PATHS if (m := re.fullmatch(p, path))), ("nothing", None)
        )
        operation = f"{self.command} {kind}"
        with lab.lock:
            lab.asked.append(operation)
            lab.bodies.append(raw)
        if self.headers.get("private-token") != TOKEN:
            return self._answer(401, {"message": "401 Unauthorized"})
        if match is None:
            return self._answer(404, {"error": "404 Not Found"})
        names = {name: unquote(value) for name, value in match.groupdict().items()}
        if names.get("project", PROJECT) != PROJECT:
            return self._answer(404, {"message": "404 Project Not Found"})
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        assert set(query) <= _QUERY.get(kind, set()), query
        if (happens := lab.before.pop(operation, None)) is not None:
            happens()
        body: Any = {}
        if self.command in {"POST", "PUT"}:
            try:
                body = json.loads(raw)
            except ValueError:
                return self._answer(400, {"error": "The request body is not valid JSON"})
            assert set(body) <= _BODY[kind], body
        failure = lab.failure(operation)
        if failure is None:
            with lab.lock:
                made = self._done(lab, operation, names, query, body)
            return self._answer(*made)
        if failure.done:
            self._done(lab, operation, names, query, body)
        said = {"message": failure.message} if failure.body is None else failure.body
        return self._answer(failure.status, said, failure.headers)

    do_GET = do_POST = do_PUT = _go

    def _done(
        self, lab: Lab, operation: str, names: dict[str, str], query: dict[str, str], body: Any
    ) -> _Answer:
        iid = int(names.get("iid", "0"))
        if iid and iid not in lab.heads:
            return 404, {"message": "404 Not found"}, {}
        match operation:
            case "GET user":
                return 200, {"id": 7, "username": lab.writer}, {}
            case "POST statuses":
                return _set_status(lab, names["sha"], body)
            case "GET list":
                latest: dict[tuple[str, int], dict[str, Any]] = {}
                for status in lab.statuses:
                    if status["sha"] == names["sha"] and query.get("name") in {
                        None,
                        status["name"],
                    }:
                        latest[status["name"], status["pipeline_id"]] = status
                return self._page(list(latest.values()), query)
            case "GET request":
                return 200, {"iid": iid, "sha": lab.heads[iid]}, {}
            case "GET notes":
                return self._page([n for n in lab.notes if n["noteable_iid"] == iid], query)
            case "POST notes":
                if refused := _refused_note(body):
                    return refused
                return 201, lab.write(iid, body["body"], lab.writer), {}
            case "PUT note":
                for note in lab.notes:
                    if str(note["id"]) == names["note"] and note["noteable_iid"] == iid:
                        if note["author"]["username"] != lab.writer and lab.role == "developer":
                            return 403, {"message": "403 Forbidden"}, {}
                        if refused := _refused_note(body):
                            return refused
                        note["body"] = body["body"]
                        note["edits"] += 1
                        return 200, note, {}
                return 404, {"message": "404 Note Not Found"}, {}
            case _:
                return 405, {"error": "405 Not Allowed"}, {}

    def _page(self, items: list[Any], query: dict[str, str]) -> _Answer:
        size = min(100, int(query.get("per_page", "20")))
        page = int(query.get("page", "1"))
        more = len(items) > page * size
        headers = {"x-page": str(page), "x-next-page": str(page + 1) if more else ""}
        if more:
            where = f"http://{self.headers['host']}{urlsplit(self.path).path}"
            headers["link"] = f'<{where}?page={page + 1}&per_page={size}>; rel="next"'
        return 200, items[(page - 1) * size : page * size], headers


def _set_status(lab: Lab, sha: str, body: Any) -> _Answer:
    if body.get("state") not in STATES:
        return 400, {"error": "state does not have a valid value"}, {}
    if sha not in lab.commits:
        return 404, {"message": "404 Commit Not Found"}, {}
    if lab.role == "reporter" or (lab.protected and lab.role != "maintainer"):
        return 403, {"message": "403 Forbidden"}, {}
    if len(body.get("description") or "") > LONGEST_DESCRIPTION:
        reason = ["is too long (maximum is 255 characters)"]
        return 400, {"message": {"description": reason}}, {}
    if not str(body.get("target_url", "https://x")).startswith(("http://", "https://")):
        reason = ["is blocked: Only allowed schemes are http, https"]
        return 400, {"message": {"target_url": reason}}, {}
    pipeline = body.get("pipeline_id")
    if pipeline is None:
        known = [id_ for id_, commit in lab.pipelines.items() if commit == sha]
        pipeline = max(known, default=0) or lab.new_id() + 9_000
        lab.pipelines[pipeline] = sha
    elif lab.pipelines.get(pipeline) != sha:
        return 404, {"message": "404 Pipeline for pipeline_id, sha and ref Not Found"}, {}
    name = body.get("name") or body.get("context") or "default"
    current = next(
        (
            s
            for s in reversed(lab.statuses)
            if (s["name"], s["pipeline_id"]) == (name, pipeline)
            and s["status"] in {"pending", "running"}
        ),
        None,
    )
    state = body["state"]
    if current is not None and state in {"pending", current["status"]}:
        event = {"pending": "enqueue", "running": "run"}.get(state, _EVENTS.get(state, ""))
        why = (
            f"Cannot transition status via :{event} from :{current['status']} "
            f'(Reason(s): Status cannot transition via "{event}")'
        )
        return 400, {"message": why}, {}
    if current is None:
        current = {"id": lab.new_id(), "sha": sha, "name": name, "pipeline_id": pipeline}
        lab.statuses.append(current)
    current |= {
        "status": state,
        "description": body.get("description"),
        "target_url": body.get("target_url"),
    }
    return 201, current, {}


def _refused_note(body: Any) -> _Answer | None:
    if not isinstance(body.get("body"), str):
        return 400, {"error": "body is missing"}, {}
    if not body["body"].strip():
        return 400, {"message": "400 Bad request - Note can't be blank"}, {}
    if len(body["body"]) > LONGEST_NOTE:
        return 400, {"message": {"note": ["is too long (maximum is 1000000 characters)"]}}, {}
    return None
