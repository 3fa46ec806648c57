import { z } from "zod";
import { pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

const MONTH_SECONDS = 31 * 86_400;
const ttl = z.number().int().min(1).max(MONTH_SECONDS);
const threshold = z.number().min(0.5).max(1);

const exactWritten = z.strictObject({ enabled: z.boolean().optional(), ttl_seconds: ttl.optional().describe("3600 when left out") });
const semanticWritten = z.strictObject({
  enabled: z.boolean().optional(),
  similarity_threshold: threshold.optional().describe("cosine similarity two questions must have at least; 0.95 when left out"),
  ttl_seconds: ttl.optional().describe("3600 when left out"),
});

const groupIds = z.array(recordId).max(1000);

const written = {
  enabled: z.boolean().optional(),
  exact_match: exactWritten.optional().describe("on when left out at creation; replaced as a whole, as the next"),
  semantic_match: semanticWritten.optional().describe("off when left out at creation"),
  embedding_model_id: recordId
    .nullable()
    .optional()
    .describe("model that turns questions into vectors; required when semantic_match is enabled"),
  scope: z
    .enum(["group", "tenant"])
    .optional()
    .describe("group (when left out): only callers of one resource group share answers; tenant: groups under the same policies share them"),
  max_temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe("requests that ask for a higher temperature are always answered anew; 0 when left out"),
  include_tools: z.boolean().optional().describe("whether answers to requests that offer tools may be given again; false when left out"),
  group_ids: groupIds.optional().describe("groups it holds for, with those below them"),
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
  replace: z.enum(["true", "false"]).optional().describe("true: the groups named take the place of those bound before"),
});
export const semanticCacheBinding = z
  .strictObject({
    bound: z.array(recordId).describe("bound now"),
    already_bound: z.array(recordId),
    group_ids: z.array(recordId).describe("all it holds for"),
  })
  .meta({ id: "SemanticCacheBinding" });

export const semanticCacheInvalidation = z
  .strictObject({
    before: timestamp.optional().describe("only answers stored before then"),
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
