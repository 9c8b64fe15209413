"""An agent that does what it is told, word for word: `tool {"argument": 1}`, one call a line."""

import json


async def obey(text, seat):
    said = []
    for line in text.splitlines():
        tool, _, arguments = line.partition(" ")
        answer = await seat.call(tool, **json.loads(arguments or "{}"))
        said.append(answer.text)
    return "\n".join(said) or "Nothing to do."
