import { merge } from "../../directory/limits/merge.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import type { Call } from "../call.ts";
import { compileGovernance, type Governance } from "./compiled-governance.ts";
import { routeOf } from "../target.ts";

/** The default temperature of the compatible APIs. */
export const DEFAULT_TEMPERATURE = 1;

const compiled = new WeakMap<GroupScope, Map<string, Governance>>();

/** Compiled when a group first calls a model under a configuration, then cached. */
export function governanceOf(call: Call, model: ModelEntry): Governance {
  const scope = call.scope as GroupScope;
  let byModel = compiled.get(scope);
  if (byModel === undefined) {
    byModel = new Map();
    compiled.set(scope, byModel);
  }
  const members = routeOf(call)?.group == null ? [model] : (routeOf(call)?.members ?? []).map((member) => member.model);
  const key = members.map(({ id }) => id).join(" ");
  let found = byModel.get(key);
  if (found === undefined) {
    // Any member of a routing group may serve the call, so the governance of all of them is merged.
    const { policies } = scope.tenant;
    found = compileGovernance(members.map(({ id }) => policies.effective(scope.groupId, "llm_governance", id)).reduce(merge));
    byModel.set(key, found);
  }
  return found;
}
