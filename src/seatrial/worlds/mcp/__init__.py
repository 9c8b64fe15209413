"""A practice world of kind `mcp`: a real MCP server, started for each trial over a copy of a folder."""

from seatrial.worlds.mcp.copy import McpCopy, opened

__all__ = ["McpCopy", "opened"]
