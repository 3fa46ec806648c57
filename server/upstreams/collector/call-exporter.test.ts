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

/** A collector that takes `answerMs` for each answer, by a simulated clock. */
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

test("a slow OpenTelemetry collector delays a run by at most ten seconds, and the shutdown by three", async () => {
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

test("a collector that never answers delays the shutdown by three seconds; a fast one receives everything", async () => {
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

/** A collector with a settable answer, and the gateway's log about it. */
function collectorThat() {
  let now = 1_000_000;
  let stepped = 0;
  const logged: unknown[] = [];
  const sent: string[] = [];
  let answer = () => new Response("{}");
  const fetch = async (url: string) => {
    sent.push(new URL(url).pathname);
    return answer();
  };
  const clock = { now: () => now + stepped, micros: () => now * 1000 };
  const note = (event: string, fields: object) => void logged.push([event, fields]);
  const log = { warn: note, info: note } as unknown as Log;
  const exporter = new CallExporter(COLLECTOR, { fetch } as unknown as Outbound, clock, log);
  return {
    exporter,
    logged,
    answers(next: () => Response) {
      answer = next;
    },
    setBack: (ms: number) => (stepped -= ms),
    /** Runs once per simulated second; returns what was sent meanwhile. */
    async during(seconds: number): Promise<string[]> {
      const before = sent.length;
      for (let n = 0; n < seconds; n++, now += 1_000) await exporter.send();
      return sent.slice(before);
    },
  };
}

test("an unreachable collector is retried less and less often, and logged once as away and once as back", async () => {
  const collector = collectorThat();
  collector.exporter.ended(ROW);
  collector.answers(() => new Response(null, { status: 503 }));
  expect(await collector.during(120)).toHaveLength(7);
  collector.answers(() => new Response("{}"));
  expect(await collector.during(60)).toContain("/v1/traces");
  expect(collector.logged).toEqual([
    ["collector_away", { reason: "the collector answered 503" }],
    ["collector_back", { spans_waiting: 1 }],
  ]);
});

test("a collector is not logged as back while there is nothing to send", async () => {
  const collector = collectorThat();
  await collector.during(1);
  collector.answers(() => new Response(null, { status: 503 }));
  expect(await collector.during(16)).toEqual(["/v1/metrics"]);
  await collector.during(5);
  expect(collector.logged).toEqual([["collector_away", { reason: "the collector answered 503" }]]);
});

test("a collector's Retry-After is respected", async () => {
  const collector = collectorThat();
  collector.exporter.ended(ROW);
  collector.answers(() => new Response(null, { status: 429, headers: { "retry-after": "45" } }));
  expect(await collector.during(90)).toHaveLength(2);
});

test("the number of spans that a collector refused, all or some, is logged", async () => {
  const collector = collectorThat();
  collector.exporter.ended(ROW);
  collector.exporter.ended(ROW);
  collector.answers(() => Response.json({ partialSuccess: { rejectedSpans: "1", errorMessage: "no room" } }));
  await collector.during(1);
  collector.exporter.ended(ROW);
  collector.answers(() => new Response(null, { status: 400 }));
  await collector.during(1);
  expect(collector.logged).toEqual([
    ["spans_refused", { spans: 1, reason: "no room" }],
    ["spans_refused", { spans: 1, status: 400 }],
  ]);
});

test("a collector that accepts only protobuf is logged with advice", async () => {
  const collector = collectorThat();
  collector.exporter.ended(ROW);
  collector.answers(() => new Response(null, { status: 415 }));
  await collector.during(15);
  const said = { status: 415, reason: expect.stringContaining("takes no JSON") };
  expect(collector.logged).toEqual([
    ["spans_refused", { spans: 1, ...said }],
    ["metrics_refused", said],
  ]);
});

test("a clock set back by an hour does not delay exports", async () => {
  const collector = collectorThat();
  expect(await collector.during(15)).toEqual(["/v1/metrics"]);
  collector.setBack(3_600_000);
  expect(await collector.during(16)).toEqual(["/v1/metrics", "/v1/metrics"]);
});
