import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { Page, Paged } from "./paging.ts";
import type { BaselineEpochTable, DriftFindingTable } from "./tables/assurance.ts";

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

/** Systems whose drift is looked for: all that are not retired. */
export async function watchedSystems(db: Database): Promise<{ tenant_id: string; id: string }[]> {
  return db.selectFrom("ai_systems").select(["tenant_id", "id"]).where("lifecycle_state", "<>", "retired").orderBy("id").execute();
}

export interface SystemNews {
  /** Of its tenant's configuration and of its contracts. */
  readonly configuration: string;
  /** Of all that its drift is looked for in. */
  readonly all: string;
}

/** What tells whether a system has to be looked at again. */
export async function newsOf(db: Database, tenantId: string, systemId: string): Promise<SystemNews> {
  const { rows } = await sql<{ configuration: string; rest: string }>`
    SELECT concat_ws('/', (SELECT max(version) FROM config_changes WHERE tenant_id = ${tenantId}),
                          (SELECT max(updated_at) FROM ai_contracts WHERE ai_system_id = ${systemId})) AS configuration,
           concat_ws('/', (SELECT sum(calls) FROM ai_system_observations WHERE ai_system_id = ${systemId}),
                          (SELECT max(updated_at) FROM incident_windows WHERE tenant_id = ${tenantId}),
                          (SELECT max(updated_at) FROM drift_findings WHERE ai_system_id = ${systemId}),
                          (SELECT max(epoch) FROM baseline_epochs WHERE ai_system_id = ${systemId})) AS rest`.execute(db);
  const { configuration = "", rest = "" } = rows[0] ?? {};
  return { configuration, all: `${configuration} ${rest}` };
}
