import type { GroupScope } from "../../directory/snapshot.ts";
import type { Call } from "../../road/call.ts";
import { type CallPlan, withBudgets, withRun } from "./plan.ts";
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

/** The plan with what its run may cost. */
export function agentPlanInRun(plan: CallPlan, scope: GroupScope, { row }: Call): CallPlan {
  const ceiling = scope.tenant.policies.effective(scope.groupId, "run_ceilings").get(RUN_COST);
  if (ceiling === undefined) return plan;
  const group = { id: scope.groupId, name: scope.groupName };
  return withRun(plan, String(row.root_task_id), group, new Map([[RUN_COST, ceiling]]), row.trace_continuity === "minted");
}
