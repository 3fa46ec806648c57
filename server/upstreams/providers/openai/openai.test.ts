import { afterAll, expect, test } from "bun:test";
import { fakeVendor, vendorRequest, vendorTarget } from "../../../../tests/support/vendors/fake-vendor.ts";
import { outbound } from "../../../runtime/outbound.ts";
import type { ProviderReply } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { openaiProvider } from "./openai.ts";

const vendor = fakeVendor(() => Response.json({ ok: true }, { headers: { "x-request-id": "req_9" } }));
afterAll(() => vendor.stop());
const provider = openaiProvider(outbound({ allowPrivate: true }));

test.each([
  ["chat", "/v1/chat/completions"],
  ["responses", "/v1/responses"],
  ["responses_count", "/v1/responses/input_tokens"],
  ["responses_compact", "/v1/responses/compact"],
  ["completions", "/v1/completions"],
  ["embeddings", "/v1/embeddings"],
  ["images", "/v1/images/generations"],
  ["moderations", "/v1/moderations"],
] as const)("%s is sent to OpenAI's path %s with unchanged bytes", async (operation: ProviderOperation, path) => {
  const target = vendorTarget("openai", { baseUrl: `${vendor.origin}/v1/` });
  const reply = (await provider.send(
    target,
    vendorRequest(operation, { body: '{"model":  "m"}', headers: { "idempotency-key": "k" } }),
  )) as ProviderReply;
  expect(reply.requestId).toBe("req_9");
  const seen = vendor.seen.at(-1);
  expect(seen).toMatchObject({
    method: "POST",
    path,
    body: '{"model":  "m"}',
    headers: { authorization: "Bearer key-1", "content-type": "application/json", "idempotency-key": "k" },
  });
  expect(provider.url(target, operation, false)).toBe(`${vendor.origin}${path}`);
});

test("OpenAI counts the input tokens of Responses requests, compatible servers do not", () => {
  const counts = (baseUrl: string) =>
    provider.traits.counts({ modelName: "m", modes: ["responses"], provider: { baseUrl } }, "responses_count");
  expect([counts("https://api.openai.com/v1"), counts(vendor.origin)]).toEqual([true, false]);
});

test("without an API key no authorization header is sent", async () => {
  await provider.send(vendorTarget("openai", { baseUrl: vendor.origin, apiKey: null }), vendorRequest("chat"));
  expect(vendor.seen.at(-1)?.headers.authorization).toBeUndefined();
});

test("an operation that OpenAI's API does not have is refused, not sent", async () => {
  const before = vendor.seen.length;
  expect(await provider.send(vendorTarget("openai", { baseUrl: vendor.origin }), vendorRequest("messages"))).toMatchObject({
    code: "model_mode_mismatch",
  });
  expect(vendor.seen.length).toBe(before);
});
