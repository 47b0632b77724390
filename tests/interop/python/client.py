"""The official Python client, the twin of `../peers/client.mjs`.

`client.py TARGET…` goes through `../peers/steps.json` with each target, `{"era", "url", "token"}` or `{"era", "command"}` as
JSON, and prints for each what it was asked, what it got and which notices came, as a list in JSON.
"""

import asyncio
import json
import sys
from pathlib import Path

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitCompleteNotification, ElicitResult

SHARED = Path(__file__).parent.parent / "peers"
QUESTIONS = json.loads((SHARED / "questions.json").read_text("utf-8"))
STEPS = json.loads((SHARED / "steps.json").read_text("utf-8"))
MODERN = "2026-07-28"


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def connection(target):
    if "command" in target:
        program, *arguments = target["command"]
        return StdioServerParameters(command=program, args=arguments)
    headers = {"authorization": f"Bearer {target['token']}"} if "token" in target else {}
    return streamable_http_client(target["url"], http_client=httpx2.AsyncClient(headers=headers, timeout=30))


def host(target, answer, notices):
    """A client that is asked by `answer`, and adds the ids of completion notices to `notices`."""

    async def note(message):
        if isinstance(message, ElicitCompleteNotification):
            notices.append(message.params.elicitation_id)

    mode = MODERN if target["era"] == "modern" else "legacy"
    options = {"mode": mode, "elicitation_callback": answer, "message_handler": note, "read_timeout_seconds": 30}
    return Client(connection(target), **options)


async def converse(target):
    asked, notices, answers = [], [], {}

    async def answer(_context, params):
        asked.append(plain(params))
        key = next(key for key, question in QUESTIONS.items() if question["message"] == params.message)
        return ElicitResult(**answers[key])

    async with host(target, answer, notices) as client:
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        results = []
        for number, step in enumerate(STEPS):
            answers = step["answers"]
            result = await client.call_tool(step["tool"], {"id": f"id-{number}"})
            results.append({"isError": bool(result.is_error), "text": result.content[0].text})
        error = await refused(client) if target["era"] == "legacy" else None
    return {"tools": tools, "asked": asked, "notices": notices, "results": results, "error": error}


async def refused(client):
    """How the call ends that wants a visit first."""
    try:
        await client.call_tool("locked", {"id": "id-locked"})
    except MCPError as error:
        return {"code": error.error.code, "data": error.error.data}
    raise RuntimeError("it got a result")


async def main():
    targets = [json.loads(target) for target in sys.argv[1:]]
    print(json.dumps(await asyncio.gather(*map(converse, targets))))


if __name__ == "__main__":
    asyncio.run(main())
