import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { AiContractTable } from "../tables/assurance.ts";

export type ContractRow = Selectable<AiContractTable>;
export type ContractPatch = Updateable<AiContractTable>;

const ofSystem = (db: Database | Trx, tenantId: string, systemId: string) =>
  db.selectFrom("ai_contracts").where("tenant_id", "=", tenantId).where("ai_system_id", "=", systemId);

/** Newest first. */
export async function contractPage(db: Database, tenantId: string, systemId: string, page: Page): Promise<Paged<ContractRow>> {
  const query = ofSystem(db, tenantId, systemId);
  return pageOfRows(query, query.selectAll().orderBy("version", "desc"), page);
}

export function contractVersion(db: Database | Trx, tenantId: string, systemId: string, version: number): Promise<ContractRow | undefined> {
  return ofSystem(db, tenantId, systemId).selectAll().where("version", "=", version).executeTakeFirst();
}

export function activeContract(db: Database | Trx, tenantId: string, systemId: string): Promise<ContractRow | undefined> {
  return ofSystem(db, tenantId, systemId).selectAll().where("state", "=", "active").executeTakeFirst();
}

/** The version in force, or the last that was: a revoked contract still says what the system was allowed to do. */
export function lastInForce(db: Database | Trx, tenantId: string, systemId: string): Promise<ContractRow | undefined> {
  return ofSystem(db, tenantId, systemId)
    .selectAll()
    .where("promoted_at", "is not", null)
    .orderBy("promoted_at", "desc")
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** The newest version in any of the states. */
export function newestContract(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  states: readonly string[],
): Promise<ContractRow | undefined> {
  return ofSystem(db, tenantId, systemId)
    .selectAll()
    .where("state", "in", [...states])
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function lockedContract(trx: Trx, tenantId: string, id: string): Promise<ContractRow | undefined> {
  return trx.selectFrom("ai_contracts").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).forUpdate().executeTakeFirst();
}

export async function nextContractVersion(trx: Trx, systemId: string): Promise<number> {
  const { rows } = await sql<{
    next: number;
  }>`SELECT coalesce(max(version), 0) + 1 AS next FROM ai_contracts WHERE ai_system_id = ${systemId}`.execute(trx);
  return rows[0]?.next ?? 1;
}

export async function insertContract(trx: Trx, values: Insertable<AiContractTable>): Promise<void> {
  await trx.insertInto("ai_contracts").values(values).execute();
}

export async function updateContract(trx: Trx, id: string, patch: ContractPatch): Promise<void> {
  await trx.updateTable("ai_contracts").set(patch).where("id", "=", id).execute();
}

export async function contractsOf(trx: Trx, systemId: string): Promise<number> {
  const { count } = await trx
    .selectFrom("ai_contracts")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("ai_system_id", "=", systemId)
    .executeTakeFirstOrThrow();
  return count;
}
