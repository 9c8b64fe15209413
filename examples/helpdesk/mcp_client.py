"""A small MCP client over streamable HTTP, with the standard library alone.

It speaks the handshake era of the protocol and plain JSON answers, which is all this agent needs.
"""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit


class ToolError(Exception):
    """The tool answered with an error; the text is meant for the agent."""


class McpClient:
    def __init__(self, url: str, headers: dict[str, str]) -> None:
        parts = urlsplit(url)
        self._path = parts.path
        self._headers = {
            **headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._http = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        self._id = 0
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "helpdesk-agent", "version": "1"},
        }
        answer = self._request("initialize", hello)
        self._headers["MCP-Protocol-Version"] = answer["protocolVersion"]
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self._request("tools/list", {})["tools"]}

    def call(self, name: str, **arguments: object) -> dict:
        result = self._request("tools/call", {"name": name, "arguments": arguments})
        text = "\n".join(p["text"] for p in result["content"] if p["type"] == "text")
        if result.get("isError"):
            raise ToolError(text)
        return result.get("structuredContent") or json.loads(text)

    def _request(self, method: str, params: dict) -> dict:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        answer = json.loads(self._post(message))
        if "error" in answer:
            raise ToolError(answer["error"]["message"])
        return answer["result"]

    def _post(self, message: dict) -> bytes:
        self._http.request("POST", self._path, json.dumps(message), self._headers)
        response = self._http.getresponse()
        session = response.getheader("Mcp-Session-Id")
        if session:
            self._headers["Mcp-Session-Id"] = session
        body = response.read()
        if response.status >= 400:
            raise ConnectionError(f"the tool server answered {response.status}: {body[:200]!r}")
        return body
