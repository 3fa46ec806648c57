import { expect, test } from "bun:test";
import { genAiFacts } from "./gen-ai.ts";
import { decodeTraces, type Span } from "./traces.ts";

function inference(...attributes: object[]): Span {
  const span = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    startTimeUnixNano: "1",
    endTimeUnixNano: "2",
    attributes: [{ key: "gen_ai.operation.name", value: { stringValue: "chat" } }, ...attributes],
  };
  return decodeTraces({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })?.spans[0] as Span;
}

const COUNTS = {
  promptTokens: "gen_ai.usage.input_tokens",
  completionTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
} as const;

test.each(Object.entries(COUNTS))("a claim of %s that no call comes to is none", (fact, name) => {
  const told = (count: number) => genAiFacts(inference({ key: name, value: { intValue: String(count) } }))[fact as keyof typeof COUNTS];
  expect([told(1_000_000_000), told(1_000_000_001), told(Number.MAX_SAFE_INTEGER)]).toEqual([1_000_000_000, null, null]);
});

test("what is no pair among attributes is left out, and no name of one is more than a name", () => {
  const member = { key: "m", value: { intValue: "1" } };
  const list = { key: "list", value: { kvlistValue: { values: [null, {}, member] } } };
  const proto = { key: "__proto__", value: { kvlistValue: { values: [{ key: COUNTS.promptTokens, value: { intValue: "5" } }] } } };
  const facts = genAiFacts(inference(list, proto));
  expect([facts.rest.list, facts.promptTokens]).toEqual([{ m: 1 }, null]);
});
