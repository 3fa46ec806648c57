import { z } from "zod";
import { connectorType } from "./kb-identities.ts";
import { description, nameText, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

/** Document metadata for search filters; values are compared for equality. */
const metadata = z
  .record(z.string().min(1).max(100), z.union([z.string().max(1000), z.number(), z.boolean()]))
  .refine((record) => Object.keys(record).length <= 50, "may have at most 50 members");

const written = {
  description: description.optional(),
  enabled: z.boolean().optional().describe("default at creation: true"),
  top_k: z.number().int().min(1).max(50).optional().describe("maximum number of passages per call; default at creation: 5"),
  similarity_threshold: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("passages with a lower cosine similarity to the question are left out; default at creation: 0"),
  max_context_tokens: z
    .number()
    .int()
    .min(100)
    .max(200_000)
    .optional()
    .describe("maximum number of tokens of passages per call; default at creation: 2000"),
  embedding_model_id: recordId
    .nullable()
    .optional()
    .describe("the model that turns documents and questions into vectors; null: passages are found by their words alone"),
  indexing_group_id: recordId
    .nullable()
    .optional()
    .describe("the resource group whose budget pays for embedding documents; null: the first of group_ids"),
  group_ids: z.array(recordId).max(1000).optional().describe("resource groups that may use it, with those below that inherit from them"),
};

export const knowledgeBaseCreate = z.strictObject({ name: recordName, ...written }).meta({ id: "KnowledgeBaseCreate" });
export const knowledgeBaseUpdate = z.strictObject({ name: recordName.optional(), ...written }).meta({ id: "KnowledgeBaseUpdate" });

const shown = {
  id: recordId,
  name: z.string(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  top_k: z.number().int(),
  similarity_threshold: z.number(),
  max_context_tokens: z.number().int(),
  document_count: z.number().int(),
  ready_count: z.number().int().describe("documents that can be found"),
  created_at: timestamp,
  updated_at: timestamp,
};

export const portalKnowledgeBase = z.strictObject(shown).meta({ id: "PortalKnowledgeBase" });

/** The passages an answer was based on, as far as the reader may read them. */
export const portalPassages = z
  .strictObject({
    passages: z.array(
      z.strictObject({
        document_id: recordId,
        ordinal: z.number().int(),
        collection_id: recordId,
        document_name: z.string(),
        heading: z.string(),
        text: z.string(),
      }),
    ),
  })
  .meta({ id: "PortalPassages" });

export const knowledgeBase = z
  .strictObject({
    ...shown,
    tenant_id: z.string(),
    embedding_model_id: recordId.nullable(),
    indexing_group_id: recordId.nullable(),
    group_ids: z.array(recordId),
  })
  .meta({ id: "KnowledgeBase" });

export const knowledgeBaseQuery = z.strictObject({ ...pageQuery.shape, search });

const sourceIdentity = z.string().trim().min(1).max(300);

/** Who may read a document in its source system. */
const permissions = z
  .strictObject({
    connector_type: connectorType,
    identities: z.array(sourceIdentity).max(1000).describe("users and groups of that system; `*` is everybody, none is nobody"),
  })
  .nullable()
  .describe("null: everybody who may use the knowledge base finds it; otherwise only end users who are mapped to one of these identities");

export const documentStatus = z.enum(["queued", "processing", "ready", "failed"]);

export const knowledgeDocument = z
  .strictObject({
    id: recordId,
    knowledge_base_id: recordId,
    name: z.string(),
    kind: z.enum(["text", "markdown", "csv", "html", "pdf", "docx", "pptx", "xlsx", "email"]),
    size_bytes: z.number().int(),
    digest: z.string().describe("sha256: and 64 hex digits"),
    metadata: z.record(z.string(), z.unknown()),
    status: documentStatus,
    reason: z.string().nullable().describe("why it failed, or what it waits for"),
    chunk_count: z.number().int().describe("passages of it that can be found"),
    permissions,
    created_at: timestamp,
    updated_at: timestamp,
    processed_at: timestamp.nullable(),
  })
  .meta({ id: "KnowledgeDocument" });

export const knowledgeDocumentQuery = z.strictObject({ ...pageQuery.shape, search, status: documentStatus.optional() });

/** Form fields of an upload besides the file. */
export const knowledgeDocumentForm = z.strictObject({ name: nameText(300).min(1), metadata, permissions });

export const knowledgeSearch = z
  .strictObject({
    query: z.string().trim().min(1).max(4000),
    top_k: z.number().int().min(1).max(50).optional().describe("instead of the knowledge base's own"),
    similarity_threshold: z.number().min(0).max(1).optional().describe("instead of the knowledge base's own"),
    filters: metadata.optional().describe("metadata a document must have, each member with this value"),
    end_user_id: recordId.optional().describe("what this end user would find; default: everything"),
  })
  .meta({ id: "KnowledgeSearch" });

export const knowledgePassage = z
  .strictObject({
    document_id: recordId,
    document_name: z.string(),
    ordinal: z.number().int().describe("its place in the document, from 0"),
    heading: z.string().describe("the headings above it"),
    text: z.string(),
    tokens: z.number().int(),
    score: z.number().describe("combines the two ranks; comparable only within the same search"),
    similarity: z.number().nullable().describe("cosine of its vector and the question's; null where there is none"),
    lexical_rank: z.number().int().nullable().describe("rank by words, from 1"),
    vector_rank: z.number().int().nullable().describe("rank by vectors, from 1"),
    left_out: z
      .enum(["below_threshold", "beyond_top_k", "beyond_max_context_tokens"])
      .nullable()
      .describe("why a call would not get it; null: it would"),
  })
  .meta({ id: "KnowledgePassage" });

export const knowledgeSearchAnswer = z
  .strictObject({
    passages: z.array(knowledgePassage),
    by_vectors: z.boolean().describe("false: by words only"),
    why_not_by_vectors: z.string().nullable(),
    duration_ms: z.number().int(),
  })
  .meta({ id: "KnowledgeSearchAnswer" });

export type KnowledgeBase = z.output<typeof knowledgeBase>;
export type KnowledgeBaseCreate = z.output<typeof knowledgeBaseCreate>;
export type KnowledgeBaseUpdate = z.output<typeof knowledgeBaseUpdate>;
export type KnowledgeBaseQuery = z.output<typeof knowledgeBaseQuery>;
export type KnowledgeDocument = z.output<typeof knowledgeDocument>;
export type KnowledgeDocumentQuery = z.output<typeof knowledgeDocumentQuery>;
export type KnowledgeSearchAnswer = z.output<typeof knowledgeSearchAnswer>;
export type PortalPassages = z.output<typeof portalPassages>;
export type PortalKnowledgeBase = z.output<typeof portalKnowledgeBase>;
export type DocumentPermissions = NonNullable<KnowledgeDocument["permissions"]>;
