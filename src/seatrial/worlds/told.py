"""How worlds say what went wrong: to the agent what it did, to whoever reads the record what failed."""

from pathlib import Path


class Told(Exception):
    """The call cannot be carried out as asked; the message is for the agent."""


def without_folder(error: Exception, folder: Path) -> str:
    """What an error says, without where the trial's copy lay on this machine."""
    return str(error).replace(str(folder), ".")
