"""The official Python client calls a tool that wants a key. `forecast.py TARGET`, the target as for `client.py`.

It prints a line of JSON for each question that it is asked, and then one with the result.
"""

import asyncio
import json
import sys

from mcp import Client
from mcp.types import ElicitCompleteNotification, ElicitResult

from client import MODERN, connection, plain


def say(**line):
    print(json.dumps(line), flush=True)


async def main(target):
    notices = []

    async def answer(_context, params):
        say(asked=plain(params))
        # Accept means consent to open: the visit goes on after it.
        return ElicitResult(action=target["action"])

    async def note(message):
        if isinstance(message, ElicitCompleteNotification):
            notices.append(message.params.elicitation_id)

    mode = MODERN if target["era"] == "modern" else "legacy"
    options = {"mode": mode, "elicitation_callback": answer, "message_handler": note, "read_timeout_seconds": 30}
    async with Client(connection(target), **options) as client:
        results = []
        for _ in range(2):
            result = await client.call_tool("get_forecast", {"city": "Oslo"})
            results.append({"isError": bool(result.is_error), "text": result.content[0].text})
        say(results=results, notices=notices)


asyncio.run(main(json.loads(sys.argv[1])))
