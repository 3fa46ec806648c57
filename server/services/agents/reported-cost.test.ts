import { expect, test } from "bun:test";
import { exactValue } from "../../kernel/text/exact-numbers.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { ReportedCost } from "./reported-cost.ts";

test.each([
  ['{"cost_usd": 0.0125}', 0.0125],
  ['{"cost_usd": 0.01250000000000000000001}', 0.0125],
  ['{"usage": {"cost_usd": 1.2500000000000000000000000001}}', 1.25],
  ['{"cost_usd": -0.01250000000000000000001}', undefined],
  ['{"cost_usd": 1e400}', undefined],
  ['{"cost_usd": "0.0125"}', undefined],
])("the cost reported by an agent's message is recorded, with any number of digits: %s", async (metadata, cost) => {
  const row: Record<string, unknown> = {};
  const reported = new ReportedCost({ row } as unknown as Call, {} as AgentRoute, true, {} as never);
  await reported.take({ kind: "message", value: { metadata: exactValue(metadata) as JsonObject } });
  expect(row.llm_estimated_cost_usd).toBe(cost as never);
});
