import type { DocumentPermissions, KnowledgeDocument, KnowledgeDocumentQuery } from "@gatehouse/contracts/knowledge-bases";
import { isDeepStrictEqual } from "node:util";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { knowledgeBaseStore } from "../../store/knowledge/knowledge-bases.ts";
import {
  documentNamed,
  findDocument,
  changeFacts,
  insertDocument,
  type KnowledgeDocumentRow,
  principalsOfPassages,
  pageOfDocuments,
  removeDocument,
  requeueDocument,
  setPrincipals,
} from "../../store/knowledge/knowledge-documents.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { knowledgeBases } from "./knowledge-bases.ts";
import { principalsOf, principalsOfBoth, sourcePermissions } from "./reader-principals.ts";

const RESOURCE = "knowledge-documents";

export interface UploadedDocument {
  readonly name: string;
  readonly kind: KnowledgeDocument["kind"];
  readonly metadata: Record<string, unknown>;
  readonly permissions: DocumentPermissions | null;
  readonly content: Uint8Array;
}

function read(row: KnowledgeDocumentRow): KnowledgeDocument {
  return {
    id: row.id,
    knowledge_base_id: row.knowledge_base_id,
    name: row.name,
    kind: row.kind as KnowledgeDocument["kind"],
    size_bytes: row.size_bytes,
    digest: row.digest,
    metadata: row.metadata,
    status: row.status as KnowledgeDocument["status"],
    reason: row.reason,
    chunk_count: row.chunk_count,
    permissions: sourcePermissions(row.principals),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    processed_at: row.processed_at?.toISOString() ?? null,
  };
}

export async function listDocuments(
  directory: Directory,
  tenantId: string,
  baseId: string,
  query: KnowledgeDocumentQuery,
  page: Page,
): Promise<Paged<KnowledgeDocument>> {
  await knowledgeBases.get(directory, tenantId, baseId);
  const { items, total } = await pageOfDocuments(directory.db, tenantId, baseId, query, page);
  return { items: items.map(read), total };
}

export async function getDocument(directory: Directory, tenantId: string, baseId: string, id: string): Promise<KnowledgeDocument> {
  const row = await findDocument(directory.db, tenantId, baseId, id);
  if (row === undefined) throw notFound("document");
  return read(row);
}

async function lockBase(write: Write, tenantId: string, baseId: string): Promise<void> {
  if ((await knowledgeBaseStore.find(write.trx, tenantId, baseId, "lock")) === undefined) throw notFound("knowledge base");
}

async function locked(write: Write, tenantId: string, baseId: string, id: string): Promise<KnowledgeDocumentRow> {
  await lockBase(write, tenantId, baseId);
  const row = await findDocument(write.trx, tenantId, baseId, id);
  if (row === undefined) throw notFound("document");
  return row;
}

/** The document was read but not embedded, so its passages are found by words only. */
const needsVectors = ({ status, chunk_count: passages }: KnowledgeDocumentRow) => status === "failed" && passages > 0;

/**
 * Creates a document, or replaces the content of the one with this name. An identical upload changes nothing, unless the
 * document still needs embedding.
 */
export async function uploadDocument(
  write: Write,
  tenantId: string,
  baseId: string,
  { name, kind, metadata, permissions, content }: UploadedDocument,
  connectorId: string | null = null,
): Promise<KnowledgeDocument> {
  await lockBase(write, tenantId, baseId);
  const before = await documentNamed(write.trx, tenantId, baseId, name);
  if (before !== undefined && before.connector_id !== connectorId)
    throw new Refused(
      refuse(
        "conflict",
        connectorId === null ? "A document of this name comes from a connector." : "There is a document of this name that was uploaded.",
      ),
    );
  const digest = `sha256:${sha256Hex(content)}`;
  const principals = principalsOf(permissions);
  const sameContent = before !== undefined && before.digest === digest && before.kind === kind;
  const sameRights = before !== undefined && isDeepStrictEqual(before.principals, principals);
  const stays = sameContent && !needsVectors(before);
  if (stays && sameRights && isDeepStrictEqual(before.metadata, metadata)) write.stay(before, before, read(before));
  const columns = { kind, metadata: JSON.stringify(metadata), content, digest, size_bytes: content.byteLength };
  const id = before?.id ?? uuid();
  if (before === undefined)
    await insertDocument(write.trx, {
      ...columns,
      id,
      knowledge_base_id: baseId,
      tenant_id: tenantId,
      connector_id: connectorId,
      name,
      reason: null,
      due_at: write.now,
      created_at: write.now,
      updated_at: write.now,
    });
  else if (stays) await changeFacts(write.trx, id, write.now, columns.metadata);
  else await requeueDocument(write.trx, id, write.now, columns);
  // Revoked rights apply immediately to existing passages. Granted ones wait if the passages may still be of the old
  // content, because they were granted for the new one.
  if (!sameRights) {
    const isCurrent = sameContent && (before.status === "ready" || before.status === "failed");
    await setPrincipals(
      write.trx,
      id,
      principals,
      isCurrent ? principals : principalsOfBoth(await principalsOfPassages(write.trx, id), principals),
    );
  }
  const after = read((await findDocument(write.trx, tenantId, baseId, id)) as KnowledgeDocumentRow);
  const entry = { tenant_id: tenantId, resource: RESOURCE, resource_id: id };
  if (before === undefined) write.log({ ...entry, action: "create", after });
  else write.log({ ...entry, action: "update", before: read(before), after });
  return after;
}

export async function reprocessDocument(write: Write, tenantId: string, baseId: string, id: string): Promise<KnowledgeDocument> {
  await locked(write, tenantId, baseId, id);
  await requeueDocument(write.trx, id, write.now);
  const after = read((await findDocument(write.trx, tenantId, baseId, id)) as KnowledgeDocumentRow);
  write.log({ tenant_id: tenantId, action: "reprocess", resource: RESOURCE, resource_id: id, after });
  return after;
}

/** Only revokes rights, immediately. Rights are granted when the content is read, together with it. */
export async function narrowDocumentPermissions(
  write: Write,
  tenantId: string,
  baseId: string,
  id: string,
  permissions: DocumentPermissions,
): Promise<void> {
  const row = await locked(write, tenantId, baseId, id);
  const principals = principalsOf(permissions);
  const ofPassages = principalsOfBoth(await principalsOfPassages(write.trx, id), principals);
  await setPrincipals(write.trx, id, principalsOfBoth(row.principals, principals), ofPassages);
  const after = read((await findDocument(write.trx, tenantId, baseId, id)) as KnowledgeDocumentRow);
  write.log({ tenant_id: tenantId, action: "update", resource: RESOURCE, resource_id: id, before: read(row), after });
}

/** Deletes its bytes, passages and vectors too, so the next search no longer finds it. */
export async function deleteDocument(write: Write, tenantId: string, baseId: string, id: string): Promise<void> {
  const row = await locked(write, tenantId, baseId, id);
  await removeDocument(write.trx, id);
  write.log({ tenant_id: tenantId, action: "delete", resource: RESOURCE, resource_id: id, before: read(row) });
}
