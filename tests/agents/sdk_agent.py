"""An agent that is a tool of an MCP server, written with the official SDK."""

import importlib
import uuid
from typing import Any

sdk: Any = importlib.import_module("mcp.server")
if not hasattr(sdk, "MCPServer"):  # mcp 1.x
    sdk.MCPServer = importlib.import_module("mcp.server.fastmcp").FastMCP


def build() -> Any:
    """The server, with a memory of its own."""
    server = sdk.MCPServer("agent")
    threads: dict[str, list[str]] = {}

    @server.tool()
    def ask(text: str, thread: str | None = None, tone: str = "") -> dict[str, Any]:
        """Ask the agent."""
        thread = thread or uuid.uuid4().hex
        threads.setdefault(thread, []).append(text)
        return {"answer": f"{tone}: {' '.join(threads[thread])}", "thread": thread}

    return server


if __name__ == "__main__":
    build().run(transport="stdio")
