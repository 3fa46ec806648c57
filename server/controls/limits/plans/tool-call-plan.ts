import type { GroupScope, ModelEntry } from "../../../directory/snapshot.ts";
import type { CallPlan } from "./plan.ts";
import { addWindows, type Parts, type QuotaTerms } from "./plan-parts.ts";

const TOOL_CALLS: readonly QuotaTerms[] = [
  ["tool_use.max_tool_calls_per_hour", "tool_calls", "hour", null, "tool_calls_per_hour"],
  ["tool_use.max_tool_calls_per_day", "tool_calls", "day", null, "tool_calls_per_day"],
];

/** The plan for tool calls in a model's answers: the caps of the group and its ancestors, for all models and for this one. */
export function toolCallPlan(scope: GroupScope, model: ModelEntry, at: number): CallPlan {
  const { policies } = scope.tenant;
  const parts: Parts = { scopes: [], windows: [], buckets: [] };
  for (const { id, name } of scope.chain)
    for (const itemId of ["", model.id]) {
      const rules = policies.ownFields(id, "llm_governance", itemId);
      const caps = TOOL_CALLS.filter(([path]) => rules.has(path));
      if (caps.length === 0) continue;
      const scopes = parts.scopes.push({
        key: `t/${id}/${itemId}`,
        ...(itemId === "" ? { kind: "group" } : { kind: "model", itemName: model.name }),
        groupId: id,
        groupName: name,
        cooldownMs: 0,
        maxConcurrent: null,
      });
      addWindows(
        parts,
        {
          scope: scopes - 1,
          counted: { prefix: `t/${id}/${itemId}`, epoch: policies.epochOf(id) },
          quotas: caps,
          effective: policies.effective(id, "llm_governance", itemId),
          truth: () => ({ kind: "tool_results", groupId: id, modelId: itemId === "" ? null : itemId }),
        },
        at,
      );
    }
  return { tenantId: scope.tenant.id, ...parts, needsPrice: false, needsBound: false };
}
