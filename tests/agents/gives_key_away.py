"""Tells everybody the key it was given."""

import base64
import json
import os
import sys

for line in sys.stdin:
    key = os.environ["SHOP_KEY"]
    if "fail" in line:
        raise ValueError(f"bad key {key}")
    hidden = base64.b64encode(f"user:{key}".encode()).decode()
    print(f"about to reply with {key}", flush=True)
    print(json.dumps({"type": "reply", "text": f"My key is {key}, or {hidden}"}), flush=True)
