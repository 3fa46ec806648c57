import type { Fields } from "../../directory/limits/merge.ts";
import type { Call } from "../../road/call.ts";

interface SettingGroup {
  readonly id: string;
  readonly name: string;
}

/** The ceilings of a call's run, and the group that set each. */
export interface RunBounds {
  readonly ceilings: Fields;
  setBy(field: string): SettingGroup;
}

/**
 * The strictest ceilings of the call's group and, if agents delegated the run to it, of the groups of those agents:
 * work that a system delegates stays within its envelope. Null if there are none.
 */
export function runBounds({ scope, delegation }: Pick<Call, "scope" | "delegation">): RunBounds | null {
  if (scope === null) return null;
  const { policies } = scope.tenant;
  const own = { id: scope.groupId, name: scope.groupName };
  const set = policies.effective(own.id, "run_ceilings");
  if (delegation === undefined) return set.size === 0 ? null : { ceilings: set, setBy: () => own };
  const ceilings = new Map(set);
  const groups = new Map<string, SettingGroup>();
  for (const id of new Set(delegation.hops.map(({ group }) => group))) {
    const node = policies.node(id);
    // The group may have been deleted since the delegation.
    if (node === undefined || id === own.id) continue;
    for (const [field, limit] of policies.effective(id, "run_ceilings")) {
      const known = ceilings.get(field);
      if (known !== undefined && (known as number) <= (limit as number)) continue;
      ceilings.set(field, limit);
      groups.set(field, { id, name: node.name });
    }
  }
  return ceilings.size === 0 ? null : { ceilings, setBy: (field) => groups.get(field) ?? own };
}
