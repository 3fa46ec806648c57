import { sql } from "kysely";
import type { Database } from "../database.ts";
import type { ApprovalRow } from "./approvals.ts";

/** Expires and returns all requests that timed out, pending or approved but never used. */
export async function expireApprovals(db: Database): Promise<ApprovalRow[]> {
  const { rows } =
    await sql<ApprovalRow>`UPDATE approvals SET status = 'expired' WHERE (status = 'pending' OR (status = 'approved' AND consumed_at IS NULL)) AND expires_at <= now() RETURNING *`.execute(
      db,
    );
  return rows;
}

/**
 * Applies the tenant's retention to approvals that are over: those older than `bodies` lose their arguments and metadata, those older than
 * `calls` are deleted with their notifications. Returns how many approvals were changed.
 */
export async function pruneApprovals(
  db: Database,
  tenantId: string,
  { bodies, calls }: { readonly bodies: Date; readonly calls: Date },
): Promise<number> {
  const isOver = sql<boolean>`(status IN ('rejected', 'expired') OR consumed_at IS NOT NULL)`;
  const { rows } = await sql<{ gone: number }>`
    WITH gone AS (DELETE FROM approvals WHERE tenant_id = ${tenantId} AND created_at < ${calls} AND ${isOver} RETURNING id::text),
      untold AS (DELETE FROM notifications n USING gone WHERE n.tenant_id = ${tenantId} AND n.metadata->>'approval_id' = gone.id)
    SELECT count(*) AS gone FROM gone`.execute(db);
  const emptied = await db
    .updateTable("approvals")
    .set({ call_arguments: "{}", request_metadata: "{}" })
    .where("tenant_id", "=", tenantId)
    .where("created_at", "<", bodies)
    .where(isOver)
    .where(sql<boolean>`(call_arguments <> '{}' OR request_metadata <> '{}')`)
    .executeTakeFirst();
  return (rows[0]?.gone ?? 0) + Number(emptied.numUpdatedRows);
}
