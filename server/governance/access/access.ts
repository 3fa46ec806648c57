import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { refuse } from "../../kernel/errors.ts";
import type { RequestControl } from "../control.ts";
import { PASS, refused } from "../decision.ts";
import type { ModelReference } from "../view.ts";

/** A model is open to a call when it is granted to the call's resource group, on its own. Sets `call.model`. */
export const access: RequestControl = {
  name: "access",
  decide(call, view) {
    if (view.model === null || call.scope === null) return PASS;
    const model = resolve(call.scope, view.model);
    if (model === null) return refused(refuse("model_not_found", `There is no model ${JSON.stringify(view.model.id ?? view.model.name)}.`));
    if (!call.scope.granted.has(model.id)) return refused(refuse("model_not_allowed"));
    if (!model.enabled || !model.provider.enabled) return refused(refuse("model_disabled"));
    if (!model.modes.includes(view.model.mode)) {
      return refused(refuse("model_mode_mismatch", `The model ${JSON.stringify(model.name)} does not serve ${view.model.mode}; it serves ${model.modes.join(", ")}.`));
    }
    call.model = model;
    return PASS;
  },
};

/** By id, then by gateway name, then by the provider's name, where a granted model wins over its namesakes. */
function resolve(scope: GroupScope, reference: ModelReference): ModelEntry | null {
  const { tenant } = scope;
  if (reference.id !== null) return tenant.models.get(reference.id) ?? null;
  if (reference.name === null) return null;
  const named = tenant.modelsByName.get(reference.name);
  if (named !== undefined) return named;
  const sharing = tenant.modelsByModelName.get(reference.name) ?? [];
  return sharing.find((model) => scope.granted.has(model.id)) ?? sharing[0] ?? null;
}
