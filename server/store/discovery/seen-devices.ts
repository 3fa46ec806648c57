import { sql } from "kysely";
import type { Trx } from "../database.ts";

export interface SeenDevice {
  readonly device_id: string;
  /** Null if not reported; an earlier name is then kept. */
  readonly device_name: string | null;
  readonly seen_at: Date;
}

/** A device that already belongs to a collector stays with it. */
export async function putDevices(trx: Trx, tenantId: string, collectorId: string, devices: readonly SeenDevice[]): Promise<void> {
  if (devices.length === 0) return;
  await sql`
    INSERT INTO discovery_devices AS d (tenant_id, device_id, device_name, collector_id, first_seen, last_seen)
    SELECT ${tenantId}, s.device_id, s.device_name, ${collectorId}, s.seen_at, s.seen_at
      FROM jsonb_to_recordset(${JSON.stringify(devices)}::jsonb) AS s (device_id text, device_name text, seen_at timestamptz)
     ORDER BY s.device_id
    ON CONFLICT (tenant_id, device_id) DO UPDATE
      SET collector_id = CASE WHEN d.collector_id = '' THEN EXCLUDED.collector_id ELSE d.collector_id END,
          device_name = coalesce(EXCLUDED.device_name, d.device_name), last_seen = greatest(d.last_seen, EXCLUDED.last_seen)`.execute(trx);
}
