import type { GroupScope } from "../../../directory/snapshot.ts";
import type { Call } from "../../../road/call.ts";
import { type CallPlan, withBudgets, withRun } from "./plan.ts";
import { runBounds } from "../run-bounds.ts";
import { toolPlan } from "./tool-plan.ts";

const RUN_COST = "max_cost_per_run_usd";

/**
 * What a message to an agent is held to: the limits on calls of tool servers, with the agent in the place of the server, and
 * the budgets of the group and of every group above it, which what agents report of their cost counts against.
 */
export function agentPlan(
  scope: GroupScope,
  agent: { readonly id: string; readonly name: string },
  principal: string,
  at: number,
): CallPlan {
  return withBudgets(toolPlan(scope, agent, principal, at), scope, at);
}

/** What is held to the budgets of the group and of every group above it, and to nothing else: what an agent's task cost. */
export function budgetPlan(scope: GroupScope, at: number): CallPlan {
  return withBudgets({ tenantId: scope.tenant.id, scopes: [], windows: [], buckets: [], needsPrice: false, needsBound: false }, scope, at);
}

/** The plan with what its run may cost. */
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
