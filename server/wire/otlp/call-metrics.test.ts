import { expect, test } from "bun:test";
import type { CallFacts } from "./call-facts.ts";
import { CallMetrics } from "./call-metrics.ts";

const callOf = (proxy_type: string, proxy_subtype: string) =>
  ({ id: "01M8FHJQWRTX0YDGZVSGTPDZ8H", timestamp: "2026-11-27T22:21:26.000000Z", proxy_type, proxy_subtype, duration_ms: 20 }) as CallFacts;

function countedOperations(calls: readonly CallFacts[]): (string | undefined)[] {
  const metrics = new CallMetrics(0);
  for (const call of calls) metrics.add(call);
  const [durations] = metrics.read(1) as {
    histogram: { dataPoints: { attributes: { key: string; value: { stringValue?: string } }[] }[] };
  }[];
  return (durations?.histogram.dataPoints ?? []).map(
    ({ attributes }) => attributes.find(({ key }) => key === "gen_ai.operation.name")?.value.stringValue,
  );
}

test("operation durations are recorded for calls that reach an upstream, not for lists and file operations", () => {
  const lists = ["models_list", "gemini_models_list", "gemini_model_detail", "file_upload", "video_job"];
  expect(countedOperations(lists.map((subtype) => callOf("llm", subtype)))).toEqual([]);
  const asking = [
    "chat_completions",
    "gemini_stream_generate_content",
    "gemini_batch_embed_contents",
    "gemini_count_tokens",
    "image_generation",
  ];
  expect(countedOperations(asking.map((subtype) => callOf("llm", subtype)))).toEqual([
    "chat",
    "generate_content",
    "embeddings",
    "gemini_count_tokens",
    "image_generation",
  ]);
});

test("tokens and cost beyond the limit of series are recorded in one overflow series", () => {
  const metrics = new CallMetrics(0);
  const used = { llm_model_used: "m", llm_prompt_tokens: 3, llm_estimated_cost_usd: 1 };
  for (let n = 0; n < 2_100; n++)
    metrics.add({ ...callOf("llm", "chat_completions"), ...used, llm_model_used: `m${n}`, tenant_id: `t${n}` } as CallFacts);
  const [, tokens, cost] = metrics.read(1) as any[];
  const rest = (points: any[]) => points.find(({ attributes }) => attributes[0].key === "otel.metric.overflow");
  expect(rest(tokens.histogram.dataPoints)).toMatchObject({ attributes: [{ value: { boolValue: true } }], count: "100", sum: 300 });
  expect(rest(cost.sum.dataPoints)).toMatchObject({ attributes: [{ value: { boolValue: true } }], asDouble: 100 });
});
