import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { Page, Paged } from "./paging.ts";
import type { AssuranceSnapshotTable } from "./tables/assurance.ts";

export type SnapshotRow = Selectable<AssuranceSnapshotTable>;

/** The newest first. */
export async function snapshotPage(db: Database, tenantId: string, systemId: string, page: Page): Promise<Paged<SnapshotRow>> {
  const query = db.selectFrom("assurance_snapshots").where("tenant_id", "=", tenantId).where("ai_system_id", "=", systemId);
  const items = await query.selectAll().orderBy("created_at", "desc").orderBy("id").limit(page.limit).offset(page.offset).execute();
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items, total };
}

export function findSnapshot(db: Database | Trx, tenantId: string, systemId: string, id: string): Promise<SnapshotRow | undefined> {
  return db
    .selectFrom("assurance_snapshots")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .where("id", "=", id)
    .executeTakeFirst();
}

export async function insertSnapshot(trx: Trx, values: Insertable<AssuranceSnapshotTable>): Promise<void> {
  await trx.insertInto("assurance_snapshots").values(values).execute();
}

export async function updateSnapshot(trx: Trx, id: string, patch: Updateable<AssuranceSnapshotTable>): Promise<void> {
  await trx.updateTable("assurance_snapshots").set(patch).where("id", "=", id).execute();
}

export interface StoredHead {
  readonly chain_id: string;
  readonly seq: number;
  readonly row_hash: string;
}

/** Heads of every chain as they are stored. */
export async function chainHeads(db: Database | Trx): Promise<StoredHead[]> {
  const { rows } = await sql<StoredHead>`
    SELECT chain_id, head_seq AS seq, head_hash AS row_hash FROM audit_chains WHERE head_seq > 0 ORDER BY chain_id`.execute(db);
  return rows;
}

/** Rows that no checkpoint is over yet although there was time for one. */
export async function unanchoredChains(db: Database | Trx, before: Date): Promise<number> {
  const { rows } = await sql<{ chains: number }>`
    SELECT count(*) AS chains FROM audit_chains
     WHERE head_seq > coalesce(last_checkpoint_seq, 0) AND updated_at < ${before}`.execute(db);
  return rows[0]?.chains ?? 0;
}

/** When a checkpoint was last signed; null where none ever was. */
export async function newestCheckpoint(db: Database | Trx): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    SELECT max(k.signed_at) AS at FROM audit_chains c CROSS JOIN LATERAL
      (SELECT signed_at FROM audit_checkpoints WHERE chain_id = c.chain_id ORDER BY checkpoint_no DESC LIMIT 1) k`.execute(db);
  return rows[0]?.at ?? null;
}
