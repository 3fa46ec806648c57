import { pageOfRows } from "../records/paging.ts";
import { type Insertable, type Selectable, type Updateable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { ScimTokenTable } from "../tables/provisioning.ts";

export type ScimTokenRow = Selectable<ScimTokenTable>;
export type ScimTokenInsert = Insertable<ScimTokenTable>;

export const scimTokenStore: RecordStore<ScimTokenRow, ScimTokenInsert, Updateable<ScimTokenTable>, object> = {
  async page(db, tenantId, _filters, page) {
    const query = db.selectFrom("scim_tokens").where("tenant_id", "=", tenantId);
    return pageOfRows(query, query.selectAll().orderBy("created_at").orderBy("id"), page);
  },
  find: findInTenant("scim_tokens"),
  ...writesById("scim_tokens"),
};

/** Only for an enabled tenant. */
export async function scimTokenByHash(db: Database, hash: string): Promise<ScimTokenRow | undefined> {
  return db
    .selectFrom("scim_tokens as t")
    .innerJoin("tenants", "tenants.id", "t.tenant_id")
    .selectAll("t")
    .where("t.token_hash", "=", hash)
    .where("tenants.enabled", "=", true)
    .executeTakeFirst();
}

/** Accurate to a minute, so that a directory sending thousands of requests causes few writes. */
export async function noteScimTokenUse(db: Database, id: string, at: Date): Promise<void> {
  await sql`UPDATE scim_tokens SET last_used_at = ${at} WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at < ${at}::timestamptz - interval '1 minute')`.execute(
    db,
  );
}

/** Whether the directory has a valid token. */
export async function directoryHasToken(db: Database | Trx, tenantId: string, source: string): Promise<boolean> {
  const row = await db
    .selectFrom("scim_tokens")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("source", "=", source)
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", sql<Date>`now()`)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
