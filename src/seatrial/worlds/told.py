"""What a call comes to when the agent asked for what cannot be done."""


class Told(Exception):
    """The call cannot be carried out as asked; the message is for the agent."""
