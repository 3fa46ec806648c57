import { expect, test } from "bun:test";
import { judgedStream } from "../answers/judged-stream.ts";
import { RpcStream } from "../answers/rpc-stream.ts";
import { upstreamMessages } from "./upstream-messages.ts";

const UNCLEAR = [
  '{"jsonrpc":"2.0","id":1,"result":{"content":[],"Content":[{"type":"text","text":"x"}]}}',
  '{"jsonrpc":"2.0","id":1,"Result":{"content":[]}}',
  '{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"sum":1,"SUM":2}}}',
  '{"jsonrpc":"2.0","id":1,"result":{"content":[],"content":[]}}',
];
const event = (text: string) => new Response(`data: ${text}\n\n`, { headers: { "content-type": "text/event-stream" } });

test.each(UNCLEAR)("an ambiguous answer is not passed on: %s", async (text) => {
  const { body, verdicts } = judgedStream(event(text).body as ReadableStream<Uint8Array>, () => Promise.resolve(null));
  const codec = new RpcStream(1, (answer) => verdicts.get(answer.text) ?? null);
  const { value } = await body.getReader().read();
  expect(codec.push(value as Uint8Array)).toBeNull();
  expect(codec.refusal).toMatchObject({ code: "upstream_invalid_response" });
  expect(codec.end().complete).toBe(false);

  for (const whole of [new Response(text), event(text)])
    await expect(upstreamMessages(whole).next()).rejects.toMatchObject({ refusal: { code: "upstream_invalid_response" } });
});
