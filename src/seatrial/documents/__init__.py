"""The whole YAML language: frozen pydantic models, unknown keys refused."""

from seatrial.documents.answers import Answers, MockedTool, MockRule
from seatrial.documents.arm import (
    Adapter,
    Arm,
    Command,
    Http,
    Prices,
    Python,
    Recorded,
    ShownTool,
)
from seatrial.documents.case import GROUPS, Case, Group, Turn
from seatrial.documents.catalog import KINDS, Catalog, FixtureDocument, Kind, Source, digest
from seatrial.documents.checks import Check
from seatrial.documents.conditions import OPERATORS, Condition, Conditions
from seatrial.documents.fixture import Fixture
from seatrial.documents.server import Server, ServerTool, Target
from seatrial.documents.suite import Policy, Selecting, Selector, Suite
from seatrial.documents.world import WORLDS, Action, ObjectsWorld, Role, World

__all__ = [
    "GROUPS",
    "KINDS",
    "OPERATORS",
    "WORLDS",
    "Action",
    "Adapter",
    "Answers",
    "Arm",
    "Case",
    "Catalog",
    "Check",
    "Command",
    "Condition",
    "Conditions",
    "Fixture",
    "FixtureDocument",
    "Group",
    "Http",
    "Kind",
    "MockRule",
    "MockedTool",
    "ObjectsWorld",
    "Policy",
    "Prices",
    "Python",
    "Recorded",
    "Role",
    "Selecting",
    "Selector",
    "Server",
    "ServerTool",
    "ShownTool",
    "Source",
    "Suite",
    "Target",
    "Turn",
    "World",
    "digest",
]
