import { expect, test } from "bun:test";
import type { Outbound } from "../../../runtime/outbound.ts";
import type { ProviderTarget } from "../provider.ts";
import { openaiBatches } from "./openai-batches.ts";

test.each([
  [{ status: "validating" }, { kind: "running", unchecked: true }],
  [{ status: "in_progress" }, { kind: "running" }],
  [{ status: "failed", errors: { data: [{ code: "token_limit_exceeded", message: "Enqueued token limit reached." }] } }, { kind: "full" }],
  [
    { status: "failed", errors: { data: [{ code: "invalid", message: "A line is wrong." }] } },
    { kind: "ended", why: "failed", message: "A line is wrong." },
  ],
  [{ status: "failed" }, { kind: "ended", why: "failed", message: null }],
])("the state of an OpenAI batch is read from %p", async (batch, standing) => {
  const outbound = { fetch: async () => Response.json(batch) } as unknown as Outbound;
  const target = { baseUrl: "http://vendor", apiKey: null, headers: {} } as unknown as ProviderTarget;
  expect(await openaiBatches(outbound).readStatus(target, "batch_1", new AbortController().signal)).toEqual(standing as never);
});

test("requests about OpenAI batches leave no listener on the abort signal of the process", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  Object.assign(signal, {
    addEventListener: (...to: Parameters<typeof add>) => (listeners++, add(...to)),
    removeEventListener: (...from: Parameters<typeof remove>) => (listeners--, remove(...from)),
  });
  const target = { baseUrl: "http://vendor", apiKey: null, headers: {} } as unknown as ProviderTarget;
  const answering = (...answers: readonly Response[]) => {
    const left = [...answers];
    return openaiBatches({ fetch: async () => left.shift() } as unknown as Outbound);
  };
  const line = `${JSON.stringify({ custom_id: "a", response: { status_code: 200, body: {} } })}\n`;

  await answering(Response.json({ status: "in_progress" })).readStatus(target, "batch_1", signal);
  await answering(Response.json({ status: "cancelling" })).cancel(target, "batch_1", signal);
  await answering(new Response(null, { status: 204 })).cancel(target, "batch_1", signal);
  const ended = Response.json({ status: "completed", output_file_id: "file-1" });
  for await (const _ of answering(ended, new Response(line.repeat(3))).results(target, "batch_1", signal)) break;
  for (const refused of [Response.json({}, { status: 503 }), undefined as never])
    await answering(refused)
      .readStatus(target, "batch_1", signal)
      .catch(() => undefined);
  expect(listeners).toBe(0);
});
