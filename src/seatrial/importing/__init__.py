"""Tasks in the shapes of others → documents of ours, as far as they have an equivalent; the rest is named.

Each format is a module with a function that takes files that were read already, and gives an `Imported`.
"""

from seatrial.importing.agentdojo import agentdojo
from seatrial.importing.model import Files, Imported, Missing
from seatrial.importing.promptfoo import promptfoo
from seatrial.importing.tau2 import tau2

FORMATS = {"tau2": tau2, "agentdojo": agentdojo, "promptfoo": promptfoo}

__all__ = ["FORMATS", "Files", "Imported", "Missing", "agentdojo", "promptfoo", "tau2"]
