"""A practice world of kind `python`: functions of the repository over a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from seatrial.documents.base import Part
from seatrial.documents.patterns import RepositoryPath, literal, module_files
from seatrial.documents.world.base import DeclaredTool, Name, World

FunctionName = Annotated[str, Field(pattern=r"^([A-Za-z_][\w.]*:)?[A-Za-z_]\w*$")]
"""`function`, or `module:function`."""


class PythonTool(Part):
    """A tool that is a function. What agents read is its docstring, its arguments are its parameters."""

    function: FunctionName | None = None
    """The function in `module`, or `module:function`; named as the tool when left out."""
    read_only: StrictBool = False
    """Changes nothing; a function that does all the same makes its trial invalid."""
    destructive: StrictBool = False
    """Deletes or overwrites what cannot be had back."""
    leaves_world: StrictBool = False
    """Its arguments reach somebody outside; agents read `openWorldHint`."""


class PythonWorld(World):
    """A practice world of kind `python`: functions of the repository, called with the state of the trial.

    The state is `{type: {key: {property: value}}}`; functions change it in place.
    """

    world: Literal["python"]
    """The kind of practice world."""
    module: str = Field(pattern=r"^[A-Za-z_][\w.]*$")
    """The module with the functions, imported from the repository's root."""
    start: dict[str, dict[str, dict[str, Any]]] | None = None
    """The starting state: type → key → properties."""
    start_file: RepositoryPath | None = None
    """A JSON file with the starting state; in place of `start`."""
    refusals: tuple[FunctionName, ...] = ("ValueError",)
    """Exceptions by which functions tell the agent why they do not do what it asked: built-in ones, or
    `module:name`. Any other is a fault of the world."""
    seconds: StrictFloat | StrictInt = Field(default=10.0, gt=0)
    """How long a call may take."""
    tools: dict[Name, PythonTool] = Field(min_length=1)
    """Tools by name; the agent sees them on a server named as the world."""

    @model_validator(mode="after")
    def _starts_from_something(self) -> PythonWorld:
        if (self.start is None) == (self.start_file is None):
            raise ValueError(
                "write `start` (the state) or `start_file` (a JSON file that holds it)"
            )
        return self

    def target(self, tool: str) -> tuple[str, str]:
        """Module and name of the function behind a tool."""
        module, _, name = (self.tools[tool].function or tool).rpartition(":")
        return module or self.module, name

    def files(self) -> Mapping[str, tuple[str, ...]]:
        found = {"module": module_files(self.module)}
        for name in self.tools:
            module, _ = self.target(name)
            if module != self.module:
                found[f"tools.{name}.function"] = module_files(module)
        if self.start_file is not None:
            found["start_file"] = (literal(self.start_file),)
        return found

    def declared_start(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]] | None:
        return self.start

    def declared_tools(self) -> Mapping[str, DeclaredTool]:
        return {name: DeclaredTool(None, tool.read_only) for name, tool in self.tools.items()}
