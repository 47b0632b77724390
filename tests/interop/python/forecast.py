"""The official Python client calls a tool that wants a key. `forecast.py TARGET`, the target as for `client.py`.

It prints a line of JSON for each question that it is asked, and then one with the result.
"""

import asyncio
import json
import sys

from mcp.types import ElicitResult

from client import host, plain


def say(**line):
    print(json.dumps(line), flush=True)


async def main(target):
    notices = []

    async def answer(_context, params):
        say(asked=plain(params))
        # Accept means consent to open: the visit goes on after it.
        return ElicitResult(action=target["action"])

    async with host(target, answer, notices) as client:
        results = []
        for _ in range(2):
            result = await client.call_tool("get_forecast", {"city": "Oslo"})
            results.append({"isError": bool(result.is_error), "text": result.content[0].text})
        say(results=results, notices=notices)


asyncio.run(main(json.loads(sys.argv[1])))
