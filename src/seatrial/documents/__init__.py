"""The whole YAML language: frozen pydantic models, unknown keys refused."""

from seatrial.documents.arm import Adapter, Arm, Command, Http, Python, Recorded
from seatrial.documents.case import GROUPS, Case, Group, Turn
from seatrial.documents.catalog import KINDS, Catalog, Kind, Source, digest
from seatrial.documents.checks import Check
from seatrial.documents.conditions import OPERATORS, Condition, Conditions
from seatrial.documents.suite import Policy, Selecting, Selector, Suite
from seatrial.documents.world import Action, Answers, Fixture, MockedTool, MockRule, Role, World

__all__ = [
    "GROUPS",
    "KINDS",
    "OPERATORS",
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
    "Group",
    "Http",
    "Kind",
    "MockRule",
    "MockedTool",
    "Policy",
    "Python",
    "Recorded",
    "Role",
    "Selecting",
    "Selector",
    "Source",
    "Suite",
    "Turn",
    "World",
    "digest",
]
