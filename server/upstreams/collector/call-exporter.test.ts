import { expect, test } from "bun:test";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { Log } from "../../kernel/log.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { CallExporter } from "./call-exporter.ts";

const ROW = {
  id: "01M8F583P93PA4NS29VFZXBHSP",
  proxy_type: "llm",
  timestamp: "2026-11-27T18:00:00.000000Z",
  trace_id: "0af7651916cd43dd8448eb211c80319c",
} as unknown as AuditRow;
const COLLECTOR = { url: "http://collector.test", headers: {}, serviceName: "gatehouse", sampled: 1 };

/** A collector that takes `answerMs` for each answer, by a clock that nobody waits for. */
function slowCollector(answerMs: number) {
  let now = 1_000_000;
  const logged: unknown[] = [];
  const sent: string[] = [];
  const fetch = async (url: string, { timeoutMs }: { timeoutMs: number }) => {
    now += Math.min(answerMs, timeoutMs);
    if (answerMs > timeoutMs) throw new Error(`no answer within ${timeoutMs} ms`);
    sent.push(url);
    return new Response("{}");
  };
  const clock = { now: () => now, micros: () => now * 1000 };
  const log = { warn: (event: string, fields: object) => void logged.push([event, fields]) } as unknown as Log;
  const exporter = new CallExporter(COLLECTOR, { fetch } as unknown as Outbound, clock, log);
  for (let n = 0; n < 4_000; n++) exporter.ended(ROW);
  return { exporter, sent, logged, now: () => now };
}

test("a collector that takes its time holds up a run for ten seconds, and the end for three", async () => {
  const { exporter, sent, logged, now } = slowCollector(2_000);
  const began = now();
  await exporter.send();
  expect(now() - began).toBeLessThanOrEqual(10_000);
  expect(sent.length).toBeGreaterThan(1);
  const ending = now();
  await exporter.close();
  expect(now() - ending).toBeLessThanOrEqual(3_000);
  expect(logged).toEqual([["spans_lost", { spans: 4_000 - 200 * sent.length, reason: "no time was left within 3000 ms" }]]);
});

test("one that never answers does so too, and one that does gets everything", async () => {
  const away = slowCollector(600_000);
  const began = away.now();
  await away.exporter.close();
  expect(away.now() - began).toBe(3_000);
  expect(away.logged).toEqual([["spans_lost", { spans: 4_000, reason: "no answer within 3000 ms" }]]);

  const there = slowCollector(1);
  await there.exporter.close();
  expect([there.logged, there.sent.filter((url) => url.endsWith("/v1/traces")).length, there.sent.at(-1)]).toEqual([
    [],
    20,
    "http://collector.test/v1/metrics",
  ]);
});
