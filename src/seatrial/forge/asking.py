"""Requests to a forge's API: bounded, asked again where that helps, and told in a sentence where it does not.

GitHub's limits: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
and best-practices-for-using-the-rest-api: a refusal for asking too much has status 403 or 429; `retry-after` is
honoured, else `x-ratelimit-reset` where nothing remains, else a minute is waited.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx

from seatrial.chat.pace import backoff, retry_after
from seatrial.errors import ForgeError, printable

PATIENCE_SECONDS = 150.0
"""So long is waited altogether, in one command."""
ATTEMPTS = 4
"""So often a request is made at most."""
PAGE = 100
"""Items of a page: the most that GitHub gives."""
_PAGES = 100
_TIMEOUT_SECONDS = 20.0
_MOST_BYTES = 32_000_000
_MINUTE = 60.0
_SHOWN = 300
_BROKEN = frozenset({408, 409, 425, 500, 502, 503, 504})
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Reply:
    """A good answer."""

    value: Any
    """Its JSON; None where it has no content."""
    more: bool
    """There is another page."""


class Api:
    """An API and the right to use it."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        fault: ForgeError | None = None,
        patience: float = PATIENCE_SECONDS,
        hints: Mapping[int, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Say where and as whom.

        Args:
            url: the address that paths are put behind.
            headers: of every request; the token is one of them.
            fault: why no request can be made, if that is known: what each of them comes to.
            patience: seconds that all requests together may wait to be made again.
            hints: status → what to do about such a refusal; GitHub's when left out.
            sleep: waits so many seconds.
            clock: the time, in seconds since 1970: limits are told as one.
        """
        self.host, wrong = _host(url)
        self._fault = fault or wrong
        self._left = patience
        self._hints = _HINTS if hints is None else hints
        self._sleep = sleep
        self._clock = clock
        self._client = httpx.Client(
            base_url="https://unusable.invalid" if self._fault else url.rstrip("/"),
            headers={} if self._fault else dict(headers),
            timeout=_TIMEOUT_SECONDS,
            transport=httpx.HTTPTransport(retries=1, verify=_authorities()),
        )

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        again: bool = True,
        redirected: bool = False,
    ) -> Reply:
        """Make a request.

        Args:
            method: its verb.
            path: behind the API's address.
            body: its JSON.
            query: behind the path.
            again: make it again where it came to nothing by itself; not for what must not be done twice,
                which a lost answer may hide. A refusal for asking too much did nothing, and is waited for in any case.
            redirected: the good answer is the address of something else, which becomes the reply's value.

        Raises:
            ForgeError: there is no good answer.
        """
        if self._fault is not None:
            raise self._fault
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(method, path, body, query, redirected)
            except _Busy as refusal:
                if attempt == ATTEMPTS or not self.wait(refusal.seconds):
                    raise refusal.error from None
            except ForgeError as error:
                if not (again and error.passing) or attempt == ATTEMPTS:
                    raise
                if not self.wait(backoff(attempt)):
                    raise

    def download(self, path: str, most: int) -> bytes:
        """What an API's answer sends one on to: an archive that lies elsewhere, where the token has no business.

        Args:
            path: behind the API's address.
            most: bytes that it may have.

        Raises:
            ForgeError: it is not to be had, or is larger.
        """
        where = self.ask("GET", path, redirected=True).value
        _, wrong = _host(where)
        if wrong is not None:
            raise wrong
        try:
            with (
                httpx.Client(timeout=_TIMEOUT_SECONDS, verify=_authorities()) as client,
                client.stream("GET", where) as response,
            ):
                if response.status_code != 200:
                    raise ForgeError(
                        f"{self.host} sent on to an archive that is not there "
                        f"({response.status_code}): GET {path}",
                        status=response.status_code,
                    )
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > most:
                        raise ForgeError(f"GET {path} gives more than {most:,} bytes")
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, UnicodeError) as error:
            why = printable(str(error) or type(error).__name__)
            raise ForgeError(f"no answer where {self.host} sent on to: {why}") from error
        return bytes(data)

    def pages(self, path: str, **query: str) -> Iterator[Any]:
        """The items of a list, page by page.

        Raises:
            ForgeError: a page cannot be had, or there are more than are read.
        """
        for page in range(1, _PAGES + 1):
            reply = self.ask("GET", path, query={**query, "per_page": PAGE, "page": page})
            if not isinstance(reply.value, list):
                raise ForgeError(f"{self.host} answered with what is no list: GET {path}")
            yield from reply.value
            if not reply.more:
                return
        raise ForgeError(f"GET {path} has more than {_PAGES * PAGE:,} items; no more are read")

    def wait(self, seconds: float) -> bool:
        """Wait, if there is so much patience left."""
        if seconds > self._left:
            return False
        self._left -= seconds
        self._sleep(seconds)
        return True

    def _once(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, Any] | None,
        redirected: bool,
    ) -> Reply:
        try:
            with self._client.stream(method, path, json=body, params=query) as response:
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > _MOST_BYTES:
                        raise ForgeError(
                            f"{self.host} answered with more than {_MOST_BYTES:,} bytes"
                        )
        except (httpx.HTTPError, httpx.StreamError) as error:
            why = printable(str(error) or type(error).__name__)
            raise ForgeError(f"no answer from {self.host}: {why}", passing=True) from error
        except (httpx.InvalidURL, UnicodeError) as error:
            raise ForgeError(f"{self.host} is no address: {printable(str(error))}") from error
        if redirected and response.status_code in {302, 307}:
            return Reply(response.headers.get("location", ""), False)
        if 200 <= response.status_code < 300 and not redirected:
            value = self._json(bytes(data)) if response.status_code != 204 else None
            return Reply(value, "next" in response.links)
        refused = self._refused(method, path, response, bytes(data))
        seconds = self._busy(response, refused.message)
        if seconds is not None:
            refused.limited = True
            raise _Busy(refused, seconds)
        raise refused

    def _json(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            # What was asked for may have been done: not to be asked again.
            raise ForgeError(f"{self.host} answered with what is no JSON") from error

    def _refused(self, method: str, path: str, response: httpx.Response, data: bytes) -> ForgeError:
        status = response.status_code
        return ForgeError(
            f"{self.host} answered {status} to {method} {path}: {_said(data)}",
            hint=self._hints.get(status, ""),
            status=status,
            passing=status in _BROKEN,
        )

    def _busy(self, response: httpx.Response, said: str) -> float | None:
        """Seconds to wait, where the forge says that it is asked too much; None where it says something else."""
        if response.status_code not in {403, 429}:
            return None
        asked = retry_after(response.headers)
        if asked is not None:
            return asked
        # GitLab calls them the same without `x-`.
        remaining, reset = (
            response.headers.get(f"x-ratelimit-{what}")
            or response.headers.get(f"ratelimit-{what}", "")
            for what in ("remaining", "reset")
        )
        if remaining == "0":
            return max(0.0, int(reset) - self._clock()) if reset.isdecimal() else _MINUTE
        return _MINUTE if response.status_code == 429 or "rate limit" in said.lower() else None


@cache
def _authorities() -> ssl.SSLContext:
    """Who is believed; reading them takes longer than a request to this machine."""
    return httpx.create_ssl_context()


def _host(url: str) -> tuple[str, ForgeError | None]:
    """The host of an address, and why a token may not be sent there, if it may not."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url, ForgeError(f"{url!r} is no address of an API")
    if host and (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)):
        return f"{host}:{port}" if port else host, None
    return host, ForgeError(
        f"{url!r} is no address that a token may be sent to: it does not begin with https://"
    )


class _Busy(Exception):
    def __init__(self, error: ForgeError, seconds: float) -> None:
        super().__init__(error.message)
        self.error = error
        self.seconds = seconds


_HINTS = {
    401: "the token is wrong, has expired, or belongs to another server",
    403: "give the job `permissions:` with `statuses: write` and `pull-requests: write`",
    404: "the commit or the pull request is not there, or the token may not see the repository",
}


def _said(data: bytes) -> str:
    """The message in a refusal, with the single mistakes that it names."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        text = data.decode("utf-8", "replace")
    else:
        parts = [
            *_messages(value.get("message")),
            value.get("error"),
            *_mistakes(value.get("errors")),
        ]
        text = ": ".join(part for part in parts if isinstance(part, str) and part)
    text = printable(" ".join(text[: 4 * _SHOWN].split()))
    return (text if len(text) <= _SHOWN else text[:_SHOWN] + "…") or "nothing more"


def _messages(message: Any) -> Iterator[str]:
    """A message, or as GitLab writes it of single fields: `{"body": ["is too long"]}`."""
    if isinstance(message, dict):
        for name, reasons in message.items():
            for reason in reasons if isinstance(reasons, list) else [reasons]:
                yield f"{name} {reason}"
    elif isinstance(message, str):
        yield message


def _mistakes(errors: Any) -> Iterator[str]:
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, str):
            yield error
        elif isinstance(error, dict):
            yield str(error.get("message") or f"{error.get('field')} {error.get('code')}")
