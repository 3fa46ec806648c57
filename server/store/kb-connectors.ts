import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "./database.ts";
import { containing } from "./paging.ts";
import { findInTenant, type RecordStore, writesById } from "./record-store.ts";
import type { KnowledgeConnectorTable } from "./tables/knowledge.ts";

export type KbConnectorRow = Selectable<KnowledgeConnectorTable>;
export type KbConnectorInsert = Insertable<KnowledgeConnectorTable>;
export type KbConnectorPatch = Updateable<KnowledgeConnectorTable>;

export const kbConnectorStore: RecordStore<KbConnectorRow, KbConnectorInsert, KbConnectorPatch, { readonly search?: string | undefined }> =
  {
    async page(db, tenantId, { search }, page) {
      const query = db
        .selectFrom("knowledge_connectors")
        .where("tenant_id", "=", tenantId)
        .where("name", "ilike", search === undefined ? "%" : containing(search));
      const items = await query.selectAll().orderBy("name").limit(page.limit).offset(page.offset).execute();
      const { total } = await query.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      return { items, total };
    },
    find: findInTenant("knowledge_connectors"),
    ...writesById("knowledge_connectors"),
  };

export async function kbConnectorNamed(trx: Trx, tenantId: string, name: string): Promise<string | undefined> {
  const row = await trx
    .selectFrom("knowledge_connectors")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.id;
}

/** Takes up one that is due, for `leaseMs`; others leave it alone meanwhile. */
export async function takeUpConnector(db: Database, leaseMs: number): Promise<KbConnectorRow | null> {
  const { rows } = await sql<KbConnectorRow>`
    UPDATE knowledge_connectors SET due_at = now() + ${leaseMs} * interval '1 millisecond'
     WHERE id = (SELECT id FROM knowledge_connectors WHERE enabled AND due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING *`.execute(db);
  return rows[0] ?? null;
}

/** Whoever asked for it meanwhile, or changed it, has it looked at once more. */
export async function noteSynced(
  db: Database,
  { id, every_minutes: minutes }: Pick<KbConnectorRow, "id" | "every_minutes">,
  problem: string | null,
  skipped: readonly string[],
): Promise<void> {
  await sql`UPDATE knowledge_connectors SET due_at = CASE WHEN due_at > now() THEN now() + ${minutes} * interval '1 minute' ELSE due_at END, problem = ${problem},
      skipped = ${JSON.stringify(skipped)}::jsonb, synced_at = CASE WHEN ${problem === null} THEN now() ELSE synced_at END
    WHERE id = ${id}`.execute(db);
}

/** The documents that a connector brought, by name. */
export async function documentsOfConnector(db: Database | Trx, connectorId: string): Promise<Map<string, string>> {
  const rows = await db.selectFrom("knowledge_documents").select(["id", "name"]).where("connector_id", "=", connectorId).execute();
  return new Map(rows.map(({ id, name }) => [name, id]));
}
