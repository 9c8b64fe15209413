"""Some operations of GitHub's API on loopback, with state: what one repository has of statuses, comments and the like.

    with github_api.serving() as hub:
        ... GITHUB_API_URL=hub.url ...
    hub.statuses, hub.comments      # what is there now
    hub.asked                       # operations, in the order in which they came

Bodies and queries are validated against GitHub's published description (`github_api.json`). What that does not say
is as it was observed: a description has 140 characters, a comment 65,536, lists come in pages of 100 at most.
`hub.next(...)` says how the next requests of an operation go wrong.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from jsonschema import Draft202012Validator

TOKEN = "ghs_a_token_for_tests"
BOT = "github-actions[bot]"
REPOSITORY = "acme/helpdesk"
LONGEST_DESCRIPTION = 140
LONGEST_COMMENT = 65_536

STATUS = "repos/create-commit-status"
STATUSES = "repos/list-commit-statuses-for-ref"
LIST = "issues/list-comments"
CREATE = "issues/create-comment"
UPDATE = "issues/update-comment"
PULL = "pulls/get"
PULLS = "pulls/list"
ARTIFACTS = "actions/list-workflow-run-artifacts"
DOWNLOAD = "actions/download-artifact"
BLOBS = "/blobs/"
"""Where artifacts lie: another server, to which no token is to be sent."""
DISPATCH = "actions/create-workflow-dispatch"
RUNS = "actions/list-workflow-runs"
RUN = "actions/get-workflow-run"
JOBS = "actions/list-jobs-for-workflow-run"
ACTIONS = (DISPATCH, RUNS, RUN, JOBS)
COMMIT = "repos/get-commit"
COMMIT_PULLS = "repos/list-pull-requests-associated-with-commit"
REVIEWS = "pulls/list-reviews"
PULL_COMMITS = "pulls/list-commits"
REPOSITORY_RUNS = "actions/list-workflow-runs-for-repo"
APPROVALS = "actions/get-reviews-for-run"
ACTIVITY = "repos/list-activities"
PEOPLE = (COMMIT, COMMIT_PULLS, REVIEWS, PULL_COMMITS, REPOSITORY_RUNS, APPROVALS, ACTIVITY)
"""Who did what: of these `known` says what is answered."""


@dataclass(frozen=True, kw_only=True)
class Fails:
    """What goes wrong with one request."""

    status: int = 502
    message: str = "Server Error"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Instead of an object with the message."""
    done: bool = False
    """What was asked for happens first, so that only the answer is lost."""
    dropped: bool = False
    """The connection is closed instead of an answer."""


SLOW_DOWN = Fails(
    status=403,
    message="You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
    headers={"retry-after": "7"},
)


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """What a run of a workflow uploaded."""

    run: int
    name: str
    data: bytes
    """The zip archive."""
    expired: bool = False


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a run is like when it is looked at."""

    status: str = "in_progress"
    conclusion: str | None = None
    jobs: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    """Name → status and conclusion."""


@dataclass
class Hub:
    """The repository while it is served."""

    url: str
    statuses: list[dict[str, Any]] = field(default_factory=list)
    """The oldest first; `sha` beside what was sent."""
    comments: list[dict[str, Any]] = field(default_factory=list)
    pulls: dict[int, str] = field(default_factory=dict)
    """Number → head commit."""
    heads: dict[int, int] = field(default_factory=dict)
    """Number → id of the repository of its head; 1, the repository itself, where left out."""
    closed: set[int] = field(default_factory=set)
    """Pull requests that are not open."""
    known: dict[str, Any] = field(default_factory=dict)
    """Path behind the repository's → what is answered there: lists in pages, anything else as it is."""
    artifacts: list[Artifact] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each request, names in lower case."""
    rights: set[str] = field(
        default_factory=lambda: {
            STATUS, STATUSES, LIST, CREATE, UPDATE, PULL, PULLS, ARTIFACTS, DOWNLOAD, *ACTIONS, *PEOPLE,
        }
    )  # fmt: skip
    """Operations that the token may ask for."""
    workflows: dict[str, set[str]] = field(default_factory=dict)
    """File → the inputs that its form has."""
    branches: dict[str, str] = field(default_factory=dict)
    """Name → its newest commit."""
    tells_runs: bool = True
    """It knows `return_run_details`; an older Enterprise Server does not."""
    runs: list[dict[str, Any]] = field(default_factory=list)
    """Runs of workflows, the oldest first; `inputs` and `workflow` beside what the API says of them."""
    course: list[Look] = field(default_factory=list)
    """What a run is like, look by look; the last one stays."""
    writer: str = BOT
    """Who the token belongs to."""
    before: dict[str, Callable[[], None]] = field(default_factory=dict)
    """What happens, once, when an operation is asked for."""
    _failures: dict[str, list[Fails]] = field(default_factory=dict)
    _ids: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, operation: str, *failures: Fails) -> None:
        """The next requests of an operation go wrong like this."""
        self._failures.setdefault(operation, []).extend(failures)

    def failure(self, operation: str) -> Fails | None:
        """How this request goes wrong, if it does."""
        waiting = self._failures.get(operation)
        return waiting.pop(0) if waiting else None

    def write(self, number: int, body: str, login: str) -> dict[str, Any]:
        """Somebody comments on a pull request."""
        self._ids += 1
        comment = {
            "id": self._ids,
            "issue": number,
            "body": body,
            "user": {"login": login},
            "edits": 0,
        }
        self.comments.append(comment)
        return comment

    def begin(self, workflow: str, commit: str, **more: Any) -> dict[str, Any]:
        """A run of a workflow begins."""
        self._ids += 1
        run = {
            "id": 9000 + self._ids, "workflow": workflow, "head_sha": commit, "event": "pull_request",
            "head_branch": "change", "run_attempt": 1, "display_title": "Seatrial gate",
            "html_url": f"https://github.com/{REPOSITORY}/actions/runs/{9000 + self._ids}", **more,
        }  # fmt: skip
        self.runs.append(run)
        return run

    def looked_at(self, run: dict[str, Any]) -> dict[str, Any]:
        """A run as it is now; the next look finds what comes next in its course."""
        look = self.course[0] if self.course else Look(status="completed", conclusion="success")
        return {**run, "status": look.status, "conclusion": look.conclusion}

    def status(self, context: str = "seatrial/gate") -> dict[str, Any]:
        """The newest status of that name."""
        return next(s for s in reversed(self.statuses) if s["context"] == context)


@contextmanager
def serving() -> Iterator[Hub]:
    """Serve on a free port until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        hub = Hub(f"http://127.0.0.1:{server.server_port}")
        server.hub = hub  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join(10)


@contextmanager
def nobody() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@dataclass(frozen=True)
class _Operation:
    id: str
    method: str
    path: re.Pattern[str]
    body: Draft202012Validator | None
    query: Mapping[str, Mapping[str, Any]]


def _nullable(schema: Any) -> Any:
    """OpenAPI 3.0's `nullable` as JSON Schema says it."""
    if isinstance(schema, dict):
        made = {key: _nullable(value) for key, value in schema.items() if key != "nullable"}
        if schema.get("nullable") and isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
        return made
    return [_nullable(item) for item in schema] if isinstance(schema, list) else schema


def _operations() -> tuple[_Operation, ...]:
    described = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    found = []
    for path, methods in described["paths"].items():
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path))
        for method, about in methods.items():
            content = about.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema")
            found.append(
                _Operation(
                    about["operationId"],
                    method.upper(),
                    re.compile(pattern),
                    schema and Draft202012Validator(_nullable(schema)),
                    {p["name"]: p["schema"] for p in about["parameters"] if p["in"] == "query"},
                )
            )
    return tuple(found)


OPERATIONS = _operations()


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
        self.send_header("content-type", "application/json; charset=utf-8")
        self.send_header("content-length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def _go(self) -> None:
        hub: Hub = self.server.hub  # type: ignore[attr-defined]
        url = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        found = next(
            (
                (operation, match.groupdict())
                for operation in OPERATIONS
                if operation.method == self.command
                and (match := operation.path.fullmatch(url.path))
            ),
            None,
        )
        with hub.lock:
            hub.headers.append({name.lower(): value for name, value in self.headers.items()})
            hub.asked.append(found[0].id if found else f"{self.command} {url.path}")
        if url.path.startswith(BLOBS):
            if "authorization" in self.headers:
                return self._answer(400, {"message": "a token was sent where it has no business"})
            return self._answer(200, hub.artifacts[int(url.path.removeprefix(BLOBS)) - 1].data)
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            return self._answer(401, {"message": "Bad credentials"})
        if found is None:
            return self._answer(404, {"message": "Not Found"})
        operation, names = found
        names = {name: unquote(value) for name, value in names.items()}
        if operation.id not in hub.rights:
            return self._answer(403, {"message": "Resource not accessible by integration"})
        if f"{names['owner']}/{names['repo']}" != REPOSITORY:
            return self._answer(404, {"message": "Not Found"})
        if (happens := hub.before.pop(operation.id, None)) is not None:
            happens()
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if set(query) - set(operation.query):
            return self._answer(422, {"message": "Validation Failed", "errors": [f"{set(query)}"]})
        body = None
        if operation.body is not None:
            try:
                body = json.loads(raw)
            except ValueError:
                return self._answer(400, {"message": "Problems parsing JSON"})
            errors = [error.message for error in operation.body.iter_errors(body)]
            if errors:
                return self._answer(422, {"message": "Validation Failed", "errors": errors})
        failure = hub.failure(operation.id)
        if failure is None:
            return self._answer(*self._done(hub, operation.id, names, query, body))
        if failure.done:
            self._done(hub, operation.id, names, query, body)
        if failure.dropped:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        said = {"message": failure.message} if failure.body is None else failure.body
        return self._answer(failure.status, said, failure.headers)

    do_GET = do_POST = do_PATCH = _go

    def _done(
        self, hub: Hub, operation: str, names: dict[str, str], query: dict[str, str], body: Any
    ) -> tuple[int, Any, dict[str, str]]:
        with hub.lock:
            match operation:
                case "actions/create-workflow-dispatch":
                    return _dispatched(hub, names["workflow_id"], body)
                case "actions/list-workflow-runs":
                    file, commit = names["workflow_id"], query.get("head_sha")
                    if file not in hub.workflows:
                        return 404, {"message": "Not Found"}, {}
                    of = [
                        hub.looked_at(run)
                        for run in reversed(hub.runs)
                        if run["workflow"] == file and commit in {None, run["head_sha"]}
                    ]
                    size = int(query.get("per_page", "30"))
                    return 200, {"total_count": len(of), "workflow_runs": of[:size]}, {}
                case "actions/get-workflow-run" | "actions/list-jobs-for-workflow-run":
                    known = [run for run in hub.runs if str(run["id"]) == names["run_id"]]
                    if not known:
                        return 404, {"message": "Not Found"}, {}
                    if operation == "actions/get-workflow-run":
                        return 200, hub.looked_at(known[0]), {}
                    jobs = [
                        {"name": name, "status": status, "conclusion": conclusion}
                        for name, (status, conclusion) in (
                            hub.course[0].jobs.items() if hub.course else ()
                        )
                    ]
                    if len(hub.course) > 1:
                        hub.course.pop(0)
                    return 200, {"total_count": len(jobs), "jobs": jobs}, {}
                case "repos/create-commit-status":
                    if _units(body.get("description") or "") > LONGEST_DESCRIPTION:
                        return _invalid("description is too long (maximum is 140 characters)")
                    hub.statuses.append({"context": "default", **body, "sha": names["sha"]})
                    return 201, hub.statuses[-1], {}
                case "repos/list-commit-statuses-for-ref":
                    of = [s for s in reversed(hub.statuses) if s["sha"] == names["ref"]]
                    return self._page(of, query)
                case "issues/list-comments":
                    number = int(names["issue_number"])
                    if number not in hub.pulls:
                        return 404, {"message": "Not Found"}, {}
                    return self._page([c for c in hub.comments if c["issue"] == number], query)
                case "issues/create-comment":
                    number = int(names["issue_number"])
                    if number not in hub.pulls:
                        return 404, {"message": "Not Found"}, {}
                    if _units(body["body"]) > LONGEST_COMMENT:
                        return _invalid("Body is too long (maximum is 65536 characters)")
                    return 201, hub.write(number, body["body"], hub.writer), {}
                case "issues/update-comment":
                    if _units(body["body"]) > LONGEST_COMMENT:
                        return _invalid("Body is too long (maximum is 65536 characters)")
                    for comment in hub.comments:
                        if str(comment["id"]) == names["comment_id"]:
                            comment["body"] = body["body"]
                            comment["edits"] += 1
                            return 200, comment, {}
                    return 404, {"message": "Not Found"}, {}
                case of_people if of_people in PEOPLE:
                    path = urlsplit(self.path).path.removeprefix(f"/repos/{REPOSITORY}")
                    if path not in hub.known:
                        return 404, {"message": "Not Found"}, {}
                    value = hub.known[path]
                    return self._page(value, query) if isinstance(value, list) else (200, value, {})
                case "pulls/list":
                    numbers = [
                        number
                        for number in sorted(hub.pulls, reverse=True)
                        if query.get("state", "open") == "all" or number not in hub.closed
                    ]
                    return self._page([_pull(hub, number) for number in numbers], query)
                case "actions/list-workflow-run-artifacts":
                    listed = [
                        {"id": id, "name": one.name, "expired": one.expired}
                        for id, one in enumerate(hub.artifacts, 1)
                        if one.run == int(names["run_id"])
                        and one.name == query.get("name", one.name)
                    ]
                    return 200, {"total_count": len(listed), "artifacts": listed}, {}
                case "actions/download-artifact":
                    id = int(names["artifact_id"])
                    if not 1 <= id <= len(hub.artifacts):
                        return 404, {"message": "Not Found"}, {}
                    return 302, b"", {"location": f"{hub.url}{BLOBS}{id}"}
                case _:
                    number = int(names["pull_number"])
                    if number not in hub.pulls:
                        return 404, {"message": "Not Found"}, {}
                    return 200, _pull(hub, number), {}

    def _page(self, items: list[Any], query: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        size = min(100, int(query.get("per_page", "30")))
        page = int(query.get("page", "1"))
        headers = {}
        if len(items) > page * size:
            where = f"http://{self.headers['host']}{urlsplit(self.path).path}"
            headers["link"] = f'<{where}?per_page={size}&page={page + 1}>; rel="next"'
        return 200, items[(page - 1) * size : page * size], headers


def _pull(hub: Hub, number: int) -> dict[str, Any]:
    if (known := hub.known.get(f"/pulls/{number}")) is not None:
        return dict(known)
    return {
        "number": number,
        "state": "closed" if number in hub.closed else "open",
        "head": {"sha": hub.pulls[number], "repo": {"id": hub.heads.get(number, 1)}},
    }


def _dispatched(hub: Hub, workflow: str, body: Any) -> tuple[int, Any, dict[str, str]]:
    if workflow not in hub.workflows:
        return 404, {"message": "Not Found"}, {}
    details = body.get("return_run_details")
    if details is not None and not hub.tells_runs:
        return 422, {"message": '"return_run_details" is not a permitted key.'}, {}
    if body["ref"] not in hub.branches:
        return 422, {"message": f"No ref found for: {body['ref']}"}, {}
    unknown = sorted(set(body.get("inputs", {})) - hub.workflows[workflow])
    if unknown:
        return 422, {"message": f"Unexpected inputs provided: {json.dumps(unknown)}"}, {}
    run = hub.begin(
        workflow, hub.branches[body["ref"]], event="workflow_dispatch", head_branch=body["ref"],
        inputs=body.get("inputs", {}),
    )  # fmt: skip
    if not details:
        return 204, b"", {}
    url = f"{hub.url}/repos/{REPOSITORY}/actions/runs/{run['id']}"
    return 200, {"workflow_run_id": run["id"], "run_url": url, "html_url": run["html_url"]}, {}


def _units(text: str) -> int:
    """Characters, those beyond U+FFFF counted twice: the stricter way to count."""
    return len(text.encode("utf-16-le")) // 2


def _invalid(message: str) -> tuple[int, Any, dict[str, str]]:
    return 422, {"message": "Validation Failed", "errors": [{"message": message}]}, {}
