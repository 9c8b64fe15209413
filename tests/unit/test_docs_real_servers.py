"""The documents in the how-to on real MCP servers are right, and say what the page says of them."""

import re
from pathlib import Path

from tests import harbour

from seatrial.documents import Server
from seatrial.loading import load

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "put-a-real-mcp-server-behind-it.md"
_BLOCK = re.compile(r"```yaml\n# (\S+)\n(.*?)```", re.DOTALL)


def test_the_documents_of_the_page_load_beside_a_world():
    blocks = dict(_BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    catalog = load(harbour.contents(blocks))
    servers = [f for f in catalog.fixtures.values() if isinstance(f, Server)]

    assert {server.id for server in servers} == {"files", "tickets", "assistant"}
    tickets = catalog.servers(catalog.cases["close-the-ticket"], catalog.arms["released"])
    assert [server.id for server in tickets] == ["tickets"]
    assert tickets[0].mocks_refused("test") is None
    assert tickets[0].mocks_refused("production")
