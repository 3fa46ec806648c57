import type { GroupScope } from "../../../directory/snapshot.ts";
import type { Call } from "../../../road/call.ts";
import { type CallPlan, withBudgets, withRun } from "./plan.ts";
import { runBounds } from "../run-bounds.ts";
import { toolPlan } from "./tool-plan.ts";

const RUN_COST = "max_cost_per_run_usd";

/**
 * Limits on messages to an agent: those on tool servers, with the agent in the server's place, plus the budgets of the
 * group and all groups above it, against which the cost reported by agents counts.
 */
export function agentPlan(
  scope: GroupScope,
  agent: { readonly id: string; readonly name: string },
  principal: string,
  at: number,
): CallPlan {
  return withBudgets(toolPlan(scope, agent, principal, at), scope, at);
}

/** Only the budgets of the group and all groups above it, for the cost of an agent's task. */
export function budgetPlan(scope: GroupScope, at: number): CallPlan {
  return withBudgets({ tenantId: scope.tenant.id, scopes: [], windows: [], buckets: [], needsPrice: false, needsBound: false }, scope, at);
}

/** Adds the run's cost ceiling to the plan. */
export function agentPlanInRun(plan: CallPlan, call: Call): CallPlan {
  const bounds = runBounds(call);
  const ceiling = bounds?.ceilings.get(RUN_COST);
  if (bounds === null || ceiling === undefined) return plan;
  const { row } = call;
  return withRun(
    plan,
    String(row.root_task_id),
    { ...bounds, ceilings: new Map([[RUN_COST, ceiling]]) },
    row.trace_continuity === "minted",
  );
}
