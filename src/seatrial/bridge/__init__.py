"""A stdio MCP server that is nothing but a wire to a trial's endpoint, for agents that only speak stdio.

`seatrial gateway connect` runs it, and so does `PROGRAM` with address and token in the environment, which is
what config files name: it needs the standard library alone, because an agent waits for it to start.

Every message goes on as it came, in any version of the protocol. What HTTP knows beside the body is
added here: the session and the negotiated version of the first era (a handshake), and the headers that
repeat version, method, name and some arguments in the second (from 2026-07-28). A call that is given up in the
second era ends with its connection, as over HTTP. An answer that is no message (an HTML page, half a body, a
dropped connection) becomes a JSON-RPC error of the request it belongs to: on stdout there is nothing but
the protocol, and no request is left without an answer.
"""

import os
import sys
from collections.abc import Mapping

from seatrial.bridge.addresses import Misdirected, address
from seatrial.bridge.carrying import WRONG, Bridge, tell

PROGRAM = (sys.executable, "-I", os.path.dirname(os.path.abspath(__file__)))
"""The program that config files name, with its arguments; it runs wherever Seatrial lies."""

__all__ = ["PROGRAM", "Bridge", "Misdirected", "address", "main"]


def main(environ: Mapping[str, str]) -> int:
    """Bridge this process's pipes to the endpoint that the environment names; the exit code."""
    try:
        url = address(environ)
    except Misdirected as error:
        tell(str(error))
        return WRONG
    return Bridge(url, environ.get("SEATRIAL_MCP_TOKEN", "")).run()
