import { expect, test } from "bun:test";
import { readConverseReply } from "./converse/converse-reply.ts";
import type { JsonObject } from "../kernel/json-value.ts";
import { readGeminiUsage } from "./gemini/usage.ts";
import { readMessagesUsage } from "./messages/usage.ts";
import { withRequestedServing, requestedServing, tiersServed } from "./serving.ts";

const gemini = (told: JsonObject) => readGeminiUsage({ promptTokenCount: 1, candidatesTokenCount: 1, ...told })?.serving;
const messages = (told: JsonObject) => readMessagesUsage({ input_tokens: 1, output_tokens: 1, ...told })?.serving;

test.each([
  [gemini({ trafficType: "ON_DEMAND_PRIORITY" }), "priority"],
  [gemini({ trafficType: "ON_DEMAND" }), "standard"],
  [gemini({ trafficType: "PROVISIONED_THROUGHPUT" }), "standard"],
  [gemini({ service_tier: "flex" }), "flex"],
  [gemini({ serviceTier: "SERVICE_TIER_PRIORITY" }), "priority"],
  [gemini({}), undefined],
  // Prepaid capacity.
  [messages({ service_tier: "priority", speed: "fast" }), "fast"],
  [messages({ service_tier: "priority" }), undefined],
  [messages({ service_tier: "standard", speed: null }), "standard"],
  [messages({ service_tier: "batch" }), "standard"],
])("service tiers reported by vendors are mapped to common names: case %#", (serving, tier) => {
  expect(serving?.tier).toBe(tier as string);
});

test("Bedrock's service tier is read next to the usage", () => {
  const answer = {
    output: { message: { content: [{ text: "Yes" }] } },
    stopReason: "end_turn",
    usage: { inputTokens: 1, outputTokens: 1 },
  };
  expect(readConverseReply({ ...answer, serviceTier: { type: "priority" } } as JsonObject)?.usage?.serving?.tier).toBe("priority");
  expect(readConverseReply({ ...answer, serviceTier: "priority" } as JsonObject)?.usage?.serving).toBeUndefined();
});

test("a global or unavailable inference_geo has no price of its own, whatever was requested", () => {
  for (const inference_geo of ["global", "not_available"]) {
    const told = readMessagesUsage({ input_tokens: 1, output_tokens: 1, inference_geo });
    expect(tiersServed(withRequestedServing(told!, requestedServing({ inference_geo: "us" })).serving)).toEqual([]);
  }
  expect(tiersServed(messages({ inference_geo: "us" }))).toEqual(["inference_geo_us"]);
});

test("an invalid service_tier counts as not requested", () => {
  for (const service_tier of [7, null, {}, "", "auto", "x".repeat(51), "a b", "\u0000"])
    expect(tiersServed(requestedServing({ service_tier }))).toEqual([]);
  // A member of another format must not hide a more expensive tier.
  expect(tiersServed(requestedServing({ service_tier: "ultrafast", speed: "fast" }))).toEqual(["ultrafast"]);
  expect(tiersServed(requestedServing({ service_tier: "default", speed: "fast" }))).toEqual(["fast"]);
  expect(tiersServed(requestedServing({ speed: "fast", inference_geo: "US" }))).toEqual(["fast", "inference_geo_us"]);
});
