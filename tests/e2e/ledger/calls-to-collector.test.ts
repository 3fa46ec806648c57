import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Served, serveModels } from "../../support/worlds/admin.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What an OpenTelemetry collector receives about calls. */

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly status: { code?: number };
}

const SECRET = "the prompt that nobody tells";
const TRACE = "0af7651916cd43dd8448eb211c80319c";

let world: World;
let served: Served;
let status = 200;
const texts: string[] = [];
const keys: (string | null)[] = [];
const spans: Span[] = [];
const metrics = new Map<string, any>();

const collector = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const text = await request.text();
    keys.push(request.headers.get("api-key"));
    if (status !== 200) return new Response(null, { status });
    texts.push(text);
    const document = JSON.parse(text);
    if (new URL(request.url).pathname === "/v1/traces")
      spans.push(...document.resourceSpans.flatMap((one: any) => one.scopeSpans.flatMap((scope: any) => scope.spans)));
    else for (const metric of document.resourceMetrics[0].scopeMetrics[0].metrics) metrics.set(metric.name, metric);
    return Response.json({});
  },
});

beforeAll(async () => {
  world = await startWorld({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}/`,
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20key",
    OTEL_SERVICE_NAME: "gateway-of-tests",
  });
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
});
afterAll(async () => {
  await world.end();
  await collector.stop(true);
});
afterEach(() => {
  status = 200;
});

const of = (span: Span, key: string) => Object.values(span.attributes.find((one) => one.key === key)?.value ?? {})[0];

async function call(headers: Record<string, string> = {}, model = "fake-1"): Promise<string> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${served.apiKey}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: SECRET }] }),
  });
  await response.arrayBuffer();
  return response.headers.get("x-request-id") ?? "";
}

const spanOf = (id: string) => until(() => spans.find((span) => of(span, "gatehouse.call.id") === id));

describe("the span of a call", () => {
  test("belongs to the caller's trace and has model, tokens and tenant but no content", async () => {
    const id = await call({ traceparent: `00-${TRACE}-b7ad6b7169203331-01` });
    const span = await spanOf(id);
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: "b7ad6b7169203331", name: "chat fake-1", kind: 2, status: {} });
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    expect(Math.abs(Number(BigInt(span.startTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(600_000);
    expect(
      ["gen_ai.operation.name", "gen_ai.request.model", "gatehouse.tenant.id", "http.response.status_code"].map((key) => of(span, key)),
    ).toEqual(["chat", "fake-1", "default", "200"]);
    expect(Number(of(span, "gen_ai.usage.input_tokens"))).toBeGreaterThan(0);
    expect(texts.join("")).not.toContain(SECRET);
    expect(texts.join("")).not.toContain(served.apiKey);
    expect(texts.join("")).toContain("gateway-of-tests");
    expect(new Set(keys)).toEqual(new Set(["a key"]));
  });

  test("shares a trace with other calls of the same run only", async () => {
    const first = await spanOf(await call({ "x-gw-run-id": "run-a" }));
    const second = await spanOf(await call({ "x-gw-run-id": "run-a" }));
    const other = await spanOf(await call());
    expect(first.parentSpanId).toBeUndefined();
    expect([of(first, "gatehouse.run.id") === of(second, "gatehouse.run.id"), first.traceId === second.traceId]).toEqual([true, true]);
    expect(first.spanId).not.toBe(second.spanId);
    expect(other.traceId).not.toBe(first.traceId);
  });

  test("has the error of a failed call", async () => {
    const span = await spanOf(await call({}, "no-such-model"));
    expect(span.status.code).toBe(2);
    expect(of(span, "error.type")).toBeString();
  });

  test("is sent again until the collector accepts it, without delaying the response", async () => {
    status = 503;
    const id = await call();
    const refused = keys.length;
    await until(() => keys.length > refused + 1);
    expect(spans.some((span) => of(span, "gatehouse.call.id") === id)).toBe(false);
    status = 200;
    expect((await spanOf(id)).name).toBe("chat fake-1");
  });
});

test("durations and token counts are exported as metrics of the GenAI conventions", async () => {
  await call();
  const usage = await until(() =>
    metrics.get("gen_ai.client.token.usage")?.histogram.dataPoints.find((point: any) => Number(point.count) > 0),
  );
  expect(usage.bucketCounts.length).toBe(usage.explicitBounds.length + 1);
  expect(usage.bucketCounts.reduce((sum: number, one: string) => sum + Number(one), 0)).toBe(Number(usage.count));
  expect(metrics.get("gen_ai.client.operation.duration").histogram.aggregationTemporality).toBe(2);
});
