"""A tool in MCP's words."""

from seatrial.tools import Tool

ARGUMENTS = {"type": "object", "properties": {}}


def test_a_tool_that_declares_nothing_has_no_annotations():
    tool = Tool(name="look", description="Look.", input_schema=ARGUMENTS)

    assert tool.as_mcp() == {"name": "look", "description": "Look.", "inputSchema": ARGUMENTS}


def test_hints_are_written_out_because_a_missing_hint_means_destructive_to_a_client():
    tool = Tool(
        name="look",
        title="Look around",
        description="Look.",
        input_schema=ARGUMENTS,
        output_schema={"type": "object"},
        read_only=True,
        destructive=False,
    )

    assert tool.as_mcp() == {
        "name": "look",
        "title": "Look around",
        "description": "Look.",
        "inputSchema": ARGUMENTS,
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
    }
