import { expect, test } from "bun:test";
import type { Clock } from "../../kernel/clock.ts";
import { openCall } from "./open.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const clock = { micros: () => 1_700_000_000_000_000 } as Clock;

function idsOf(traceparent: string): unknown {
  const { row } = openCall(
    new Request("http://gateway/v1/x", { headers: { traceparent } }),
    "127.0.0.1",
    { proxyType: "llm", proxySubtype: "chat_completions" },
    clock,
  );
  return row.trace_id === undefined ? null : [row.trace_id, row.span_id];
}

test.each([
  `00-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN.toUpperCase()}-00`,
  `01-${TRACE}-${SPAN}-01`,
  `cc-${TRACE}-${SPAN}-01-what-comes-later`,
])("traceparent %s is recorded", (traceparent) => {
  expect(idsOf(traceparent)).toEqual([TRACE, SPAN]);
});

test.each([
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `01-${TRACE}-${SPAN}-01more`,
  `00-${"0".repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE}-${SPAN}`,
  "nonsense",
])("traceparent %s is not recorded", (traceparent) => {
  expect(idsOf(traceparent)).toBeNull();
});

test.each([
  ["/v1/portal/runs/marys%20divorce/feedback", "/v1/portal/runs/:run_id/feedback"],
  ["/v1/runs/mary", "/v1/runs/:run_id"],
  ["/%76%31/ru%6Es/mary%40example.com/end", "/v1/runs/:run_id/end"],
  ["/v1/proxy/llm/mod%65ls/mary%zz", "/v1/proxy/llm/mod%65ls/mary%zz"],
  [`/v1/runs/${"0a".repeat(20)}/end`, `/v1/runs/${"0a".repeat(20)}/end`],
  ["/v1/runs/01JABCDEFGHJKMNPQRSTVWXYZ0", "/v1/runs/01JABCDEFGHJKMNPQRSTVWXYZ0"],
  ["/v1/proxy/llm/models/runs", "/v1/proxy/llm/models/runs"],
])("a run name in the path is not recorded: %s", (path, kept) => {
  const { row } = openCall(new Request(`http://gateway${path}`), "127.0.0.1", { proxyType: "portal", proxySubtype: "x" }, clock);
  expect(row.endpoint).toBe(kept);
});
