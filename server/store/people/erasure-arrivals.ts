import type pg from "pg";
import { recordChangeOn } from "../records/record-changes.ts";
import { prepared } from "../connections/prepared.ts";
import { ERASE, FORGET_ANSWERS, FORGET_RUN_NAMES, SUBJECT_COLUMNS, hadCome } from "./erasure.ts";

const IS_SUBJECT = SUBJECT_COLUMNS.map(
  (column) => `(e.subject ? '${column}' AND e.subject->>'${column}' = encode(sha256(convert_to(e.salt || a.${column}, 'UTF8')), 'hex'))`,
).join(" OR ");

/**
 * Erases newly stored rows of subjects that were erased before the rows arrived. `which` is a condition on `audit_rows a`. Returns whether
 * there were any.
 */
export async function eraseArrivals(client: pg.PoolClient, which: string, parameters: readonly unknown[]): Promise<boolean> {
  const due = await client.query(
    prepared(`SELECT FROM data_erasures WHERE at >= (SELECT min(${hadCome("a")}) FROM audit_rows a WHERE ${which}) LIMIT 1`, parameters),
  );
  if (due.rowCount === 0) return false;
  const { rows } = await client.query<{ id: string; tenant_id: string; root_task_id: string | null }>(
    `${ERASE}, erased_at = e.at FROM data_erasures e WHERE ${which} AND a.tenant_id = e.tenant_id AND ${hadCome("a")} <= ` +
      `e.at AND a.erased_at IS NULL AND (${IS_SUBJECT}) RETURNING a.id, a.tenant_id, a.root_task_id`,
    [...parameters],
  );
  if (rows.length === 0) return false;
  const forgotten = await client.query<{ tenant_id: string }>(FORGET_ANSWERS, [
    rows.map((row) => row.tenant_id),
    rows.map((row) => row.id),
  ]);
  // Other processes hold the answers in memory until they learn of the new generation.
  for (const { tenant_id } of forgotten.rows) await recordChangeOn(client, { tenant_id, topic: "policy" });
  const runs = rows.filter((row) => row.root_task_id !== null);
  if (runs.length > 0) await client.query(FORGET_RUN_NAMES, [runs.map((row) => row.tenant_id), runs.map((row) => row.root_task_id)]);
  return true;
}
