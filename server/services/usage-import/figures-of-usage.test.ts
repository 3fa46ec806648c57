import { expect, test } from "bun:test";
import type { UsageItem } from "../../upstreams/usage/usage-vendor.ts";
import { figuresOfUsage } from "./figures-of-usage.ts";

const window = { from: new Date("2026-01-01T00:00:00Z"), to: new Date("2026-01-02T00:00:00Z") };
const item = (more: Partial<UsageItem>): UsageItem => ({
  start: window.from,
  seconds: 86_400,
  dimensions: { line_item: "gpt-5, input" },
  model: "gpt-5",
  key: null,
  project: null,
  requests: null,
  input: null,
  cached: null,
  output: null,
  costNano: null,
  currency: null,
  estimated: false,
  ...more,
});
const figures = (...items: UsageItem[]) =>
  figuresOfUsage(items, window, Date.parse("2026-02-01T00:00:00Z")).map(({ cost_nano, input_tokens, requests, provisional }) => ({
    cost_nano,
    input_tokens,
    requests,
    provisional,
  }));

test("usage items with the same name and day are summed exactly", () => {
  const cost = (costNano: bigint) => item({ costNano, currency: "usd" });
  expect(figures(cost(1_000_000_001n), cost(2n), cost(-3n))).toEqual([
    { cost_nano: "1000000000", input_tokens: null, requests: null, provisional: false },
  ]);
  expect(figures(item({ input: 3, requests: 1 }), item({ input: null, requests: 2, estimated: true }))).toEqual([
    { cost_nano: null, input_tokens: 3, requests: 3, provisional: true },
  ]);
});

test("usage items of another day or with other dimensions are not added", () => {
  const other = item({ costNano: 2n, currency: "usd", dimensions: { line_item: "gpt-5, output" } });
  const elsewhere = item({ costNano: 4n, currency: "usd", start: window.to });
  expect(figures(item({ costNano: 1n, currency: "usd" }), other, elsewhere).map(({ cost_nano }) => cost_nano)).toEqual(["1", "2"]);
});
