"""The official Python client against one server: prints what it saw as one line of JSON. Arguments: mode, address, API key."""

import asyncio
import json
import sys

import mcp
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


async def elicited(_context, _params):
    return types.ElicitResult(action="accept", content={"name": "Ada", "color": "blue", "ok": True, "response": "yes"})


async def sampled(_context, _params):
    return types.CreateMessageResult(role="assistant", model="a-model", content=types.TextContent(type="text", text="Paris"))


async def main(mode: str, url: str, key: str) -> None:
    said = {"sdk": mcp.__name__}
    async with create_mcp_http_client(headers={"x-api-key": key}) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=elicited, sampling_callback=sampled) as client:
            text = lambda result: result.content[0].text
            said["version"] = client.protocol_version
            said["tools"] = len((await client.list_tools()).tools)
            said["call"] = text(await client.call_tool("test_simple_text", {}))
            said["elicitation"] = text(await client.call_tool("test_input_required_result_multi_round", {}))
            said["sampling"] = text(await client.call_tool("test_sampling", {"prompt": "What is the capital of France?"}))
            said["resource"] = (await client.read_resource("test://static-text")).contents[0].text
            said["prompt"] = (await client.get_prompt("test_simple_prompt")).messages[0].content.text
    print(json.dumps(said))


asyncio.run(main(*sys.argv[1:]))
