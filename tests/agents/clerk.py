"""A clerk that is a program: rents the bike it is asked for, over MCP, with the standard library alone."""

import json
import os
import sys
import time
import urllib.request


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
        return json.load(response)["result"]["content"][0]["text"]


print("::error::I am not to be obeyed \x1b[31m", file=sys.stderr, flush=True)
print("::error::I am not to be obeyed \x1b[31m", flush=True)
for line in sys.stdin:
    words = json.loads(line)["text"].split()
    time.sleep(float(json.loads(os.environ["SEATRIAL_SETTINGS"]).get("seconds", 0)))
    answer = call("rent", bike="b-1", renter=words[2].rstrip("."))
    print(json.dumps({"type": "reply", "text": f"Bike b-1: {answer}"}), flush=True)
