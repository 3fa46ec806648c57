"""OpenAI's official Python client at the videos of the gateway: videos-python.py BASE KEY PICTURE."""

import json
import sys

from openai import OpenAI

base, key, picture = sys.argv[1:4]
client = OpenAI(base_url=base, api_key=key, max_retries=0)
with open(picture, "rb") as file:
    video = client.videos.create_and_poll(model="films", prompt="A boat", seconds="4", size="1280x720", input_reference=file, poll_interval_ms=200)
said = {"status": video.status, "progress": video.progress, "seconds": video.seconds, "size": video.size}
said["bytes"] = len(client.videos.download_content(video.id).read())
said["listed"] = video.id in [one.id for one in client.videos.list()]
said["deleted"] = client.videos.delete(video.id).deleted
print(json.dumps(said))
