import { sql } from "kysely";
import type { Database } from "../store/database.ts";
import { type DoctorFinding, finding } from "./finding.ts";

/** Tolerance, because the query itself takes time. */
const APART_MS = 2_000;

const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1000)} s`;

/** Whether the clocks of this machine and the database agree, and no row is dated in the future. */
export async function examineClock(db: Database): Promise<DoctorFinding> {
  const startedAt = Date.now();
  const { rows } = await sql<{ now: number; newest: string | null; dated: number | null }>`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, a.id AS newest, extract(epoch FROM a.created_at)::float8 * 1000 AS dated
    FROM (SELECT 1) AS one LEFT JOIN (SELECT id, created_at FROM audit_rows ORDER BY id DESC LIMIT 1) AS a ON true`.execute(db);
  const { now, newest, dated } = rows[0] as { now: number; newest: string | null; dated: number | null };
  const apart = (startedAt + Date.now()) / 2 - now;
  if (Math.abs(apart) > APART_MS)
    return finding(
      "warning",
      "clock",
      `this machine is ${seconds(apart)} ${apart > 0 ? "ahead of" : "behind"} the database's: set both by one source`,
    );
  if (dated !== null && dated - now > APART_MS)
    return finding(
      "warning",
      "clock",
      `row ${newest} is dated ${seconds(dated - now)} in the future: the clock of its process was ahead. Rows stay as they are dated; start anew what says clock_set_back`,
    );
  return finding("ok", "clock", "agrees with the database's, and no row is dated after it");
}
