import { z } from "zod";
import { pageQuery, queryFlag, recordId, recordName, search, timestamp } from "./conventions.ts";

const MONTH_SECONDS = 31 * 86_400;
const ttl = z.number().int().min(1).max(MONTH_SECONDS);
const threshold = z.number().min(0.5).max(1);

const exactWritten = z.strictObject({ enabled: z.boolean().optional(), ttl_seconds: ttl.optional().describe("default: 3600") });
const semanticWritten = z.strictObject({
  enabled: z.boolean().optional(),
  similarity_threshold: threshold.optional().describe("minimum cosine similarity of two questions; default: 0.95"),
  ttl_seconds: ttl.optional().describe("default: 3600"),
});

const groupIds = z.array(recordId).max(1000);

const written = {
  enabled: z.boolean().optional(),
  exact_match: exactWritten.optional().describe("default at creation: on; replaced as a whole, like the next one"),
  semantic_match: semanticWritten.optional().describe("default at creation: off"),
  embedding_model_id: recordId
    .nullable()
    .optional()
    .describe("model that turns questions into vectors; required when semantic_match is enabled"),
  scope: z
    .enum(["group", "tenant"])
    .optional()
    .describe("group (default): only callers of one resource group share answers; tenant: groups under the same policies share them"),
  max_temperature: z.number().min(0).max(2).optional().describe("requests with a higher temperature are always answered anew; default: 0"),
  include_tools: z.boolean().optional().describe("whether answers to requests that offer tools are cached; default: false"),
  group_ids: groupIds.optional().describe("groups to which it applies, with those below them"),
};

export const semanticCacheConfigCreate = z.strictObject({ name: recordName, ...written }).meta({ id: "SemanticCacheConfigCreate" });
export const semanticCacheConfigUpdate = z
  .strictObject({ name: recordName.optional(), ...written })
  .meta({ id: "SemanticCacheConfigUpdate" });

export const semanticCacheConfig = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    exact_match: z.strictObject({ enabled: z.boolean(), ttl_seconds: z.number() }),
    semantic_match: z.strictObject({ enabled: z.boolean(), similarity_threshold: z.number(), ttl_seconds: z.number() }),
    embedding_model_id: recordId.nullable(),
    scope: z.enum(["group", "tenant"]),
    max_temperature: z.number(),
    include_tools: z.boolean(),
    group_ids: z.array(recordId),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "SemanticCacheConfig" });

export const semanticCacheConfigQuery = z.strictObject({ ...pageQuery.shape, search });

export const semanticCacheGroups = z.strictObject({ group_ids: groupIds }).meta({ id: "SemanticCacheGroups" });
export const semanticCacheGroupsQuery = z.strictObject({
  replace: queryFlag.optional().describe("true: the given groups replace those bound before"),
});
export const semanticCacheBinding = z
  .strictObject({
    bound: z.array(recordId).describe("bound now"),
    already_bound: z.array(recordId),
    group_ids: z.array(recordId).describe("all groups to which it applies"),
  })
  .meta({ id: "SemanticCacheBinding" });

export const semanticCacheInvalidation = z
  .strictObject({
    before: timestamp.optional().describe("only answers stored before this time"),
    model: z.string().min(1).max(200).optional().describe("only answers of this model, by its name or id"),
  })
  .meta({ id: "SemanticCacheInvalidation" });
export const semanticCacheInvalidated = z
  .strictObject({ invalidated: z.number().int().describe("answers that were dropped") })
  .meta({ id: "SemanticCacheInvalidated" });

export type SemanticCacheConfig = z.output<typeof semanticCacheConfig>;
export type SemanticCacheConfigCreate = z.output<typeof semanticCacheConfigCreate>;
export type SemanticCacheConfigUpdate = z.output<typeof semanticCacheConfigUpdate>;
export type SemanticCacheConfigQuery = z.output<typeof semanticCacheConfigQuery>;
export type SemanticCacheInvalidation = z.output<typeof semanticCacheInvalidation>;
