"""Answers each turn with what it was given: the turn, its environment, its folder."""

import json
import os
import sys
from pathlib import Path

for line in sys.stdin:
    turn = json.loads(line)
    given = {
        "turn": turn,
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "config": json.loads(Path(os.environ["SEATRIAL_MCP_CONFIG"]).read_text(encoding="utf-8")),
        "config_mode": oct(Path(os.environ["SEATRIAL_MCP_CONFIG"]).stat().st_mode & 0o777),
        "session": os.getsid(0) == os.getpid(),
    }
    usage = {"input_tokens": 7, "output_tokens": 2, "cost": 0.5, "reasoning": 1}
    usage |= {"cached_input_tokens": 5, "reasoning_tokens": 1}
    reply = {"type": "reply", "text": json.dumps(given), "usage": usage, "model": "m-1"}
    print(json.dumps(reply), flush=True)
