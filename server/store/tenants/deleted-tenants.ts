import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { TenantRow } from "./tenants.ts";

/** Keeps the retention settings that the tenant's audit rows are subject to after it is deleted. */
export async function recordDeletedTenant(trx: Trx, row: Pick<TenantRow, "id" | "data_retention">, now: Date): Promise<void> {
  const data_retention = JSON.stringify(row.data_retention);
  await trx
    .insertInto("gone_tenants")
    .values({ id: row.id, data_retention, gone_at: now })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ data_retention, gone_at: now }))
    .execute();
}

export async function isTenantDeleted(db: Database, id: string): Promise<boolean> {
  return (await db.selectFrom("gone_tenants").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
}

const LEFT = sql<boolean>`(EXISTS (SELECT FROM audit_rows r WHERE r.tenant_id = g.id) OR EXISTS (SELECT FROM runs r WHERE r.tenant_id = g.id))`;

/** Whether a tenant of this ID was deleted and audit rows or runs of it are still kept. */
export async function hasRetainedRows(trx: Trx, id: string): Promise<boolean> {
  const { rows } = await sql`SELECT FROM gone_tenants g WHERE id = ${id} AND ${LEFT}`.execute(trx);
  return rows.length > 0;
}

/** Tables with data under a tenant's ID. Not rows and runs, which expire one by one, nor the admin log and similar records, which stay. */
const KEPT = [
  "usage_daily",
  "usage_hourly",
  "labelled_usage_hourly",
  "model_usage_daily",
  "former_model_names",
  "tool_usage_hourly",
  "skill_usage_hourly",
  "tool_results_hourly",
  "gone_groups",
  "run_hourly",
  "audit_retention",
] as const;

/** Deletes the remaining data of a deleted tenant; does nothing if a new tenant has its ID. */
export async function forgetDeletedTenant(trx: Trx, id: string): Promise<void> {
  const { numDeletedRows } = await trx.deleteFrom("gone_tenants").where("id", "=", id).executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) return;
  for (const table of KEPT) await sql`DELETE FROM ${sql.table(table)} WHERE tenant_id = ${id}`.execute(trx);
}

/** Deleted tenants whose last rows and runs have expired. */
export async function purgeableTenants(db: Database, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM gone_tenants g
     WHERE gone_at < ${now}::timestamptz - greatest((data_retention->>'log_days')::int, (data_retention->>'run_days')::int) * interval '1 day' AND NOT ${LEFT} ORDER BY id`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}
