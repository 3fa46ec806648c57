"""OpenAI's official Python client at the batches of the gateway: batch-python.py BASE KEY."""

import json
import sys
import time

from openai import OpenAI

base, key = sys.argv[1:3]
client = OpenAI(base_url=base, api_key=key, max_retries=0)


def line(name, text):
    body = {"model": "fake-1", "messages": [{"role": "user", "content": text}]}
    return json.dumps({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body})


file = client.files.create(file=("in.jsonl", "\n".join([line("a", "one"), line("b", "two")]).encode()), purpose="batch")
batch = client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"who": "us"})
said = {"total": batch.request_counts.total}
while batch.status not in ("completed", "failed", "expired", "cancelled"):
    time.sleep(0.1)
    batch = client.batches.retrieve(batch.id)
said["status"] = batch.status
said["metadata"] = batch.metadata
said["ids"] = [json.loads(text)["custom_id"] for text in client.files.content(batch.output_file_id).text.splitlines()]
said["listed"] = batch.id in [one.id for one in client.batches.list(limit=1)]
print(json.dumps(said))
