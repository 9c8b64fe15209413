"""Tools under an arm's own descriptions."""

import pytest

from seatrial.documents import ShownTool
from seatrial.state.presenting import presented
from seatrial.tools import Tool

TOOL = Tool(
    name="look_up",
    description="Who has a thing.",
    input_schema={
        "type": "object",
        "properties": {"thing": {"type": "string"}, "any": True},
        "required": ["thing"],
    },
    read_only=True,
)


def test_an_arm_may_describe_a_tool_and_its_arguments_and_nothing_else_changes():
    shown = presented(
        TOOL, ShownTool(description="Find out.", parameters={"thing": "Its name.", "any": "Any."})
    )

    assert shown.as_mcp() == {
        "name": "look_up",
        "description": "Find out.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "thing": {"type": "string", "description": "Its name."},
                "any": {"description": "Any."},
            },
            "required": ["thing"],
        },
        "annotations": {"readOnlyHint": True},
    }
    assert TOOL.input_schema["properties"]["thing"] == {"type": "string"}


def test_arguments_may_be_described_alone():
    shown = presented(TOOL, ShownTool(parameters={"thing": "Its name."}))

    assert shown.description == "Who has a thing."


def test_an_argument_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="look_up has no argument 'thin'; did you mean 'thing'"):
        presented(TOOL, ShownTool(parameters={"thin": "x"}))
