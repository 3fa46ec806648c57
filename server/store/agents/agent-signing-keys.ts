import type { Insertable, Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { lockName } from "../connections/named-lock.ts";
import type { AgentSigningKeyTable } from "../tables/agents.ts";

export type AgentSigningKeyRow = Selectable<AgentSigningKeyTable>;

/** Newest first, without retired keys. */
export async function signingKeys(db: Database | Trx, tenantId: string, now: Date): Promise<AgentSigningKeyRow[]> {
  return db
    .selectFrom("agent_signing_keys")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where((eb) => eb.or([eb("retires_at", "is", null), eb("retires_at", ">", now)]))
    .orderBy("created_at", "desc")
    .orderBy("kid")
    .execute();
}

/** Replaces the newest key, which retires at `retiresAt`. Serialised per tenant by an advisory lock. */
export async function insertSigningKey(trx: Trx, key: Insertable<AgentSigningKeyTable>, retiresAt: Date): Promise<void> {
  await lockName(trx, `agent_signing_keys/${key.tenant_id}`);
  await trx
    .updateTable("agent_signing_keys")
    .set({ retires_at: retiresAt })
    .where("tenant_id", "=", key.tenant_id)
    .where("retires_at", "is", null)
    .execute();
  await trx.insertInto("agent_signing_keys").values(key).execute();
}
