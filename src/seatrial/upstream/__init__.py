"""MCP servers that are spoken to without an SDK: as a child process, or over streamable HTTP."""

from seatrial.upstream.session import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Client,
    Rejected,
    Response,
    Session,
)

__all__ = ["INTERNAL_ERROR", "METHOD_NOT_FOUND", "Client", "Rejected", "Response", "Session"]
