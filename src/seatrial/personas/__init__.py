"""People who talk to an agent where a case does not write their messages out.

    company = personas.company(people, asking)
    while isinstance(said := await company.next(), Line):
        company.hear(await agent.reply(said.text))

A person is played by rules, or by a model behind an `Ask`. What is wrong with a person's part is a
`SimulatorError`: found by rules, never by another model, and never the agent's doing.
"""

from seatrial.personas.chatting import asking
from seatrial.personas.company import Company, company
from seatrial.personas.playing import Ask, Asking, Line, Message, Over, Spoken

__all__ = ["Ask", "Asking", "Company", "Line", "Message", "Over", "Spoken", "asking", "company"]
