import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { rowsOf, type Served, serveModels } from "../../support/worlds/admin.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { startWorld, type World } from "../../support/world.ts";

/** The trace ingest endpoint as used by OpenTelemetry's own exporter. */
let world: World;
let served: Served;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
});
afterAll(() => world.end());

/** An instrumented program: its tracer and the exporter that sends its spans. */
function program(compression: "gzip" | "none", apiKey = served.apiKey) {
  const ended = new InMemorySpanExporter();
  const tracer = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: ended })] }).getTracer("agent", "1.0");
  const exporter = new OTLPTraceExporter({
    url: `${world.gateway.runtimeUrl}/v1/ingest/otel/v1/traces`,
    headers: { "x-api-key": apiKey },
    compression: compression as never,
    timeoutMillis: PATIENCE_MS,
  });
  return {
    span(name: string, parent: Context = ROOT_CONTEXT, kind = SpanKind.CLIENT): Span {
      return tracer.startSpan(name, { kind }, parent);
    },
    under: (span: Span): Context => trace.setSpan(ROOT_CONTEXT, span),
    /** Sends the ended spans; resolves with the exporter's own verdict: 0 for success. */
    async flush(change: (span: ReadableSpan) => ReadableSpan = (span) => span): Promise<{ code: number; error?: Error | undefined }> {
      const spans = ended.getFinishedSpans().map(change);
      ended.reset();
      return new Promise((resolve) => exporter.export(spans, resolve));
    },
  };
}

function inference(span: Span, input: number, output: number): Span {
  return span.setAttributes({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-x",
    "gen_ai.response.model": "gpt-x-2026",
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
  });
}

const runOf = async (id: string): Promise<any> =>
  (await fetch(`${world.gateway.runtimeUrl}/v1/runs/${id}`, { headers: { "x-api-key": served.apiKey } })).json();

test.each(["gzip", "none"] as const)(
  "an agent's trace with compression %s becomes one row for each span, with tokens counted once",
  async (compression) => {
    const agent = program(compression);
    const root = agent
      .span("invoke_agent planner", ROOT_CONTEXT, SpanKind.INTERNAL)
      .setAttributes({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner" });
    agent.span("step 1", agent.under(root)).setAttributes({ "gen_ai.operation.name": "agent_step" }).end();
    inference(agent.span("chat gpt-x", agent.under(root)), 100, 20).end();
    agent
      .span("execute_tool search", agent.under(root), SpanKind.INTERNAL)
      .setAttributes({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search" })
      .setStatus({ code: SpanStatusCode.ERROR, message: "no such index" })
      .end();
    root.end();
    const { traceId } = root.spanContext();
    expect(await agent.flush()).toEqual({ code: 0 });

    const rows = await rowsOf(world.admin, { trace_id: traceId, source: "otel" }, 4);
    expect(
      Object.fromEntries(
        rows.map((row) => [
          row.proxy_subtype,
          [row.proxy_type, row.llm_total_tokens, row.success, row.mcp_capability_name, row.trace_continuity],
        ]),
      ),
    ).toEqual({
      invoke_agent: ["a2a", null, true, null, "external"],
      agent_step: ["llm", null, true, null, "external"],
      chat: ["llm", 120, true, null, "external"],
      execute_tool: ["mcp", null, false, "search", "external"],
    });
    expect(await runOf(traceId)).toMatchObject({ calls: 4, llm_calls: 1, external_calls: 4, total_tokens: 120 });
  },
);

test("an invalid span alone is rejected, and the rest of the batch is recorded without a retry", async () => {
  const agent = program("gzip");
  inference(agent.span("good"), 1, 2).end();
  agent.span("bad").end();
  let traceId = "";
  const sent = await agent.flush((span) => {
    if (span.name === "good") {
      ({ traceId } = span.spanContext());
      return span;
    }
    return Object.create(span, { spanContext: { value: () => ({ ...span.spanContext(), spanId: "0000000000000000" }) } });
  });
  // A partial success counts as success for an exporter: it must not send the batch again.
  expect(sent).toEqual({ code: 0 });
  expect(await rowsOf(world.admin, { trace_id: traceId, source: "otel" }, 1)).toHaveLength(1);
  const [request] = await rowsOf(world.admin, { proxy_subtype: "otel_traces", success: true }, 1);
  expect(request.custom_metadata.spans_recorded).toBe(1);
});

test("a span around a call through the gateway joins that call's row, and nothing is counted twice", async () => {
  const agent = program("gzip");
  const around = inference(agent.span("chat fake-1"), 1000, 500);
  const { traceId, spanId } = around.spanContext();
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": served.apiKey,
      "x-gw-run-id": "instrumented",
      traceparent: `00-${traceId}-${spanId}-01`,
    },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hello" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  around.end();
  const before = await runOf("instrumented");
  expect(before.total_tokens).toBeGreaterThan(0);
  expect(await agent.flush()).toEqual({ code: 0 });

  const rows = await rowsOf(world.admin, { trace_id: traceId }, 2);
  const carried = rows.find((row) => row.source === "gateway");
  const told = rows.find((row) => row.source === "otel");
  expect(rows).toHaveLength(2);
  expect([carried.span_id, told.span_id, told.llm_total_tokens, told.custom_metadata.joined_row_id, told.root_task_id]).toEqual([
    spanId,
    spanId,
    null,
    carried.id,
    carried.root_task_id,
  ]);
  const { calls, total_tokens, cost_usd, turns } = before;
  expect(await runOf("instrumented")).toMatchObject({ calls, total_tokens, cost_usd, turns });
});

test("an invalid API key is an error for the exporter, and no span is recorded", async () => {
  const agent = program("gzip", `sk_gw_api_${"n".repeat(43)}`);
  const span = inference(agent.span("chat gpt-x"), 1, 1);
  span.end();
  const { code, error } = await agent.flush();
  expect([code, (error as { code?: number } | undefined)?.code]).toEqual([1, 401]);
  const [refused] = await rowsOf(world.admin, { proxy_subtype: "otel_traces", error_type: "credential_unknown" }, 1);
  expect(refused.http_status_code).toBe(401);
  // Rows arrive in order: a stored span would be before the row of its refusal, which is there.
  expect((await world.admin.post("/v1/admin/proxy-logs/query", { filters: { trace_id: span.spanContext().traceId } })).rows).toEqual([]);
});

test("implausible token counts are ignored, so that totals can still hold later calls", async () => {
  const agent = program("gzip");
  const root = agent.span("agent");
  // Together more than a total can hold.
  for (let told = 0; told < 1_100; told++) inference(agent.span("chat gpt-x", agent.under(root)), Number.MAX_SAFE_INTEGER, 20).end();
  expect(await agent.flush()).toEqual({ code: 0 });
  const { traceId } = root.spanContext();
  expect(await runOf(traceId)).toMatchObject({ calls: 1_100, prompt_tokens: 0, completion_tokens: 22_000 });
  const [told] = await rowsOf(world.admin, { trace_id: traceId, source: "otel" }, 200);
  expect([told.llm_prompt_tokens, told.llm_completion_tokens, told.llm_model_used]).toEqual([null, 20, "gpt-x-2026"]);
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": served.apiKey, "content-type": "application/json", "x-request-id": "behind-spans" },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hi" }] }),
  });
  expect(answer.status).toBe(200);
  const [row] = await rowsOf(world.admin, { proxy_subtype: "chat_completions", request_id: "behind-spans" }, 1);
  expect([row.custom_metadata, row.llm_model_used]).toEqual([null, "fake-1"]);
});
