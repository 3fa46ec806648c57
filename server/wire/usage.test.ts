import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../kernel/json-value.ts";
import { readConverseUsage as converse } from "./converse/usage.ts";
import { readGeminiUsage as gemini } from "./gemini/usage.ts";
import { readMessagesUsage as messages } from "./messages/usage.ts";
import { readChatUsage as openai } from "./openai/usage.ts";
import { readResponsesUsage as responses } from "./responses/usage.ts";
import { plausibleUsage, plausibleCount, type Usage } from "./usage.ts";

type Tell = (input: unknown, output: unknown, cached: unknown) => Usage | null;

const FORMATS: Readonly<Record<string, Tell>> = {
  "chat completions": (prompt_tokens, completion_tokens, cached_tokens) =>
    openai({ prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens } }),
  responses: (input_tokens, output_tokens, cached_tokens) =>
    responses({ input_tokens, output_tokens, input_tokens_details: { cached_tokens } }),
  messages: (input_tokens, output_tokens, cache_read_input_tokens) => messages({ input_tokens, output_tokens, cache_read_input_tokens }),
  gemini: (promptTokenCount, candidatesTokenCount, cachedContentTokenCount) =>
    gemini({ promptTokenCount, candidatesTokenCount, cachedContentTokenCount }),
  converse: (inputTokens, outputTokens, cacheReadInputTokens) =>
    converse({ inputTokens, outputTokens, cacheReadInputTokens } as JsonObject),
};

describe.each(Object.entries(FORMATS))("usage reported in the format of %s", (_format, tell) => {
  test("is accepted if plausible", () => {
    expect(plausibleUsage(tell(10, 5, 2))).toMatchObject({ output: 5, cacheRead: 2 });
    expect(plausibleUsage(tell(0, 0, 0))).toMatchObject({ inputUncached: 0, output: 0 });
    expect(plausibleUsage(tell(10, 5, undefined))).toMatchObject({ inputUncached: 10, output: 5 });
  });

  // Otherwise the call, or its other tokens, would be free.
  test.each([
    [-1000, 5, 0],
    [10, -5, 0],
    [-10, -5, 0],
    [10, 5, -100],
    [10.5, 5, 0],
    [10, 0.25, 0],
    [1e18, 5, 0],
    [10, 1e300, 0],
    [2_000_000_000, 5, 0],
  ])("is rejected if implausible: %p input, %p output, %p cached", (input, output, cached) => {
    expect(tell(input, output, cached)).toBeNull();
  });
});

test("a single usage count is accepted only if plausible", () => {
  expect(plausibleCount(7)).toBe(7);
  for (const nonsense of [-1, 0.5, Number.NaN, 1e12, null]) expect(plausibleCount(nonsense)).toBeNull();
});

test("cached image tokens of Google are counted separately from other image tokens", () => {
  const read = gemini({
    ...{ promptTokenCount: 700, candidatesTokenCount: 10, cachedContentTokenCount: 300 },
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: 140 },
      { modality: "IMAGE", tokenCount: 560 },
    ],
    cacheTokensDetails: [
      { modality: "TEXT", tokenCount: 20 },
      { modality: "IMAGE", tokenCount: 280 },
    ],
  });
  expect(read).toMatchObject({ inputUncached: 400, cacheRead: 300, imageInput: 280, imageCacheRead: 280 });
});

test("tokens of a compaction are added to the totals of a Messages answer", () => {
  const top = { input_tokens: 23_000, output_tokens: 1_000 };
  const iterations = [
    { type: "compaction", input_tokens: 180_000, output_tokens: 3_500 },
    { type: "message", input_tokens: 23_000, output_tokens: 1_000 },
  ];
  expect(messages({ ...top, iterations })).toMatchObject({ inputUncached: 203_000, output: 4_500, estimated: false });
  expect(messages({ ...top, iterations: null })).toMatchObject({ inputUncached: 23_000, output: 1_000 });
});
