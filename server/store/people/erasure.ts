import { eraseTasks } from "../agents/agent-tasks.ts";
import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { LOCK } from "./erasure-lock.ts";
import { forgetBlocksOf } from "../ledger/forget-row-blocks.ts";
import { lookupsOf } from "../ledger/row-lookups.ts";
import { matchingIds } from "../ledger/row-search.ts";
import { PERSONAL } from "../ledger/unhashed.ts";

/** Columns that identify the subject of a row. */
export const SUBJECT_COLUMNS = [
  "gateway_user_id",
  "gateway_user_username",
  "idp_user_id",
  "idp_user_username",
  "idp_user_email",
  "subject_id",
  "end_user_session_id",
] as const;
export type SubjectColumn = (typeof SUBJECT_COLUMNS)[number];

export interface ErasureRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly at: Date;
  readonly requested_by: string | null;
  readonly reason: string | null;
  /** Digests by column. */
  readonly subject: Readonly<Partial<Record<SubjectColumn, string>>>;
  readonly rows_erased: number;
  readonly runs_changed: number;
  readonly account_erased: boolean;
  readonly approvals_erased: number;
}

/** The only metadata that is not content: totals could not be recomputed without it. */
const METADATA =
  `(SELECT jsonb_object_agg(key, value) FROM jsonb_each(CASE WHEN jsonb_typeof(a.custom_metadata) = 'object' THEN ` +
  `a.custom_metadata ELSE '{}' END) WHERE key IN ('joined_row_id', 'run_outcome', 'refused_by', 'ship_error'))`;

/** Keeps the recipient's host; the caller may have chosen the path. */
const HOST_OF_TARGET = `regexp_replace(a.target_url, '^([A-Za-z][A-Za-z0-9+.-]*://[^/?#]*).*$', '\\1')`;

export const ERASE = `UPDATE audit_rows a SET ${PERSONAL.map((name) => `${name} = NULL`).join(", ")}, target_url = ${HOST_OF_TARGET}, custom_metadata = ${METADATA}`;

/** The latest time at which a row's call can have arrived. A span's timestamp is its sender's and may lie in the future. */
export const hadCome = (rows: string) => `least(${rows}.timestamp, ${rows}.created_at)`;

export const FORGET_RUN_NAMES =
  `UPDATE runs r SET run_id = NULL FROM unnest($1::text[], $2::text[]) AS k (tenant_id, root_task_id) WHERE r.tenant_id ` +
  `= k.tenant_id AND r.root_task_id = k.root_task_id AND r.run_id IS NOT NULL`;

// Answers cached for others who ask the same are content of the call they came from. Some are only in the memory of processes; a new
// generation makes them unreachable.
export const FORGET_ANSWERS = `
  WITH gone AS (DELETE FROM semantic_cache_entries e USING unnest($1::text[], $2::text[]) AS k (tenant_id, call_id) WHERE e.tenant_id = k.tenant_id AND e.call_id = k.call_id),
    moved AS (UPDATE semantic_cache_configs SET generation = gen_random_uuid() WHERE tenant_id = ANY($1::text[]) RETURNING tenant_id)
  SELECT DISTINCT tenant_id FROM moved ORDER BY tenant_id`;

export interface Erasure {
  readonly id: string;
  readonly tenantId: string;
  /** ISO 8601 with six decimals. Rows of calls up to then are erased whenever they arrive. */
  readonly at: string;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  readonly salt: string;
  readonly values: Readonly<Partial<Record<SubjectColumn, string>>>;
  readonly digests: Readonly<Partial<Record<SubjectColumn, string>>>;
  /** What was erased of the person before their rows. */
  readonly accountErased: boolean;
  readonly approvalsErased: number;
}

/** Erases the subject's rows and records the erasure, in the caller's transaction. */
export async function eraseSubject(trx: Trx, erasure: Erasure): Promise<{ rows: number; runs: number }> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(trx);
  const roots = new Set<string>();
  const users = new Set<string>();
  let rows = 0;
  for (const [column, value] of Object.entries(erasure.values)) {
    const isSubjects = sql<boolean>`audit_rows.tenant_id = ${erasure.tenantId} AND ${sql.ref(`audit_rows.${column}`)} = ${value} AND ${sql.raw(hadCome("audit_rows"))} <= ${erasure.at}::timestamptz AND audit_rows.erased_at IS NULL`;
    const search = {
      conditions: [isSubjects],
      lookups: lookupsOf(column as SubjectColumn, [value]),
      tenantId: erasure.tenantId,
      since: undefined,
      until: undefined,
      newestFirst: true,
    };
    const ids = await matchingIds(trx, search, null, Number.MAX_SAFE_INTEGER);
    const erased = await sql<{ id: string; root_task_id: string | null; user_id: string | null }>`
      WITH subject AS (SELECT a.id, a.gateway_user_id AS user_id FROM audit_rows a WHERE a.id = ANY(${ids}))
      ${sql.raw(ERASE)}, erased_at = ${erasure.at}::timestamptz FROM subject WHERE a.id = subject.id
      RETURNING a.id, a.root_task_id, subject.user_id`.execute(trx);
    await forgetBlocksOf(trx, ids);
    rows += erased.rows.length;
    await sql`DELETE FROM semantic_cache_entries WHERE tenant_id = ${erasure.tenantId} AND call_id = ANY(${erased.rows.map((row) => row.id)})`.execute(
      trx,
    );
    if (erased.rows.length > 0)
      await sql`UPDATE semantic_cache_configs SET generation = gen_random_uuid() WHERE tenant_id = ${erasure.tenantId}`.execute(trx);
    for (const { root_task_id: root, user_id: user } of erased.rows) {
      if (root !== null) roots.add(root);
      if (user !== null) users.add(user);
    }
  }
  // Runs may be kept for longer than their rows.
  const named = [erasure.values.gateway_user_id, erasure.values.subject_id].filter((id) => id !== undefined);
  const leaving = [...users, ...named];
  await eraseTasks(trx, erasure.tenantId, leaving);
  const changed = await sql`
    UPDATE runs SET run_id = NULL, participants = (SELECT coalesce(array_agg(p), '{}') FROM unnest(participants) p WHERE p <> ALL(${leaving}))
    WHERE tenant_id = ${erasure.tenantId} AND (participants && ${named}::text[] OR root_task_id = ANY(${[...roots]}) AND (run_id IS NOT NULL OR participants && ${leaving}::text[]))`.execute(
    trx,
  );
  const runs = Number(changed.numAffectedRows ?? 0);
  await sql`UPDATE run_feedback SET comment = NULL WHERE tenant_id = ${erasure.tenantId} AND root_task_id = ANY(${[...roots]}) AND end_user_id::text = ANY(${[...users]}) AND comment IS NOT NULL`.execute(
    trx,
  );
  await sql`
    INSERT INTO data_erasures (id, tenant_id, at, requested_by, reason, salt, subject, rows_erased, runs_changed, account_erased, approvals_erased)
    VALUES (${erasure.id}, ${erasure.tenantId}, ${erasure.at}, ${erasure.requestedBy}, ${erasure.reason}, ${erasure.salt}, ${JSON.stringify(erasure.digests)}::text::jsonb, ${rows}, ${runs}, ${erasure.accountErased}, ${erasure.approvalsErased})`.execute(
    trx,
  );
  return { rows, runs };
}

export async function erasurePage(
  db: Database,
  tenantId: string | null,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ items: ErasureRow[]; total: number }> {
  // Erasures from before the tenant's creation belong to an earlier tenant with the same ID.
  const where =
    tenantId === null
      ? sql``
      : sql`WHERE tenant_id = ${tenantId} AND at >= coalesce((SELECT created_at FROM tenants WHERE id = ${tenantId}), '-infinity')`;
  const found =
    await sql<ErasureRow>`SELECT id, tenant_id, at, requested_by, reason, subject, rows_erased, runs_changed, account_erased, approvals_erased FROM data_erasures ${where} ORDER BY id DESC LIMIT ${page.limit} OFFSET ${page.offset}`.execute(
      db,
    );
  const counted = await sql<{ total: number }>`SELECT count(*) AS total FROM data_erasures ${where}`.execute(db);
  return { items: found.rows, total: counted.rows[0]?.total ?? 0 };
}

/** The number of erasures so far, which changes with every new one. */
export async function countErasures(db: Database): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM data_erasures`.execute(db);
  return rows[0]?.total ?? 0;
}
