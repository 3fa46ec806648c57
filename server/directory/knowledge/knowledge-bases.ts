import type {
  KnowledgeBase,
  KnowledgeBaseCreate,
  KnowledgeBaseQuery,
  KnowledgeBaseUpdate,
  PortalKnowledgeBase,
  PortalPassages,
} from "@gatehouse/contracts/knowledge-bases";
import { uuid } from "../../kernel/ids.ts";
import {
  type KnowledgeBaseInsert,
  knowledgeBaseIdByName,
  type KnowledgeBasePatch,
  type KnowledgeBaseRow,
  knowledgeBasesByIds,
  knowledgeBaseStore,
  setKnowledgeBaseGroups,
} from "../../store/knowledge/knowledge-bases.ts";
import { requeueAllDocuments } from "../../store/knowledge/knowledge-documents.ts";
import { type ChunkKey, readChunks } from "../../store/knowledge/knowledge-search.ts";
import { modelStore } from "../../store/models/models.ts";
import { checkGroups } from "../policies/bound-groups.ts";
import type { GroupScope } from "../snapshot.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { readerPrincipals } from "./reader-principals.ts";
import { grantedKnowledgeBases } from "./knowledge-base-entry.ts";

function shown(row: KnowledgeBaseRow): PortalKnowledgeBase {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    enabled: row.enabled,
    top_k: row.top_k,
    similarity_threshold: row.similarity_threshold,
    max_context_tokens: row.max_context_tokens,
    document_count: row.document_count,
    ready_count: row.ready_count,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

const read = (row: KnowledgeBaseRow): KnowledgeBase => ({
  ...shown(row),
  tenant_id: row.tenant_id,
  embedding_model_id: row.embedding_model_id,
  indexing_group_id: row.indexing_group_id,
  group_ids: row.group_ids,
});

async function checkReferences(
  write: Write,
  tenantId: string,
  body: Omit<KnowledgeBaseUpdate, "name">,
  before: KnowledgeBaseRow | null,
): Promise<void> {
  await checkGroups(write, tenantId, body.group_ids, before?.group_ids ?? null);
  if (body.indexing_group_id != null) await checkGroups(write, tenantId, [body.indexing_group_id], null, "indexing_group_id");
  if (body.embedding_model_id == null || body.embedding_model_id === before?.embedding_model_id) return;
  const model = await modelStore.find(write.trx, tenantId, body.embedding_model_id);
  if (model === undefined) throw invalidField("embedding_model_id", "is no model of this tenant");
  if (!model.modes.includes("embedding")) throw invalidField("embedding_model_id", "is a model that does not serve embeddings");
}

export const knowledgeBases = records<
  KnowledgeBaseRow,
  KnowledgeBaseInsert & { id: string },
  KnowledgeBasePatch,
  KnowledgeBase,
  KnowledgeBaseCreate,
  KnowledgeBaseUpdate,
  KnowledgeBaseQuery,
  string
>({
  resource: "knowledgebases",
  noun: "knowledge base",
  store: knowledgeBaseStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, candidate) => knowledgeBaseIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    await checkReferences(write, tenantId, body, null);
    const { group_ids: _groups, ...columns } = body;
    return {
      ...columns,
      description: body.description ?? null,
      embedding_model_id: body.embedding_model_id ?? null,
      indexing_group_id: body.indexing_group_id ?? null,
      id: uuid(),
      tenant_id: tenantId,
      created_at: write.now,
      updated_at: write.now,
    } as KnowledgeBaseInsert & { id: string };
  },
  created: (write, tenantId, row, body) => setKnowledgeBaseGroups(write.trx, tenantId, row.id, [...new Set(body.group_ids ?? [])]),
  async toPatch(write, tenantId, row, body) {
    await checkReferences(write, tenantId, body, row);
    const { group_ids: groups, ...columns } = body;
    if (groups !== undefined) await setKnowledgeBaseGroups(write.trx, tenantId, row.id, [...new Set(groups)]);
    // Vectors of different models are not comparable, so every document must be embedded again.
    if (body.embedding_model_id !== undefined && body.embedding_model_id !== row.embedding_model_id)
      await requeueAllDocuments(write.trx, row.id, write.now);
    return { ...columns, updated_at: write.now } as KnowledgeBasePatch;
  },
  dependents: async () => [],
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** What callers of any of the scopes may use (interface 2.4). */
export async function portalKnowledgeBases(
  { db }: Pick<Directory, "db">,
  userId: string,
  scopes: readonly GroupScope[],
): Promise<PortalKnowledgeBase[]> {
  const [first] = scopes;
  if (first === undefined) return [];
  const ids = new Set(scopes.flatMap((scope) => grantedKnowledgeBases(scope).map(({ id }) => id)));
  const principals = await readerPrincipals(db, first.tenant.id, userId);
  return (await knowledgeBasesByIds(db, first.tenant.id, [...ids], principals)).map(shown);
}

/** The current passages, in the order of `keys`; omits those that no caller of the scopes may find. */
export async function passagesOfReader(
  { db }: Pick<Directory, "db">,
  userId: string,
  scopes: readonly GroupScope[],
  keys: readonly ChunkKey[],
): Promise<PortalPassages["passages"]> {
  const [first] = scopes;
  if (first === undefined) return [];
  const open = scopes.flatMap((scope) => grantedKnowledgeBases(scope)).filter(({ enabled }) => enabled);
  const principals = await readerPrincipals(db, first.tenant.id, userId);
  const scope = { tenantId: first.tenant.id, baseIds: [...new Set(open.map(({ id }) => id))], filters: null, principals };
  const found = new Map((await readChunks(db, scope, keys)).map((chunk) => [`${chunk.document_id} ${chunk.ordinal}`, chunk]));
  return keys.flatMap(({ document_id: id, ordinal }) => {
    const chunk = found.get(`${id} ${ordinal}`);
    if (chunk === undefined) return [];
    const { document_name, heading, body: text, knowledge_base_id: collection_id } = chunk;
    return [{ document_id: id, ordinal, collection_id, document_name, heading, text }];
  });
}
