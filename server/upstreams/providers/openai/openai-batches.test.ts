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
])("a batch that stands so: %p", async (batch, standing) => {
  const outbound = { fetch: async () => Response.json(batch) } as unknown as Outbound;
  const target = { baseUrl: "http://vendor", apiKey: null, headers: {} } as unknown as ProviderTarget;
  expect(await openaiBatches(outbound).look(target, "batch_1", new AbortController().signal)).toEqual(standing as never);
});
