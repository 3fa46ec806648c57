"""Asks for one spoken response with OpenAI's client and prints what came of it: realtime-python.py BASE_URL KEY."""

import asyncio
import json
import sys

from openai import AsyncOpenAI


async def main(base_url: str, key: str) -> None:
    client = AsyncOpenAI(base_url=base_url, websocket_base_url=base_url.replace("http", "ws", 1), api_key=key)
    transcript, audio = "", 0
    async with client.realtime.connect(model="voice") as connection:
        await connection.session.update(session={"type": "realtime", "output_modalities": ["audio"]})
        message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
        await connection.conversation.item.create(item=message)
        await connection.response.create()
        async for event in connection:
            if event.type == "response.output_audio_transcript.delta":
                transcript += event.delta
            elif event.type == "response.output_audio.delta":
                audio += 1
            elif event.type == "response.done":
                print(json.dumps({"transcript": transcript, "audio": audio, "status": event.response.status}))
                return
            elif event.type == "error":
                raise RuntimeError(event.error.message)


asyncio.run(main(*sys.argv[1:]))
