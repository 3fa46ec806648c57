import type { KbIdentity, KbIdentityCreate, KbIdentityQuery, KbIdentityUpdate } from "@gatehouse/contracts/kb-identities";
import { uuid } from "../../kernel/ids.ts";
import { endUserExists } from "../../store/people/end-users.ts";
import {
  type KbIdentityInsert,
  type KbIdentityPatch,
  type KbIdentityRow,
  kbIdentityStore,
  sameIdentity,
} from "../../store/knowledge/kb-identities.ts";
import { invalidField, records } from "../writes/records.ts";

export const KB_IDENTITIES = "kb-identities";

export const readKbIdentity = (row: KbIdentityRow): KbIdentity => ({
  id: row.id,
  tenant_id: row.tenant_id,
  end_user_id: row.end_user_id,
  connector_type: row.connector_type as KbIdentity["connector_type"],
  source_identity: row.source_identity,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** The identities of end users in the systems that documents come from (interface 2.5). */
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
  resource: KB_IDENTITIES,
  noun: "identity mapping",
  store: kbIdentityStore,
  read: readKbIdentity,
  tenantOf: (row) => row.tenant_id,
  unique: "of this end user in this source",
  takenBy: (change, tenantId, candidate) => sameIdentity(change.trx, tenantId, candidate),
  async toInsert(change, tenantId, body) {
    if (!(await endUserExists(change.trx, tenantId, body.end_user_id))) throw invalidField("end_user_id", "is no end user of this tenant");
    return { ...body, id: uuid(), tenant_id: tenantId, created_at: change.now, updated_at: change.now };
  },
  toPatch: async (change, _tenantId, _row, body) => ({ ...body, updated_at: change.now }),
  dependents: async () => [],
  // Nothing to announce: each search looks up its reader's identities.
  notify: () => undefined,
});
