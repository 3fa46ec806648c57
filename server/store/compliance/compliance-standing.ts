import { sql } from "kysely";
import type { FactWindow } from "./fact-window.ts";
import type { Trx } from "../database.ts";

/** Facts about a tenant's configuration and upkeep. */
export interface Standing {
  readonly admins: number;
  /** Active accounts that sign in with only a password. */
  readonly adminsWithoutSecondFactor: number;
  readonly keys: number;
  /** Valid keys that never expire. */
  readonly endlessKeys: number;
  /** Limit documents that apply to some group. */
  readonly limits: number;
  /** Rows and bodies held at least a day longer than the tenant's retention allows. */
  readonly overdueRows: number;
  readonly overdueBodies: number;
}

const DAY_MS = 86_400_000;

export interface Kept {
  readonly body_days: number;
  readonly log_days: number;
}

/** Retention runs periodically: what came of age less than a day before the window's end is not overdue. */
const lateBefore = ({ to }: FactWindow, days: number) => new Date(to.getTime() - (days + 1) * DAY_MS);

/** `noPassword` is the stored value in place of a hash for accounts without a password. */
export async function readComplianceState(
  trx: Trx,
  window: FactWindow,
  { body_days: bodies, log_days: rows }: Kept,
  noPassword: string,
): Promise<Standing> {
  const { tenantId, to } = window;
  const { rows: found } = await sql<Record<keyof Standing, number>>`
    SELECT (SELECT count(*) FROM admin_users WHERE tenant_id = ${tenantId} AND is_active) AS admins,
           (SELECT count(*) FROM admin_users WHERE tenant_id = ${tenantId} AND is_active AND NOT totp_enabled AND password_hash <> ${noPassword}
              AND (break_glass OR (SELECT local_passwords FROM tenants WHERE id = ${tenantId}))) AS "adminsWithoutSecondFactor",
           (SELECT count(*) FROM api_keys WHERE tenant_id = ${tenantId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${to})) AS keys,
           (SELECT count(*) FROM api_keys WHERE tenant_id = ${tenantId} AND revoked_at IS NULL AND expires_at IS NULL) AS "endlessKeys",
           (SELECT count(*) FROM group_policies WHERE tenant_id = ${tenantId} AND kind LIKE '%limits%') AS limits,
           (SELECT count(*) FROM audit_rows WHERE tenant_id = ${tenantId} AND id < audit_id_floor(${lateBefore(window, rows)})
              AND id >= coalesce((SELECT reduced_before FROM audit_retention WHERE tenant_id = ${tenantId}), '')) AS "overdueRows",
           (SELECT count(*) FROM audit_rows WHERE tenant_id = ${tenantId} AND id < audit_id_floor(${lateBefore(window, bodies)})
              AND bodies_pruned_at IS NULL AND (request_body_preview IS NOT NULL OR response_body_preview IS NOT NULL)) AS "overdueBodies"`.execute(
    trx,
  );
  const row = found[0];
  if (row === undefined) throw new Error("a question without a table has one answer");
  return Object.fromEntries(Object.entries(row).map(([name, count]) => [name, Number(count)])) as Record<keyof Standing, number>;
}
