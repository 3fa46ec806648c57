import type { GroupScope } from "../../directory/snapshot.ts";
import type { ToolServerEntry } from "../../directory/tools/tool-server-entry.ts";
import { webSearchServerId } from "../../directory/web-search/own-server.ts";
import type { MicroUsd } from "../../kernel/money.ts";
import type { Call } from "../../road/call.ts";
import { toolsOf } from "../../road/target.ts";
import { agentPlan, agentPlanInRun } from "./plans/agent-plan.ts";
import type { CallPlan } from "./plans/plan.ts";
import { routePlan } from "./plans/tool-plan.ts";

interface PricedToolCall {
  /** Cache key of the plan. */
  readonly key: string;
  readonly micros: MicroUsd;
  plan(principal: string, at: number): CallPlan;
  inRun(plan: CallPlan): CallPlan;
}

/**
 * The most that a call of a tool server can cost, which is held, and the limits that apply to it. Only web searches
 * have a price, which counts against budgets and the run's cost ceiling.
 */
export function pricedToolCall(call: Call, scope: GroupScope, server: ToolServerEntry): PricedToolCall {
  const { tenant } = scope;
  const capability = toolsOf(call)?.capability;
  if (server.id !== webSearchServerId(tenant.id) || capability?.type !== "tool" || capability.name !== "web_search") {
    const [key, plan] = routePlan(call, scope, server);
    return { key, micros: 0, plan, inRun: (unpriced) => unpriced };
  }
  return {
    key: `searches ${server.id}`,
    // A search without a price holds the minimum, so that a budget that is used up admits nothing more.
    micros: Math.max(1, ...tenant.webSearch.map(({ priceMicros }) => priceMicros ?? 1)),
    plan: (...by) => agentPlan(scope, server, ...by),
    inRun: (plan) => agentPlanInRun(plan, call),
  };
}
