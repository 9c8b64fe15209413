"""A LangGraph agent under trial: a line of JSON per turn on stdin, the reply on stdout.

Its tools come from the config file that Seatrial has written for it; whatever is behind them, practice
world or real server, is nothing the agent needs to know.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

SETTINGS = json.loads(os.environ["SEATRIAL_SETTINGS"])
CONFIG = json.loads(Path(os.environ["SEATRIAL_MCP_CONFIG"]).read_text("utf-8"))


async def main() -> None:
    tools = await MultiServerMCPClient(CONFIG).get_tools()
    model = ChatOpenAI(model=SETTINGS["model"]).bind_tools(tools)  # OPENAI_BASE_URL, OPENAI_API_KEY

    async def think(state: MessagesState) -> dict:
        told = [SystemMessage(SETTINGS["instructions"]), *state["messages"]]
        return {"messages": [await model.ainvoke(told)]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    agent = graph.compile()

    said = []
    while line := await asyncio.to_thread(sys.stdin.readline):
        before = len(said)
        said = [*said, HumanMessage(json.loads(line)["text"])]
        said = (await agent.ainvoke({"messages": said}))["messages"]
        answers = [message for message in said[before:] if isinstance(message, AIMessage)]
        usages = [answer.usage_metadata or {} for answer in answers]
        reply = {
            "type": "reply",
            "text": answers[-1].text,
            "usage": {
                "input_tokens": sum(usage.get("input_tokens", 0) for usage in usages),
                "output_tokens": sum(usage.get("output_tokens", 0) for usage in usages),
            },
            "model": answers[-1].response_metadata.get("model_name"),
        }
        print(json.dumps(reply), flush=True)


asyncio.run(main())
