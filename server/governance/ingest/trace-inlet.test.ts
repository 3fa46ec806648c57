import { expect, test } from "bun:test";
import type { Span } from "../../wire/otlp/traces.ts";
import { carriedBy } from "./trace-inlet.ts";

const CALL = { rowId: "row", rootTaskId: "run" };
const client = (spanId: string, parentSpanId: string | null = null) => ({ traceId: "t", spanId, parentSpanId, kind: 3 }) as Span;

test("the span of a model call is the call its HTTP span made, and one of another kind is not", () => {
  const inner = { ...client("inner"), kind: 1 } as Span;
  const carried = carriedBy([client("model"), client("http", "model"), inner, client("other", "inner")], { carried: new Map([["t/http", CALL], ["t/other", CALL]]) });
  expect([...carried]).toEqual([["t/http", CALL], ["t/other", CALL], ["t/model", CALL]]);
});

test("a batch that tells of one call over and over is looked through once", () => {
  let looks = 0;
  const spans = Array.from({ length: 1_000 }, () => ({ ...client("http", "nobody"), get spanId() { return looks++, "http"; } }));
  carriedBy(spans, { carried: new Map([["t/http", CALL]]) });
  expect(looks).toBeLessThan(10_000);
});
