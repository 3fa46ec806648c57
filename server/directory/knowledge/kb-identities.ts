import type { KbIdentity, KbIdentityCreate, KbIdentityQuery, KbIdentityUpdate } from "@gatehouse/contracts/kb-identities";
import { uuid } from "../../kernel/ids.ts";
import { endUserExists } from "../../store/end-users.ts";
import {
  identitiesOf,
  type KbIdentityInsert,
  type KbIdentityPatch,
  type KbIdentityRow,
  kbIdentityStore,
  sameIdentity,
} from "../../store/kb-identities.ts";
import { type PortalOrigin, userActor } from "../people/portal/portal-logins.ts";
import { invalidField, notFound, records } from "../writes/records.ts";
import { type Directory, write } from "../writes/write.ts";

const RESOURCE = "kb-identities";

const read = (row: KbIdentityRow): KbIdentity => ({
  id: row.id,
  tenant_id: row.tenant_id,
  end_user_id: row.end_user_id,
  connector_type: row.connector_type as KbIdentity["connector_type"],
  source_identity: row.source_identity,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** Who end users are in the systems that documents come from (interface 2.5). */
export const kbIdentities = records<
  KbIdentityRow,
  KbIdentityInsert & { id: string },
  KbIdentityPatch,
  KbIdentity,
  KbIdentityCreate,
  KbIdentityUpdate,
  KbIdentityQuery,
  string
>({
  resource: RESOURCE,
  noun: "identity mapping",
  store: kbIdentityStore,
  read,
  tenantOf: (row) => row.tenant_id,
  unique: "of this end user in this source",
  twin: (change, tenantId, candidate) => sameIdentity(change.trx, tenantId, candidate),
  async toInsert(change, tenantId, body) {
    if (!(await endUserExists(change.trx, tenantId, body.end_user_id))) throw invalidField("end_user_id", "is no end user of this tenant");
    return { ...body, id: uuid(), tenant_id: tenantId, created_at: change.now, updated_at: change.now };
  },
  toPatch: async (change, _tenantId, _row, body) => ({ ...body, updated_at: change.now }),
  dependents: async () => [],
  // Each search asks anew who its reader is.
  notify: () => undefined,
});

interface Who {
  readonly tenantId: string;
  readonly userId: string;
}

export async function ownIdentities({ db }: Directory, { tenantId, userId }: Who): Promise<KbIdentity[]> {
  return (await identitiesOf(db, tenantId, userId)).map(read);
}

export function unlinkOwnIdentity(directory: Directory, { tenantId, userId }: Who, id: string, origin: PortalOrigin): Promise<KbIdentity> {
  return write(directory, userActor({ id: userId }, origin), async (change) => {
    const row = await kbIdentityStore.find(change.trx, tenantId, id, "lock");
    if (row?.end_user_id !== userId) throw notFound("mapping");
    await kbIdentityStore.remove(change.trx, id);
    const before = read(row);
    change.log({ tenant_id: tenantId, action: "delete", resource: RESOURCE, resource_id: id, before });
    return before;
  });
}
