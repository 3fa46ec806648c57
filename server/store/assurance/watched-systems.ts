import { sql } from "kysely";
import type { Database } from "../database.ts";

export interface WatchedSystem {
  readonly tenant_id: string;
  readonly id: string;
  /** Changes whenever the tenant's configuration or contracts change. */
  readonly configuration: string;
  /** Changes whenever anything changes that drift detection reads. */
  readonly news: string;
}

/** Whether any system is watched; cheaper than reading how they stand. */
export async function areSystemsWatched(db: Database): Promise<boolean> {
  return (await db.selectFrom("ai_systems").select("id").where("lifecycle_state", "<>", "retired").limit(1).execute()).length > 0;
}

/** All systems watched for drift (those not retired) with their change markers, in one statement however many there are. */
export async function watchedSystems(db: Database): Promise<WatchedSystem[]> {
  const { rows } = await sql<WatchedSystem>`
    WITH changes AS (SELECT tenant_id, max(version) AS newest FROM config_changes GROUP BY tenant_id),
         contracts AS (SELECT ai_system_id, max(updated_at) AS newest FROM ai_contracts GROUP BY ai_system_id),
         incidents AS (SELECT tenant_id, max(updated_at) AS newest, count(*) AS count FROM incident_windows GROUP BY tenant_id),
         findings AS (SELECT ai_system_id, max(updated_at) AS newest FROM drift_findings GROUP BY ai_system_id),
         epochs AS (SELECT ai_system_id, max(epoch) AS newest FROM baseline_epochs GROUP BY ai_system_id)
    SELECT s.tenant_id, s.id, concat_ws('/', changes.newest, contracts.newest) AS configuration,
           concat_ws('/', changes.newest, contracts.newest, seen.calls, incidents.newest, incidents.count, findings.newest, epochs.newest) AS news
      FROM ai_systems s
      LEFT JOIN changes ON changes.tenant_id = s.tenant_id
      LEFT JOIN contracts ON contracts.ai_system_id = s.id
      LEFT JOIN ai_system_observations seen ON seen.ai_system_id = s.id AND seen.kind = 'call' AND seen.subject = ''
      LEFT JOIN incidents ON incidents.tenant_id = s.tenant_id
      LEFT JOIN findings ON findings.ai_system_id = s.id
      LEFT JOIN epochs ON epochs.ai_system_id = s.id
     WHERE s.lifecycle_state <> 'retired' ORDER BY s.id`.execute(db);
  return rows;
}
