import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { Page, Paged } from "./paging.ts";
import type { BaselineEpochTable, DriftFindingTable } from "./tables/drift.ts";

export type FindingRow = Selectable<DriftFindingTable>;
export type FindingPatch = Updateable<DriftFindingTable>;
export type EpochRow = Selectable<BaselineEpochTable>;

export interface FindingFilters {
  readonly systemId?: string | undefined;
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
}

/** Those seen last first. */
export async function findingPage(db: Database, tenantId: string, filters: FindingFilters, page: Page): Promise<Paged<FindingRow>> {
  let query = db.selectFrom("drift_findings").where("tenant_id", "=", tenantId);
  if (filters.systemId !== undefined) query = query.where("ai_system_id", "=", filters.systemId);
  if (filters.status !== undefined) query = query.where("status", "=", filters.status);
  if (filters.kind !== undefined) query = query.where("kind", "=", filters.kind);
  const items = await query.selectAll().orderBy("last_seen", "desc").orderBy("id").limit(page.limit).offset(page.offset).execute();
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items, total };
}

export function lockedFinding(trx: Trx, tenantId: string, id: string): Promise<FindingRow | undefined> {
  return trx.selectFrom("drift_findings").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).forUpdate().executeTakeFirst();
}

/** How many are open, by severity. */
export async function openFindings(db: Database | Trx, tenantId: string, systemId: string): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom("drift_findings")
    .select(["severity", (eb) => eb.fn.countAll<number>().as("count")])
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .where("status", "=", "open")
    .groupBy("severity")
    .execute();
  return Object.fromEntries(rows.map(({ severity, count }) => [severity, count]));
}

export function findingsOfKinds(trx: Trx, systemId: string, kinds: readonly string[]): Promise<FindingRow[]> {
  return trx
    .selectFrom("drift_findings")
    .selectAll()
    .where("ai_system_id", "=", systemId)
    .where("kind", "in", [...kinds])
    .execute();
}

export async function insertFinding(trx: Trx, values: Insertable<DriftFindingTable>): Promise<void> {
  await trx.insertInto("drift_findings").values(values).execute();
}

export async function updateFinding(trx: Trx, id: string, patch: FindingPatch): Promise<void> {
  await trx.updateTable("drift_findings").set(patch).where("id", "=", id).execute();
}

export function newestEpoch(db: Database | Trx, tenantId: string, systemId: string): Promise<EpochRow | undefined> {
  return db
    .selectFrom("baseline_epochs")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .orderBy("epoch", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function epochPage(db: Database, tenantId: string, systemId: string, page: Page): Promise<Paged<EpochRow>> {
  const query = db.selectFrom("baseline_epochs").where("tenant_id", "=", tenantId).where("ai_system_id", "=", systemId);
  const items = await query.selectAll().orderBy("epoch", "desc").limit(page.limit).offset(page.offset).execute();
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items, total };
}

export async function insertEpoch(trx: Trx, values: Insertable<BaselineEpochTable>): Promise<void> {
  await trx.insertInto("baseline_epochs").values(values).execute();
}

export interface WatchedSystem {
  readonly tenant_id: string;
  readonly id: string;
  /** What tells whether its tenant's configuration and its contracts are as they were. */
  readonly configuration: string;
  /** What tells whether anything is that its drift is looked for in. */
  readonly news: string;
}

/** Systems whose drift is looked for, all that are not retired, with what tells of news: in one statement, however many there are. */
/** Whether there is any at all, at less than what it costs to say how they stand. */
export async function areSystemsWatched(db: Database): Promise<boolean> {
  return (await db.selectFrom("ai_systems").select("id").where("lifecycle_state", "<>", "retired").limit(1).execute()).length > 0;
}

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
