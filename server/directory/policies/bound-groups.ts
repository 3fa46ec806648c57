import { knownGroups } from "../../store/groups/resource-groups.ts";
import { invalidField } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

/**
 * Refuses groups that do not belong to the tenant, naming `field`. Groups in `before` may have been deleted since, and
 * then must not block an unrelated change.
 */
export async function checkGroups(
  write: Write,
  tenantId: string,
  groupIds: readonly string[] | null | undefined,
  before: readonly string[] | null,
  field = "group_ids",
): Promise<void> {
  const fresh = (groupIds ?? []).filter((id) => before?.includes(id) !== true);
  const known = await knownGroups(write.trx, tenantId, fresh);
  const strange = fresh.filter((id) => !known.has(id));
  if (strange.length > 0) throw invalidField(field, `names no resource group of this tenant: ${strange.slice(0, 5).join(", ")}`);
}

/** Whether a policy bound to `groupIds` (null: every group) applies to a group, given its chain of itself and its ancestors. */
export function holdsFor(groupIds: readonly string[] | null, chain: readonly { readonly id: string }[]): boolean {
  return groupIds === null || chain.some(({ id }) => groupIds.includes(id));
}
