"""Leaves a mark wherever it can, and reports what it finds there: as a program, or with --serve as a service.

With --leaking it is a service with one memory for all conversations.
"""

import json
import os
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar


def call(config, tool, **arguments):
    server = config["mcpServers"]["bike-shop"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body["params"] = {"name": tool, "arguments": arguments}
    headers = {
        **server["headers"],
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    request = urllib.request.Request(server["url"], json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.read().decode()


def answer(turn, config, found):
    own = turn["text"].split()[2].rstrip(".")
    found = [*found, call(config, "get_bike", bike="b-1"), json.dumps(turn["history"])]
    call(config, "rent", bike="b-1", renter=own)
    if turn["turn"] > 1:
        found = [text.replace(own, "(own)") for text in found]
    return own, "I found: " + " ".join(found)


def main():
    config = json.loads(Path(os.environ["SEATRIAL_MCP_CONFIG"]).read_text(encoding="utf-8"))
    for line in sys.stdin:
        turn = json.loads(line)
        folders = [Path(os.environ[name]) for name in ("HOME", "TMPDIR")]
        found = [file.read_text() for folder in folders for file in folder.iterdir()]
        own, text = answer(turn, config, [*found, os.environ["SEATRIAL_SETTINGS"]])
        for folder in folders:
            (folder / own).write_text(own)
        print(json.dumps({"type": "reply", "text": text}), flush=True)


class Service(BaseHTTPRequestHandler):
    memory: ClassVar[dict[str, list[str]]] = {}

    def do_POST(self):
        turn = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        conversation = "of everybody" if "--leaking" in sys.argv else turn["conversation"]
        own, text = answer(
            turn,
            turn["mcp"],
            [*self.memory.get(conversation, []), json.dumps(turn["settings"])],
        )
        self.memory.setdefault(conversation, []).append(own)
        body = json.dumps({"text": text}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    if {"--serve", "--leaking"} & set(sys.argv):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
        print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
        server.serve_forever()
    main()
