"""An agent of the OpenAI Agents SDK under trial: a line of JSON per turn on stdin, the reply on stdout.

Its tools come from the config file that Seatrial has written for it; whatever is behind them, practice
world or real server, is nothing the agent needs to know.
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled

SETTINGS = json.loads(os.environ["SEATRIAL_SETTINGS"])
CONFIG = json.loads(Path(os.environ["SEATRIAL_MCP_CONFIG"]).read_text("utf-8"))


async def main() -> None:
    set_tracing_disabled(True)  # traces would go to OpenAI, from a trial too
    model = OpenAIChatCompletionsModel(SETTINGS["model"], AsyncOpenAI())  # at OPENAI_BASE_URL
    async with AsyncExitStack() as stack:
        servers = []
        for name, server in CONFIG["mcpServers"].items():
            address = {"url": server["url"], "headers": server["headers"]}
            # Five seconds, the SDK's own limit, are less than a case may make a tool wait.
            tools = MCPServerStreamableHttp(
                params=address, name=name, client_session_timeout_seconds=60
            )
            servers.append(await stack.enter_async_context(tools))
        agent = Agent(
            name="library", instructions=SETTINGS["instructions"], model=model, mcp_servers=servers
        )
        said = []
        while line := await asyncio.to_thread(sys.stdin.readline):
            said.append({"role": "user", "content": json.loads(line)["text"]})
            result = await Runner.run(agent, said)
            said = result.to_input_list()
            usage = result.context_wrapper.usage
            reply = {
                "type": "reply",
                "text": result.final_output,
                "usage": {
                    "input_tokens": usage.input_tokens,
                    "output_tokens": usage.output_tokens,
                },
            }  # the SDK keeps to itself which model has answered: no "model"
            print(json.dumps(reply), flush=True)


asyncio.run(main())
