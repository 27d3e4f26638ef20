"""A client of `nanscope mcp`: asks which operation made the NaN of a script, and about its cause.

    python mcp_client.py train.py
"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters


async def main(script: str) -> None:
    server = StdioServerParameters(command="nanscope", args=["mcp"], env=dict(os.environ))
    async with Client(server) as client:
        found = (await client.call_tool("run", {"script": script})).structured_content
        print(found["verdict"], found.get("headline", ""))
        if found["verdict"] == "error":
            page = await client.call_tool("explain", {"cause": found["cause"]["id"]})
            print(found["cause"]["sentence"], page.content[0].text, sep="\n\n")


asyncio.run(main(sys.argv[1]))
