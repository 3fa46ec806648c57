import { afterAll, expect, test } from "bun:test";
import { fakeVendor, vendorRequest, vendorTarget } from "../../../../tests/support/vendors/fake-vendor.ts";
import { outbound } from "../../../runtime/outbound.ts";
import type { ProviderReply } from "../provider.ts";
import { anthropicProvider } from "./anthropic.ts";

const vendor = fakeVendor(() => Response.json({}, { headers: { "request-id": "req_a" } }));
afterAll(() => vendor.stop());
const provider = anthropicProvider(outbound({ allowPrivate: true }));

test("messages and token counts are sent to Anthropic's URLs for a base_url with or without version", async () => {
  for (const baseUrl of [vendor.origin, `${vendor.origin}/v1`, `${vendor.origin}/v1/`]) {
    const reply = (await provider.send(vendorTarget("anthropic", { baseUrl }), vendorRequest("messages"))) as ProviderReply;
    expect(reply.requestId).toBe("req_a");
    expect(vendor.seen.at(-1)).toMatchObject({
      method: "POST",
      path: "/v1/messages",
      headers: { "x-api-key": "key-1", "anthropic-version": "2023-06-01" },
    });
    await provider.send(vendorTarget("anthropic", { baseUrl }), vendorRequest("count_tokens"));
    expect(vendor.seen.at(-1)?.path).toBe("/v1/messages/count_tokens");
  }
});

test("the caller's anthropic-version and anthropic-beta headers are forwarded to Anthropic", async () => {
  await provider.send(
    vendorTarget("anthropic", { baseUrl: vendor.origin }),
    vendorRequest("messages", { headers: { "anthropic-version": "2026-10-21", "anthropic-beta": "a,b" } }),
  );
  expect(vendor.seen.at(-1)?.headers).toMatchObject({ "anthropic-version": "2026-10-21", "anthropic-beta": "a,b" });
});

test("embeddings are refused for an Anthropic provider", async () => {
  expect(await provider.send(vendorTarget("anthropic", { baseUrl: vendor.origin }), vendorRequest("embeddings"))).toMatchObject({
    code: "model_mode_mismatch",
  });
});

test("only Anthropic's own API is expected to keep state, not compatible servers", () => {
  const keeps = (baseUrl: string) => provider.traits.keepsState({ modelName: "claude-opus-5", modes: ["chat"], provider: { baseUrl } });
  for (const theirs of ["https://api.anthropic.com", "https://api.anthropic.com/v1", "https://eu.api.anthropic.com/"])
    expect(keeps(theirs)).toBe(true);
  for (const other of ["https://api.deepseek.com/anthropic", "https://anthropic.com.example/v1", "https://notanthropic.com"])
    expect(keeps(other)).toBe(false);
});
