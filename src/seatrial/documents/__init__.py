"""The whole YAML language: frozen pydantic models, unknown keys refused."""

from seatrial.documents.adapters import (
    A2a,
    Adapter,
    Command,
    ConfigFormat,
    Http,
    Mcp,
    OpenAI,
    Python,
    Recorded,
    Transport,
    starts_a_program,
)
from seatrial.documents.answers import Answers, MockedTool, MockRule
from seatrial.documents.arm import Arm, ArmLimits, Model, Prices, ShownTool
from seatrial.documents.attack import Attack, Goal
from seatrial.documents.case import GROUPS, Case, Group, Turn
from seatrial.documents.catalog import KINDS, Catalog, FixtureDocument, Kind, Source, digest
from seatrial.documents.checks import Check
from seatrial.documents.conditions import OPERATORS, Condition, Conditions
from seatrial.documents.fixture import Fixture
from seatrial.documents.golden import GoldenStep
from seatrial.documents.payloads import Payloads, Variant
from seatrial.documents.persona import Heard, Persona, PersonModel, PersonRule
from seatrial.documents.price_list import PriceList
from seatrial.documents.server import Server, ServerTool, Target
from seatrial.documents.solution import Solution, SolutionCall, SolutionTurn
from seatrial.documents.suite import Policy, Selecting, Selector, Suite
from seatrial.documents.world import WORLDS, Action, ObjectsWorld, Role, World

__all__ = [
    "GROUPS",
    "KINDS",
    "OPERATORS",
    "WORLDS",
    "A2a",
    "Action",
    "Adapter",
    "Answers",
    "Arm",
    "ArmLimits",
    "Attack",
    "Case",
    "Catalog",
    "Check",
    "Command",
    "Condition",
    "Conditions",
    "ConfigFormat",
    "Fixture",
    "FixtureDocument",
    "Goal",
    "GoldenStep",
    "Group",
    "Heard",
    "Http",
    "Kind",
    "Mcp",
    "MockRule",
    "MockedTool",
    "Model",
    "ObjectsWorld",
    "OpenAI",
    "Payloads",
    "PersonModel",
    "PersonRule",
    "Persona",
    "Policy",
    "PriceList",
    "Prices",
    "Python",
    "Recorded",
    "Role",
    "Selecting",
    "Selector",
    "Server",
    "ServerTool",
    "ShownTool",
    "Solution",
    "SolutionCall",
    "SolutionTurn",
    "Source",
    "Suite",
    "Target",
    "Transport",
    "Turn",
    "Variant",
    "World",
    "digest",
    "starts_a_program",
]
