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

test.each(Object.entries(COUNTS))("an implausible count of %s is ignored", (fact, name) => {
  const told = (count: number) => genAiFacts(inference({ key: name, value: { intValue: String(count) } }))[fact as keyof typeof COUNTS];
  expect([told(1_000_000_000), told(1_000_000_001), told(Number.MAX_SAFE_INTEGER)]).toEqual([1_000_000_000, null, null]);
});

test("malformed attributes are skipped, and __proto__ is an ordinary name", () => {
  const member = { key: "m", value: { intValue: "1" } };
  const list = { key: "list", value: { kvlistValue: { values: [null, {}, member] } } };
  const proto = { key: "__proto__", value: { kvlistValue: { values: [{ key: COUNTS.promptTokens, value: { intValue: "5" } }] } } };
  const facts = genAiFacts(inference(list, proto));
  expect([facts.rest.list, facts.promptTokens]).toEqual([{ m: 1 }, null]);
});

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

test("contents of calls are removed from the attributes of any instrumentation", () => {
  const content = [
    "ai.response.text",
    "ai.response.toolCalls",
    "ai.response.object",
    "ai.toolCall.args",
    "ai.value",
    "ai.request.headers.x-auth-token",
    "embedding.text",
    "reranker.query",
    "langfuse.observation.input",
    "mlflow.spanOutputs",
    "braintrust.output_json",
    "gen_ai.prompt.0.content",
    "ai.response.files",
    "ai.documents",
    "gcp.vertex.agent.llm_request",
    "gcp.vertex.agent.tool_response",
    "gcp.vertex.agent.data",
    "request_data",
    "events",
    "tool.parameters",
  ];
  const facts = [
    "ai.response.finishReason",
    "gen_ai.output.type",
    "output.mime_type",
    "ai.model.id",
    "session.id",
    "gcp.vertex.agent.event_id",
    "llm.invocation_parameters",
  ];
  const { rest } = genAiFacts(inference(...[...content, ...facts].map((name) => text(name, "Ada owes 12 euros"))));
  expect(Object.keys(rest)).toEqual(facts);
  expect(genAiFacts(inference({ key: "llm.token_count.prompt", value: { intValue: "5" } })).rest).toEqual({ "llm.token_count.prompt": 5 });
});

test("input and output are read from spans of Google's Agent Development Kit", () => {
  const asked = genAiFacts(inference(text("gcp.vertex.agent.llm_request", "[1]"), text("gcp.vertex.agent.llm_response", "two")));
  expect([asked.input, asked.output]).toEqual(["[1]", "two"]);
});

test("input, output and tool calls are read from spans of the AI SDK", () => {
  const asked = genAiFacts(inference(text("ai.prompt.messages", "[1]"), text("ai.response.text", "two")));
  expect([asked.input, asked.output]).toEqual(["[1]", "two"]);
  const attributes = [
    text("ai.operationId", "ai.toolCall"),
    text("ai.toolCall.name", "weather"),
    text("ai.toolCall.args", "{}"),
    text("ai.toolCall.result", "rain"),
  ];
  const span = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", startTimeUnixNano: "1", endTimeUnixNano: "2" };
  const [told] = decodeTraces({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, attributes }] }] }] })?.spans ?? [];
  const { kind, operation, tool, input, output } = genAiFacts(told as Span);
  expect([kind, operation, tool, input, output]).toEqual(["mcp", "execute_tool", "weather", "{}", "rain"]);
});
