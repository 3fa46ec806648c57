import { sql } from "kysely";
import { ulid } from "../../kernel/ids.ts";
import type { Database } from "../database.ts";
import { isInGroups } from "../groups/group-membership.ts";
import type { AlertedLimit } from "../tables/policies.ts";

export interface NewAlert {
  readonly tenant_id: string;
  readonly alert_type: string;
  readonly severity: string;
  readonly title: string;
  readonly message: string;
  /** Null if it is about the whole tenant; then only its administrators are notified. */
  readonly group_id: string | null;
  readonly threshold_value: number;
  readonly current_value: number;
  /** Undefined if it is not about a limit. */
  readonly usage_limit?: AlertedLimit;
  /** Identifies the crossing of the threshold, so that it raises one alert only. */
  readonly crossing: string;
  readonly expires_at: Date | null;
}

/** Writes the alert, and a notification to each user in the group or below it. Returns false if the crossing already has an alert. */
export async function raiseAlert(db: Database, alert: NewAlert): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // If the group was deleted in the meantime, there is nobody to notify.
    const whose =
      alert.group_id === null
        ? sql`NULL::uuid FROM tenants WHERE id = ${alert.tenant_id}`
        : sql`id FROM resource_groups WHERE tenant_id = ${alert.tenant_id} AND id = ${alert.group_id}`;
    const limit = alert.usage_limit ?? null;
    const { numAffectedRows } = await sql`
      INSERT INTO alerts (id, tenant_id, alert_type, severity, title, message, threshold_value, current_value, usage_limit, crossing, expires_at, group_id)
      SELECT ${ulid()}, ${alert.tenant_id}, ${alert.alert_type}, ${alert.severity}, ${alert.title}, ${alert.message}, ${alert.threshold_value}::float8, ${alert.current_value}::float8, ${limit === null ? null : JSON.stringify(limit)}::jsonb, ${alert.crossing}, ${alert.expires_at}::timestamptz, ${whose}
      ON CONFLICT (tenant_id, crossing) DO NOTHING`.execute(trx);
    if (numAffectedRows !== 1n) return false;
    if (alert.group_id === null) return true;
    const metadata = JSON.stringify({
      group_id: alert.group_id,
      threshold_value: alert.threshold_value,
      current_value: alert.current_value,
      usage_limit: limit,
    });
    await sql`
      WITH RECURSIVE branch AS (
        SELECT id FROM resource_groups WHERE tenant_id = ${alert.tenant_id} AND id = ${alert.group_id}
        UNION
        SELECT g.id FROM branch JOIN resource_groups g ON g.parent_group_id = branch.id AND g.tenant_id = ${alert.tenant_id}
      )
      INSERT INTO notifications (id, tenant_id, end_user_id, notification_type, title, body, metadata, expires_at)
      SELECT ${ulid()} || '-' || row_number() OVER (ORDER BY u.id), u.tenant_id, u.id, ${alert.alert_type}, ${alert.title}, ${alert.message}, ${metadata}::jsonb, ${alert.expires_at}::timestamptz
        FROM end_users u WHERE u.tenant_id = ${alert.tenant_id} AND u.is_active AND ${isInGroups(sql`SELECT id FROM branch`)}`.execute(trx);
    return true;
  });
}
