"""A Pydantic AI agent under trial: a line of JSON per turn on stdin, the reply on stdout.

Its tools come from the config file that Seatrial has written for it; whatever is behind them, practice
world or real server, is nothing the agent needs to know.
"""

import asyncio
import json
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import load_mcp_toolsets
from pydantic_ai.models.openai import OpenAIChatModel

SETTINGS = json.loads(os.environ["SEATRIAL_SETTINGS"])


async def main() -> None:
    agent = Agent(
        OpenAIChatModel(SETTINGS["model"]),  # at OPENAI_BASE_URL, with OPENAI_API_KEY
        instructions=SETTINGS["instructions"],
        toolsets=load_mcp_toolsets(os.environ["SEATRIAL_MCP_CONFIG"]),
    )
    said = []
    async with agent:
        while line := await asyncio.to_thread(sys.stdin.readline):
            result = await agent.run(json.loads(line)["text"], message_history=said)
            said = result.all_messages()
            reply = {
                "type": "reply",
                "text": result.output,
                "usage": {
                    "input_tokens": result.usage.input_tokens,
                    "output_tokens": result.usage.output_tokens,
                },
                "model": result.response.model_name,
            }
            print(json.dumps(reply), flush=True)


asyncio.run(main())
