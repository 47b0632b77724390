"""A server with the official Python SDK that asks people, the twin of `../peers/server.mjs`.

`server.py` serves stdio, `server.py PORT` streamable HTTP at that port of loopback; both serve both eras.
"""

import json
import sys
from pathlib import Path

import anyio
from mcp import UrlElicitationRequiredError
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitRequestURLParams, InputRequiredResult

SHARED = Path(__file__).parent.parent / "peers"
QUESTIONS = json.loads((SHARED / "questions.json").read_text("utf-8"))
TOOLS = json.loads((SHARED / "tools.json").read_text("utf-8"))
MODERN = "2026-07-28"

server = MCPServer("asking", log_level="WARNING")


def told(answer):
    """What is kept of an answer: what the person did, and what they wrote."""
    return {"action": answer.action, **({"content": answer.content} if answer.content is not None else {})}


def still_open(rounds, known):
    """What is still to be asked; nothing after somebody declined or dismissed a question."""
    for asked in rounds:
        missing = [key for key in asked if key not in known]
        if missing:
            return missing
        if any(known[key]["action"] != "accept" for key in asked):
            return []
    return []


def request(key):
    """The question `key` inside a result of the modern era."""
    question = QUESTIONS[key]
    if "url" in question:
        return ElicitRequest(params=ElicitRequestURLParams(**question))
    params = ElicitRequestFormParams(message=question["message"], requested_schema=question["requestedSchema"])
    return ElicitRequest(params=params)


def ask_by_rounds(rounds, context):
    known = json.loads(context.request_state or "{}")
    known |= {key: told(answer) for key, answer in (context.input_responses or {}).items()}
    missing = still_open(rounds, known)
    if not missing:
        return json.dumps(known)
    requests = {key: request(key) for key in missing}
    return InputRequiredResult(input_requests=requests, request_state=json.dumps(known))


async def ask_on_the_stream(rounds, context, elicitation_id):
    known = {}

    async def ask(key):
        known[key] = told(await ask_one(QUESTIONS[key], context, elicitation_id))

    while missing := still_open(rounds, known):
        async with anyio.create_task_group() as group:
            for key in missing:
                group.start_soon(ask, key)
    return json.dumps(known)


async def ask_one(question, context, elicitation_id):
    session, call = context.session, context.request_id
    if "url" not in question:
        return await session.elicit_form(question["message"], question["requestedSchema"], call)
    answer = await session.elicit_url(question["message"], question["url"], elicitation_id, call)
    if answer.action == "accept":
        # The payment is done at once in this server.
        await session.send_elicit_complete(elicitation_id, call)
    return answer


def add(name, rounds):
    async def run(context: Context, id: str | None = None):
        if context.protocol_version == MODERN:
            return ask_by_rounds(rounds, context)
        return await ask_on_the_stream(rounds, context, id)

    server.add_tool(run, name=name, description=f"Asks: {rounds}.", structured_output=False)


async def locked(id: str):
    visit = QUESTIONS["visit"]
    raise UrlElicitationRequiredError([ElicitRequestURLParams(elicitation_id=id, **visit)])


for name, rounds in TOOLS.items():
    add(name, rounds)
server.add_tool(locked, name="locked", description="Wants a visit before the call.", structured_output=False)

if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
