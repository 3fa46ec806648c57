import { sql, type RawBuilder } from "kysely";
import type { Database, Trx } from "../database.ts";

/** Whether nothing of the tenant may be removed. In a transaction the answer holds until its end. */
export async function isUnderLegalHold(db: Database | Trx, tenantId: string): Promise<boolean> {
  const row = await db.selectFrom("tenants").select("legal_hold").where("id", "=", tenantId).forShare().executeTakeFirst();
  return row?.legal_hold != null;
}

/** Whether nothing may be removed that tenants have in common. In a transaction no hold begins before its end. */
export async function isAnyLegalHold(trx: Trx): Promise<boolean> {
  const rows = await trx.selectFrom("tenants").select("legal_hold").forShare().execute();
  return rows.some((row) => row.legal_hold !== null);
}

/** A kind of record with which content is deleted. */
export type HasContent = "end_user" | "group" | "agent";

/** Whether content would be deleted with the record. */
export async function hasContent(trx: Trx, kind: HasContent, id: string): Promise<boolean> {
  if (kind === "end_user") return true;
  const tables =
    kind === "agent"
      ? [sql`agent_tasks WHERE agent_id = ${id}`]
      : ["files", "batch_jobs", "video_jobs", "stored_responses"].map((table) => sql`${sql.table(table)} WHERE resource_group_id = ${id}`);
  const found = sql.join(
    tables.map((table) => sql`EXISTS (SELECT FROM ${table})`),
    sql` OR `,
  );
  const { rows } = await sql<{ found: boolean }>`SELECT ${found} AS found`.execute(trx);
  return rows[0]?.found === true;
}

/** A condition for statements that remove a tenant's data in batches, so that a hold set meanwhile ends them. */
export function isRemovable(tenantId: string): RawBuilder<boolean> {
  return sql<boolean>`NOT EXISTS (SELECT FROM tenants held WHERE held.id = ${tenantId} AND held.legal_hold IS NOT NULL)`;
}
