import { expect, test } from "bun:test";
import { spanOfCall } from "./call-span.ts";

test("the cost attribute is always a double, also for whole numbers", () => {
  const costOf = (usd: number) => {
    const facts = { id: "01M8FHJQWRTX0YDGZVSGTPDZ8H", timestamp: "2026-11-27T22:21:26.000000Z", llm_estimated_cost_usd: usd };
    const { attributes } = spanOfCall(facts as never) as { attributes: { key: string; value: object }[] };
    return attributes.find(({ key }) => key === "gatehouse.cost.usd")?.value;
  };
  expect([0, 2, 0.25].map(costOf)).toEqual([{ doubleValue: 0 }, { doubleValue: 2 }, { doubleValue: 0.25 }]);
});

function told(facts: object): Record<string, unknown> {
  const span = spanOfCall({ id: "01M8FHJQWRTX0YDGZVSGTPDZ8H", timestamp: "2026-11-27T22:21:26.000000Z", ...facts } as never) as {
    name: string;
    attributes: { key: string; value: object }[];
  };
  return { name: span.name, ...Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])) };
}

test("A2A requests have their method, and only those that make an agent act are invoke_agent spans", () => {
  expect(told({ proxy_type: "a2a", proxy_subtype: "message_stream" })).toMatchObject({
    name: "invoke_agent",
    "gen_ai.operation.name": "invoke_agent",
    "a2a.method.name": "SendStreamingMessage",
  });
  const looked = told({ proxy_type: "a2a", proxy_subtype: "task_get" });
  expect(looked).toMatchObject({ name: "GetTask", "a2a.method.name": "GetTask" });
  const card = told({ proxy_type: "a2a", proxy_subtype: "agent_card" });
  expect(card).toMatchObject({ name: "agent_card" });
  for (const one of [looked, card]) expect(one).not.toHaveProperty(["gen_ai.operation.name"]);
});

test("a prompt of a tool server is recorded as a prompt, not as a tool", () => {
  const prompt = told({ proxy_type: "mcp", mcp_method: "prompts/get", mcp_capability_name: "greeting" });
  expect(prompt).toMatchObject({ "gen_ai.prompt.name": "greeting", "mcp.method.name": "prompts/get" });
  expect(prompt).not.toHaveProperty(["gen_ai.tool.name"]);
});

test("catalog providers have the names of the semantic conventions, others their own", () => {
  const nameOf = (llm_provider: string | null) => told({ proxy_type: "llm", llm_provider })["gen_ai.provider.name"];
  expect(["openai", "gemini", "bedrock", "azure", "xai", "our-own", null].map(nameOf)).toEqual([
    "openai",
    "gcp.gemini",
    "aws.bedrock",
    "azure.ai.openai",
    "x_ai",
    "our-own",
    undefined,
  ]);
});
