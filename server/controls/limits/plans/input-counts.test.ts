import { expect, test } from "bun:test";
import type { Call } from "../../../road/call.ts";
import { InputCounts } from "./input-counts.ts";
import type { LimitedCall } from "../limited-call.ts";

const BYTES = 4_000;
const COUNTED = 1_000;

async function boundAfter(tags: readonly string[] | undefined, tokens: number): Promise<number | undefined> {
  const counts = new InputCounts(() => Promise.resolve(COUNTED));
  const call = { scope: { tenant: { id: "t" } }, requestContent: "x".repeat(BYTES), row: { tags } } as unknown as Call;
  const model = { id: "m", provider: { apiFormat: "anthropic" } };
  const limited = { call, model, worst: { inputBytes: BYTES }, counted: null } as unknown as LimitedCall;
  for (let round = 0; round < 3; round++) counts.learnCount(call, limited, tokens);
  return (await counts.boundOf(limited))?.inputTokens;
}

test("input bounds are corrected by what providers report, but not by estimated usage", async () => {
  const unknown = await boundAfter(undefined, 0);
  expect(unknown).toBe(1_250);
  expect(await boundAfter(undefined, 1_400)).toBe(1_428);
  expect(await boundAfter(undefined, COUNTED)).toBe(1_020);
  expect(await boundAfter(["usage_estimated"], COUNTED)).toBe(unknown);
});
