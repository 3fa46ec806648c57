import { describe, expect, test } from "bun:test";
import { readChatUsage } from "./usage.ts";

describe("usage of a chat completion", () => {
  test("has every input token in one class, and reasoning within the output", () => {
    expect(
      readChatUsage({
        prompt_tokens: 100,
        completion_tokens: 40,
        total_tokens: 140,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 25 },
      }),
    ).toEqual({ inputUncached: 10, cacheRead: 60, cacheWrite: 30, cacheWriteHour: 0, output: 40, reasoning: 25, estimated: false });
  });

  test("includes reasoning in the output for vendors whose total shows that it is extra", () => {
    expect(
      readChatUsage({
        prompt_tokens: 10120,
        completion_tokens: 1499,
        total_tokens: 14428,
        prompt_tokens_details: { cached_tokens: 128 },
        completion_tokens_details: { reasoning_tokens: 2809 },
      }),
    ).toMatchObject({ inputUncached: 9992, cacheRead: 128, output: 4308, reasoning: 2809 });
    expect(
      readChatUsage({
        prompt_tokens: 14,
        completion_tokens: 2,
        total_tokens: 333,
        completion_tokens_details: { reasoning_tokens: 317, audio_tokens: 0 },
      }),
    ).toMatchObject({ output: 319, reasoning: 317 });
  });

  test("has the excess of the total as reasoning if only the three counts are given", () => {
    expect(readChatUsage({ completion_tokens: 1, prompt_tokens: 9, total_tokens: 103 })).toMatchObject({
      inputUncached: 9,
      output: 94,
      reasoning: 93,
    });
    expect(readChatUsage({ completion_tokens: 4, prompt_tokens: 9, total_tokens: 13 })).toMatchObject({ output: 4, reasoning: 0 });
    expect(readChatUsage({ completion_tokens: 4, prompt_tokens: 9, total_tokens: 9 })).toMatchObject({ output: 4, reasoning: 0 });
    expect(readChatUsage({ completion_tokens: 4, prompt_tokens: 9, total_tokens: 113, cache_read_input_tokens: 100 })).toMatchObject({
      output: 4,
      reasoning: 0,
    });
    expect(
      readChatUsage({ completion_tokens: 4, prompt_tokens: 9, total_tokens: 113, completion_tokens_details: { reasoning_tokens: 3 } }),
    ).toMatchObject({ output: 4, reasoning: 3 });
  });

  test("has cached tokens read from each vendor's member", () => {
    for (const told of [
      { prompt_tokens_details: { cached_tokens: 10 } },
      { prompt_cache_hit_tokens: 10 },
      { cached_tokens: 10 },
      { prompt_tokens_details: null, cached_tokens: 10 },
    ]) {
      expect(readChatUsage({ prompt_tokens: 19, completion_tokens: 21, total_tokens: 40, ...told })).toMatchObject({
        inputUncached: 9,
        cacheRead: 10,
        output: 21,
      });
    }
    expect(
      readChatUsage({ prompt_tokens: 19, completion_tokens: 21, prompt_tokens_details: { cached_tokens: 3 }, cached_tokens: 10 }),
    ).toMatchObject({ cacheRead: 3 });
  });

  test("never exceeds the totals, whatever a server reports", () => {
    expect(
      readChatUsage({
        prompt_tokens: 10,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 99, cache_write_tokens: 99 },
        completion_tokens_details: { reasoning_tokens: 99 },
      }),
    ).toMatchObject({ inputUncached: 0, cacheRead: 10, cacheWrite: 0, output: 2, reasoning: 2 });
    expect(
      readChatUsage({ prompt_tokens: 3, completion_tokens: null, prompt_tokens_details: null, completion_tokens_details: "x" }),
    ).toMatchObject({ inputUncached: 3, output: 0, reasoning: 0 });
    expect(readChatUsage(null)).toBeNull();
    expect(readChatUsage({ input_tokens: 3 })).toBeNull();
  });
});
