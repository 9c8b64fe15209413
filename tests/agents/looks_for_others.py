"""Leaves a mark wherever a process can, and reports what it finds there."""

import json
import os
import sys
import urllib.request
from pathlib import Path


def call(tool, **arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body["params"] = {"name": tool, "arguments": arguments}
    request = urllib.request.Request(
        os.environ["SEATRIAL_MCP_BIKE_SHOP_URL"],
        json.dumps(body).encode(),
        {
            "Authorization": f"Bearer {os.environ['SEATRIAL_MCP_TOKEN']}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.read().decode()


for turns, line in enumerate(sys.stdin):
    turn = json.loads(line)
    own = turn["text"].split()[2].rstrip(".")
    found = [call("get_bike", bike="b-1"), os.environ["SEATRIAL_SETTINGS"]]
    for name in ("HOME", "TMPDIR"):
        folder = Path(os.environ[name])
        found += [file.read_text() for file in folder.iterdir()]
        (folder / own).write_text(own)
    call("rent", bike="b-1", renter=own)
    if turns:
        found = [text.replace(own, "(own)") for text in found]
    print(json.dumps({"type": "reply", "text": "I found: " + " ".join(found)}), flush=True)
