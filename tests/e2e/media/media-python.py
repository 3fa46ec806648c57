"""OpenAI's official Python client at the media of the gateway: media-python.py BASE KEY SOUND."""

import json
import sys

from openai import OpenAI

base, key, sound = sys.argv[1:4]
client = OpenAI(base_url=base, api_key=key, max_retries=0)
said = {}
with open(sound, "rb") as file:
    said["text"] = client.audio.transcriptions.create(file=file, model="hears", prompt="A memo", timestamp_granularities=["segment"]).text
with open(sound, "rb") as file:
    said["verbose"] = len(client.audio.transcriptions.create(file=file, model="hears", response_format="verbose_json").segments)
with open(sound, "rb") as file:
    said["plain"] = client.audio.transcriptions.create(file=file, model="hears", response_format="text")
with open(sound, "rb") as file:
    said["events"] = [event.type for event in client.audio.transcriptions.create(file=file, model="hears-by-token", stream=True)]
with open(sound, "rb") as file:
    said["translation"] = client.audio.translations.create(file=file, model="hears").text
print(json.dumps(said))
