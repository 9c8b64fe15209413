"""Where the endpoint of a trial's tools is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Misdirected(Exception):
    """There is no address, or it is none."""


def address(environ: Mapping[str, str], url: str | None = None, server: str | None = None) -> str:
    """The endpoint to connect to.

    Args:
        environ: where `SEATRIAL_MCP_URL` and its like are looked up.
        url: an endpoint (`…/mcp`), or the base of a trial's addresses; the environment's when None.
        server: the name of the MCP server; needed where there are several.

    Raises:
        Misdirected: none is given, or it is not an address of this machine.
    """
    given = url or environ.get("SEATRIAL_MCP_URL", "")
    if not given:
        raise Misdirected("no address: set SEATRIAL_MCP_URL, or say --url")
    try:
        parts = urlsplit(given)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise Misdirected(f"{given!r} is no address: {error}") from None
    if parts.scheme != "http" or host not in _LOOPBACK:
        raise Misdirected(f"{given!r} is no http address of this machine (http://127.0.0.1:PORT/…)")
    base = given.rstrip("/")
    if base.endswith("/mcp") and server is None:
        return base
    if server is not None:
        return f"{base}/{quote(server, safe='')}/mcp"
    own = sorted(
        address
        for name, address in environ.items()
        if re.fullmatch("SEATRIAL_MCP_.+_URL", name) and address.startswith(f"{base}/")
    )
    if len(own) == 1:
        return own[0]
    names = ", ".join(address.split("/")[-2] for address in own)
    raise Misdirected(
        "which server? say --server NAME"
        + (f", one of {names}" if names else f" ({base} is a base)")
    )
