"""Arguments that calls of the second era repeat in headers."""

import base64
from typing import Any

import pytest

from seatrial.gateway.jsonrpc import RpcError
from seatrial.gateway.mirrored import check, marked

SCHEMA = {
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "size": {"type": "integer", "x-mcp-header": "Size"},
        "fast": {"type": "boolean", "x-mcp-header": "Fast"},
        "where": {"properties": {"city": {"type": "string", "x-mcp-header": "City"}}},
        "plain": {"type": "string"},
    }
}


def encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def headers(**sent: str) -> dict[str, str]:
    return {f"mcp-param-{name}": value for name, value in sent.items()}


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({}, {}),
        ({"region": None, "plain": "x"}, {}),
        ({"region": "north"}, {}),
        ({"region": "north", "size": 4, "fast": True}, headers(region="north", size="4", fast="true")),
        ({"size": 42.0}, headers(size="42")),
        ({"size": 42}, headers(size="42.0")),
        ({"region": "Käfer"}, {"mcp-param-region": encoded("Käfer")}),
        ({"where": {"city": "Brest"}}, headers(city="Brest")),
        ({"region": ["no", "text"]}, {}),
        ({"size": 10**5000}, {}),
    ],
)  # fmt: skip
def test_a_call_that_says_the_same_twice_is_right(arguments: Any, sent: dict[str, str]):
    check(marked(SCHEMA), arguments, sent)


@pytest.mark.parametrize(
    ("arguments", "sent", "name"),
    [
        ({"region": "north"}, headers(region="south"), "Region"),
        ({}, headers(region="north"), "Region"),
        ({"region": "north"}, headers(region="north, north"), "Region"),
        ({"region": "Käfer"}, {"mcp-param-region": "=?base64?!?="}, "Region"),
        ({"size": 4}, headers(size="5"), "Size"),
        ({"size": 4}, headers(size="4.5"), "Size"),
        ({"fast": True}, headers(fast="True"), "Fast"),
        ({"where": "Brest"}, headers(city="Brest"), "City"),
        ([], headers(city="Brest"), "City"),
    ],
)
def test_a_call_that_contradicts_itself_is_refused(arguments: Any, sent: dict[str, str], name: str):
    with pytest.raises(RpcError, match=f"The Mcp-Param-{name} header differs") as refused:
        check(marked(SCHEMA), arguments, sent)
    assert refused.value.code == -32020


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "string", "x-mcp-header": "not a token"}},
        {"a": {"type": "string", "x-mcp-header": ""}},
        {"a": {"type": "array", "x-mcp-header": "A"}},
        {"a": {"x-mcp-header": "A"}},
        {"a": {"type": "string", "x-mcp-header": 1}},
        {
            "a": {"type": "string", "x-mcp-header": "Same"},
            "b": {"type": "string", "x-mcp-header": "same"},
        },
    ],
)
def test_marks_that_are_not_as_they_should_be_hold_nobody_up(properties: Any):
    assert marked({"properties": properties}) == ()
