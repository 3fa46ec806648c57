import type { Insertable, Selectable } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { ReplaySuiteTable } from "../tables/replay.ts";

export type ReplaySuiteRow = Selectable<ReplaySuiteTable>;

export function newestSuite(db: Database | Trx, tenantId: string, systemId: string): Promise<ReplaySuiteRow | undefined> {
  return db
    .selectFrom("replay_suites")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
}

export function suiteById(db: Database | Trx, tenantId: string, id: string): Promise<ReplaySuiteRow | undefined> {
  return db.selectFrom("replay_suites").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}

export async function insertSuite(trx: Trx, values: Insertable<ReplaySuiteTable>): Promise<void> {
  await trx.insertInto("replay_suites").values(values).execute();
}
