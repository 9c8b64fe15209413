"""A command-line agent: `desk.py "May I have the book Tides?"` answers, and ends.

It asks a model at OPENAI_BASE_URL, takes its tools from an MCP client's config file, and keeps each conversation in its
home, so that `--resume ID` goes on with it. With `--json` it tells what it does, a line of JSON per event. Nothing of
Seatrial is in it.
"""

import argparse
import asyncio
import json
import sys
import uuid
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI, OpenAIError

INSTRUCTIONS = Path(__file__).with_name("instructions.md")
CONVERSATIONS = Path.home() / ".desk"


def main() -> int:
    parser = argparse.ArgumentParser(description="Ask the library desk.")
    parser.add_argument("question")
    parser.add_argument("--model", default="gpt-4.1-mini-2025-04-14")
    parser.add_argument("--mcp-config", type=Path, required=True, help="an mcpServers file")
    parser.add_argument("--resume", metavar="ID", help="go on with this conversation")
    parser.add_argument("--json", action="store_true", help="a line of JSON per event")
    options = parser.parse_args()
    try:
        servers = json.loads(options.mcp_config.read_text("utf-8"))["mcpServers"]
        asyncio.run(answer(options, list(servers.values())))
    except OpenAIError as error:
        tell(options, {"type": "error", "message": str(error)}, file=sys.stderr)
        return 1
    return 0


async def answer(options: argparse.Namespace, servers: list[dict]) -> None:
    id = options.resume or str(uuid.uuid4())
    kept = CONVERSATIONS / f"{uuid.UUID(id)}.json"
    if options.resume:
        messages = json.loads(kept.read_text("utf-8"))
    else:
        messages = [{"role": "system", "content": INSTRUCTIONS.read_text("utf-8")}]
    messages.append({"role": "user", "content": options.question})
    tell(options, {"type": "started", "conversation": id})
    used = {"input": 0, "cached": 0, "output": 0}
    async with AsyncOpenAI() as client, AsyncExitStack() as stack:
        sessions = await connect(servers, stack)
        while True:
            completion = await client.chat.completions.create(
                model=options.model,
                messages=messages,
                tools=[tool for tool, _ in sessions.values()],
            )
            count(completion.usage, used)
            message = completion.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                name, arguments = call.function.name, json.loads(call.function.arguments)
                tell(options, {"type": "calling", "tool": name})
                result = await sessions[name][1].call_tool(name, arguments)
                text = "\n".join(part.text for part in result.content if part.type == "text")
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    CONVERSATIONS.mkdir(exist_ok=True)
    kept.write_text(json.dumps(messages), encoding="utf-8")
    tell(options, {"type": "reply", "text": message.content})
    tell(options, {"type": "ended", "model": completion.model, "tokens": used})
    if not options.json:
        print(message.content)


async def connect(
    servers: list[dict], stack: AsyncExitStack
) -> dict[str, tuple[dict, ClientSession]]:
    """Each tool of all servers, as a model is told of it, with the session that has it."""
    found = {}
    for server in servers:
        http = await stack.enter_async_context(httpx.AsyncClient(headers=server.get("headers")))
        streams = await stack.enter_async_context(
            streamable_http_client(server["url"], http_client=http)
        )
        session = await stack.enter_async_context(ClientSession(*streams[:2]))
        await session.initialize()
        for tool in (await session.list_tools()).tools:
            function = {
                "name": tool.name,
                "description": tool.description or "",
                "parameters": tool.inputSchema,
            }
            found[tool.name] = ({"type": "function", "function": function}, session)
    return found


def count(usage, used: dict[str, int]) -> None:
    if usage is not None:
        used["input"] += usage.prompt_tokens
        used["output"] += usage.completion_tokens
        details = usage.prompt_tokens_details
        used["cached"] += (details.cached_tokens or 0) if details is not None else 0


def tell(options: argparse.Namespace, event: dict, file=None) -> None:
    if options.json:
        print(json.dumps(event), flush=True)
    elif file is not None:
        print(event["message"], file=file)


if __name__ == "__main__":
    sys.exit(main())
