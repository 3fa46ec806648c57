import { afterEach, expect, jest, test } from "bun:test";
import { exactValue } from "../../kernel/text/exact-numbers.ts";
import type { AgentTasks } from "../../directory/agents/tasks.ts";
import { recordedLog } from "../../ledger/test-support.ts";
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

afterEach(() => void jest.useRealTimers());

test("a stream renews its claim on part of a task's cost for as long as it lasts", async () => {
  jest.useFakeTimers();
  const renewed: unknown[] = [];
  const tasks = {
    countCost: () => Promise.resolve(1_000),
    renewCost: (...of: unknown[]) => Promise.resolve(void renewed.push(of)),
  } as unknown as AgentTasks;
  const call = { id: "row", row: {}, identity: { tenantId: "acme" } } as unknown as Call;
  const route = { agent: { id: "agent" } } as unknown as AgentRoute;
  const cost = new ReportedCost(call, route, true, { tasks, log: recordedLog() });
  const end = cost.renewClaim();
  jest.advanceTimersByTime(100 * 3_600_000);
  expect(renewed).toEqual([]);
  await cost.take({ kind: "task", value: { id: "t", metadata: { cost_usd: 0.001 } } });
  jest.advanceTimersByTime(12 * 3_600_000);
  expect(renewed).toEqual(Array.from({ length: 3 }, () => [{ tenant_id: "acme", agent_id: "agent", id: "t" }, "row"]));
  end();
  jest.advanceTimersByTime(100 * 3_600_000);
  expect(renewed).toHaveLength(3);
});
