import { sql } from "kysely";
import type { FactWindow } from "./fact-window.ts";
import type { Trx } from "../database.ts";

/** What the configuration and the upkeep of a tenant come to. */
export interface Standing {
  readonly admins: number;
  /** Active accounts that sign in with a password alone. */
  readonly adminsWithoutSecondFactor: number;
  readonly keys: number;
  /** Keys in force that never end. */
  readonly endlessKeys: number;
  /** Documents of limits that some group has. */
  readonly limits: number;
  /** Rows and bodies that are held a day longer than the tenant keeps them. */
  readonly overdueRows: number;
  readonly overdueBodies: number;
}

const DAY_MS = 86_400_000;

export interface Kept {
  readonly body_days: number;
  readonly log_days: number;
}

/** Retention runs once in a while: what came of age less than a day before the end of the window is not late. */
const lateBefore = ({ to }: FactWindow, days: number) => new Date(to.getTime() - (days + 1) * DAY_MS);

/** `noPassword` is what stands for the hash of an account that has none. */
export async function readStanding(
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
