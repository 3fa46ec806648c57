import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, totalOf } from "../records/paging.ts";
import { idByName, lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { KnowledgeBaseTable } from "../tables/knowledge.ts";

export type KnowledgeBaseRow = Selectable<KnowledgeBaseTable> & {
  readonly group_ids: string[];
  readonly document_count: number;
  readonly ready_count: number;
};
export type KnowledgeBaseInsert = Insertable<KnowledgeBaseTable>;
export type KnowledgeBasePatch = Updateable<KnowledgeBaseTable>;
export type KnowledgeBaseGrantRow = Selectable<KnowledgeBaseTable> & { readonly group_ids: string[] };

interface KnowledgeBaseFilters {
  readonly search?: string | undefined;
}

const groupIds = sql<string[]>`ARRAY(SELECT g.group_id FROM knowledge_base_groups g WHERE g.knowledge_base_id = b.id ORDER BY g.group_id)`;
/** The number of documents that a reader may find; `principals` as in a search. */
const documents = (principals: readonly string[] | null, status: string | null) => sql<number>`
  (SELECT count(*) FROM knowledge_documents d WHERE d.knowledge_base_id = b.id
    ${principals === null ? sql`` : sql`AND (d.principals IS NULL OR d.principals && ${principals as string[]}::text[])`}
    ${status === null ? sql`` : sql`AND d.status = ${status}`})`;

const rows = (db: Database | Trx, tenantId: string, principals: readonly string[] | null = null) =>
  db
    .selectFrom("knowledge_bases as b")
    .selectAll("b")
    .select([groupIds.as("group_ids"), documents(principals, null).as("document_count"), documents(principals, "ready").as("ready_count")])
    .where("b.tenant_id", "=", tenantId);

export const knowledgeBaseStore: RecordStore<KnowledgeBaseRow, KnowledgeBaseInsert, KnowledgeBasePatch, KnowledgeBaseFilters> = {
  async page(db, tenantId, { search }, page) {
    const pattern = search === undefined ? "%" : containing(search);
    const items = await rows(db, tenantId)
      .where("b.name", "ilike", pattern)
      .orderBy("b.name")
      .limit(page.limit)
      .offset(page.offset)
      .execute();
    const all = db.selectFrom("knowledge_bases").where("tenant_id", "=", tenantId).where("name", "ilike", pattern);
    return { items, total: await totalOf(all) };
  },
  find: lockThenFind("knowledge_bases", (db, tenantId, id) => rows(db, tenantId).where("b.id", "=", id).executeTakeFirst()),
  ...writesById("knowledge_bases"),
};

export const knowledgeBaseIdByName = idByName("knowledge_bases");

export async function knowledgeBasesEmbeddingWith(db: Database | Trx, tenantId: string, modelId: string, limit: number): Promise<string[]> {
  const found = await db
    .selectFrom("knowledge_bases")
    .select("name")
    .where("tenant_id", "=", tenantId)
    .where("embedding_model_id", "=", modelId)
    .orderBy("name")
    .limit(limit)
    .execute();
  return found.map(({ name }) => name);
}

export async function setKnowledgeBaseGroups(trx: Trx, tenantId: string, id: string, groups: readonly string[]): Promise<void> {
  await trx.deleteFrom("knowledge_base_groups").where("knowledge_base_id", "=", id).execute();
  if (groups.length > 0)
    await trx
      .insertInto("knowledge_base_groups")
      .values(groups.map((groupId) => ({ knowledge_base_id: id, group_id: groupId, tenant_id: tenantId })))
      .execute();
}

/** What calls need to know of knowledge bases, for the snapshot. */
export function readKnowledgeBaseGrants(db: Database | Trx, tenantId: string): Promise<KnowledgeBaseGrantRow[]> {
  return db
    .selectFrom("knowledge_bases as b")
    .selectAll("b")
    .select(groupIds.as("group_ids"))
    .where("b.tenant_id", "=", tenantId)
    .orderBy("b.name")
    .execute();
}

/** Those of the knowledge bases that exist, with the number of documents that the reader may find. */
export function knowledgeBasesByIds(
  db: Database | Trx,
  tenantId: string,
  ids: readonly string[],
  principals: readonly string[] | null,
): Promise<KnowledgeBaseRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : rows(db, tenantId, principals).where("b.id", "in", ids).orderBy("b.name").execute();
}
