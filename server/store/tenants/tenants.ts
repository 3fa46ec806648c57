import { sql, type Insertable, type Selectable, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { type RecordStore, writesById } from "../records/record-store.ts";
import type { TenantTable } from "../schema.ts";

export type TenantRow = Selectable<TenantTable>;
export type TenantInsert = Insertable<TenantTable>;
export type TenantPatch = Updateable<TenantTable>;

export interface TenantFilters {
  readonly search?: string | undefined;
}

export const tenantStore: RecordStore<TenantRow, TenantInsert, TenantPatch, TenantFilters, null> = {
  async page(db, _scope, filters, page) {
    let query = db.selectFrom("tenants");
    if (filters.search !== undefined) {
      const pattern = containing(filters.search);
      query = query.where((eb) => eb.or([eb("id", "ilike", pattern), eb("name", "ilike", pattern), eb("display_name", "ilike", pattern)]));
    }
    return pageOfRows(query, query.selectAll().orderBy("id"), page);
  },
  find: (db, _scope, id, lock) => {
    const query = db.selectFrom("tenants").selectAll().where("id", "=", id);
    return (lock === undefined ? query : query.forUpdate()).executeTakeFirst();
  },
  ...writesById("tenants"),
};

/** IDs of the first tenants, at most `limit`. */
export async function tenantIds(db: Database, limit: number): Promise<string[]> {
  const rows = await db.selectFrom("tenants").select("id").orderBy("id").limit(limit).execute();
  return rows.map((row) => row.id);
}

export async function tenantExists(db: Database | Trx, id: string): Promise<boolean> {
  return (await db.selectFrom("tenants").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
}

/** Whether the tenant has a compliance profile; undefined if there is no such tenant. */
export async function tenantHasProfile(db: Database, id: string): Promise<boolean | undefined> {
  const row = await db.selectFrom("tenants").select("compliance_frameworks").where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : row.compliance_frameworks !== null;
}

export interface TenantCounts {
  readonly admin_users: number;
  readonly end_users: number;
  readonly resource_groups: number;
  readonly providers: number;
  readonly models: number;
  readonly keys_active: number;
  readonly keys_revoked: number;
  readonly keys_expired: number;
}

export async function countRecords(db: Database | Trx, tenantId: string, now: Date): Promise<TenantCounts> {
  const { rows } = await sql<TenantCounts>`
    SELECT (SELECT count(*) FROM admin_users WHERE tenant_id = ${tenantId}) AS admin_users,
           (SELECT count(*) FROM end_users WHERE tenant_id = ${tenantId}) AS end_users,
           (SELECT count(*) FROM resource_groups WHERE tenant_id = ${tenantId}) AS resource_groups,
           (SELECT count(*) FROM providers WHERE tenant_id = ${tenantId}) AS providers,
           (SELECT count(*) FROM models WHERE tenant_id = ${tenantId}) AS models,
           count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})) AS keys_active,
           count(*) FILTER (WHERE revoked_at IS NOT NULL) AS keys_revoked,
           count(*) FILTER (WHERE revoked_at IS NULL AND expires_at <= ${now}) AS keys_expired
      FROM api_keys WHERE tenant_id = ${tenantId}`.execute(db);
  return rows[0] as TenantCounts;
}

export interface UsageTotals {
  readonly requests: number;
  readonly errors: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_micro_usd: number;
  readonly unpriced_requests: number;
}

export async function usageSince(db: Database, tenantId: string, since: Date): Promise<UsageTotals> {
  const { rows } = await sql<UsageTotals>`
    SELECT coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(errors), 0)::bigint AS errors,
           coalesce(sum(prompt_tokens), 0)::bigint AS prompt_tokens, coalesce(sum(completion_tokens), 0)::bigint AS completion_tokens,
           coalesce(sum(cost_micro_usd), 0)::bigint AS cost_micro_usd, coalesce(sum(unpriced_requests), 0)::bigint AS unpriced_requests
      FROM usage_hourly WHERE tenant_id = ${tenantId} AND hour >= ${since}`.execute(db);
  return rows[0] as UsageTotals;
}

export async function tenantIsEnabled(db: Database, id: string): Promise<boolean> {
  return (await db.selectFrom("tenants").select("enabled").where("id", "=", id).executeTakeFirst())?.enabled === true;
}

/** True if the tenant does not exist, so that the answer reveals nothing. */
export async function tenantTakesPasswords(db: Database | Trx, tenantId: string): Promise<boolean> {
  const row = await db.selectFrom("tenants").select("local_passwords").where("id", "=", tenantId).executeTakeFirst();
  return row?.local_passwords ?? true;
}

/** Whether people of the tenant may create their own API keys. */
export async function tenantAllowsOwnKeys(db: Database | Trx, tenantId: string): Promise<boolean> {
  const row = await db.selectFrom("tenants").select("portal_api_keys").where("id", "=", tenantId).executeTakeFirst();
  return row?.portal_api_keys === "on";
}
