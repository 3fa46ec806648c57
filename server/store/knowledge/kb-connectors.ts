import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, pageOfRows } from "../records/paging.ts";
import { findInTenant, idByName, type RecordStore, writesById } from "../records/record-store.ts";
import type { KnowledgeConnectorTable } from "../tables/knowledge.ts";

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
      return pageOfRows(query, query.selectAll().orderBy("name"), page);
    },
    find: findInTenant("knowledge_connectors"),
    ...writesById("knowledge_connectors"),
  };

export const kbConnectorIdByName = idByName("knowledge_connectors");

export interface FetchedDocument {
  readonly id: string;
  readonly principals: readonly string[] | null;
}

/** The documents a connector brought, by name. */
export async function documentsOfConnector(db: Database | Trx, connectorId: string): Promise<Map<string, FetchedDocument>> {
  const rows = await db
    .selectFrom("knowledge_documents")
    .select(["id", "name", "principals"])
    .where("connector_id", "=", connectorId)
    .execute();
  return new Map(rows.map(({ name, ...document }) => [name, document]));
}
