# SPDX-License-Identifier: Apache-2.0
"""Lists and calls every tool with the official `mcp` package: PYTHON sdk_client.py PROGRAM LOGDIR [URL]; prints JSON."""
import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client import streamable_http
from mcp.client.stdio import stdio_client


def field(thing, name):
    """A field by its name in the protocol: version 2 of the package spells them in snake case."""
    snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
    return getattr(thing, name, None) if hasattr(thing, name) else getattr(thing, snake)


def needed(schema, run):
    """Arguments for what a tool requires, by name."""
    known = {"base": run, "events": "0:1", "query": "SELECT count(*) AS n FROM events", "verb": "info"}
    arguments = {name: known[name] for name in schema.get("required", [])}
    if "run" in schema["properties"]:
        arguments["run"] = run
    return arguments


async def look(session):
    welcome = await session.initialize()
    await session.send_ping()
    await session.set_logging_level("warning")
    tools = (await session.list_tools()).tools
    found = await session.call_tool("find_runs", {})
    said = {"version": field(welcome, "protocolVersion"), "tools": {}, "runs": [], "errors": {}}
    for row in field(found, "structuredContent")["tables"][0]["rows"]:
        said["runs"].append(row[0])
    for tool in tools:
        result = await session.call_tool(tool.name, needed(field(tool, "inputSchema"), said["runs"][0]))
        text = result.content[0].text
        said["tools"][tool.name] = bool(text) and not field(result, "isError")
        if field(result, "isError"):
            said["errors"][tool.name] = text
    resources = (await session.list_resources()).resources
    said["resource"] = bool((await session.read_resource(resources[0].uri)).contents[0].text)
    prompts = (await session.list_prompts()).prompts
    said["prompt"] = (await session.get_prompt("diagnose", {"run": said["runs"][0]})).messages[0].content.text
    said["prompts"] = [prompt.name for prompt in prompts]
    print(json.dumps(said))


async def main(program, logdir, url=None):
    over_http = getattr(streamable_http, "streamable_http_client", None) or streamable_http.streamablehttp_client
    opened = over_http(url) if url else stdio_client(
        StdioServerParameters(command=program, args=["mcp", logdir, "--no-cache"]))
    async with opened as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await look(session)


asyncio.run(main(*sys.argv[1:]))
