"""A small order service on loopback, with a tenant per path prefix; prints its port. Faults on request."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

START = {
    "A-1": {"id": "A-1", "state": "open", "total": 20},
    "A-2": {"id": "A-2", "state": "sent", "total": 5},
}
TENANTS: dict[str, dict[str, Any]] = {}
LEAKY = "leaky" in sys.argv


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value=None, kind="application/json", raw=None, **headers):
        body = raw if raw is not None else b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "session=of-another-trial")
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def handle_one(self):
        path, _, query = self.path.partition("?")
        parts = path.strip("/").split("/")
        tenant = ""
        if parts[0] == "t":
            tenant, parts = parts[1], parts[2:]
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        orders = TENANTS.setdefault(tenant, {})
        match self.command, parts:
            case "POST", ["reset"]:
                if not (LEAKY and orders):
                    TENANTS[tenant] = {key: dict(order) for key, order in START.items()}
                self.answer(200, {})
            case "GET", ["orders"]:
                self.answer(200, {"items": list(orders.values()), "by_id": orders})
            case "GET", ["orders", key] if key in orders:
                self.answer(200, orders[key])
            case "POST", ["orders"]:
                key = f"N-{len(orders)}"
                orders[key] = {"id": key, "state": "open", **(body or {})}
                self.answer(201, orders[key])
            case "DELETE", ["orders", key] if key in orders:
                del orders[key]
                self.answer(204)
            case _, ["orders", key]:
                self.answer(404, {"error": f"no order {key}"})
            case _, ["echo", *_]:
                seen = {
                    "path": self.path.partition("/echo")[2],
                    "query": query,
                    "body": body,
                    "key": self.headers.get("X-Key"),
                    "cookie": self.headers.get("Cookie"),
                }
                self.answer(200, seen)
            case _, ["status", status]:
                self.answer(int(status), {"error": "as asked"}, Location="/orders")
            case _, ["garbage"]:
                self.answer(200, raw=b"{not json")
            case _, ["half"]:
                self.answer(200, raw=b'{"text": "\\ud800"}')
            case _, ["not-a-number"]:
                self.answer(200, raw=b'{"n": NaN}')
            case _, ["page"]:
                self.answer(200, raw="<p>Grüße</p>".encode(), kind="text/html; charset=utf-8")
            case _, ["picture"]:
                self.answer(200, raw=b"\x89PNG", kind="image/png")
            case _, ["slow"]:
                time.sleep(5)
                self.answer(200, {})
            case _, ["endless"]:
                self.send_response(200)
                self.end_headers()
                try:
                    while True:
                        self.wfile.write(b"x" * 1_000_000)
                except OSError:
                    self.close_connection = True
            case _, ["hang-up"]:
                self.close_connection = True
            case _:
                self.answer(404, {"error": "no such thing"})

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = handle_one

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
