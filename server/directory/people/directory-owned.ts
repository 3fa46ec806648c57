import { refuse, Refused } from "../../kernel/errors.ts";
import { scimSourceOfGroup } from "../../store/provisioning/scim-groups.ts";
import { directoryHasToken } from "../../store/provisioning/scim-tokens.ts";
import { scimUserOf } from "../../store/provisioning/scim-users.ts";
import type { Trx } from "../../store/database.ts";

/** The fields that a directory manages, by their names in manual changes. */
const PROFILE_FIELDS = ["username", "email", "display_name"] as const;

function owned(source: string): Refused {
  return new Refused(refuse("directory_owned", undefined, { extra: { directory: source } }));
}

/**
 * Refuses manual changes to fields that an external directory manages, as it would overwrite them. Deactivating is always
 * possible; somebody deactivated by the directory can only be reactivated by it, whoever deactivated them first.
 */
export async function guardDirectoryPerson(
  trx: Trx,
  person: { readonly id: string; readonly tenant_id: string; readonly is_active: boolean } & Readonly<
    Record<(typeof PROFILE_FIELDS)[number], string | null>
  >,
  change: Readonly<Partial<Record<(typeof PROFILE_FIELDS)[number], string | null | undefined>>> & {
    readonly is_active?: boolean | undefined;
  },
): Promise<void> {
  const changes = PROFILE_FIELDS.some((name) => change[name] !== undefined && change[name] !== person[name]);
  const revives = change.is_active === true && !person.is_active;
  if (!changes && !revives) return;
  const kept = await scimUserOf(trx, person.tenant_id, person.id);
  if (kept === undefined) return;
  if ((changes && kept.deleted_at === null) || (revives && !kept.active && (await directoryHasToken(trx, person.tenant_id, kept.source))))
    throw owned(kept.source);
}

/** Refuses manual changes to the members and name of a group that an external directory manages. */
export async function guardDirectoryGroup(trx: Trx, tenantId: string, groupId: string): Promise<void> {
  const source = await scimSourceOfGroup(trx, tenantId, groupId);
  if (source !== undefined) throw owned(source);
}

/** A directory's group can be removed manually only when no token of that directory is left. */
export async function guardDirectoryGroupRemoval(trx: Trx, tenantId: string, groupId: string): Promise<void> {
  const source = await scimSourceOfGroup(trx, tenantId, groupId);
  if (source !== undefined && (await directoryHasToken(trx, tenantId, source))) throw owned(source);
}
