"""OpenAI-compatible chat completions: one request, one answer, whole or in a stream of pieces.

    completion = await chat.complete(client, endpoint, body)

`chat.pace` keeps an endpoint's limits and asks again where a request came to nothing by itself.
"""

from seatrial.chat.completions import Completion, Endpoint, Wish, complete
from seatrial.chat.pace import PASSING, RETRIES, Pace, Unanswered, backoff

__all__ = [
    "PASSING",
    "RETRIES",
    "Completion",
    "Endpoint",
    "Pace",
    "Unanswered",
    "Wish",
    "backoff",
    "complete",
]
