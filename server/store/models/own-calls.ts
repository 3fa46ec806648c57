import { SUBTYPES_WITHOUT_MODEL } from "../../kernel/operations/subtypes-without-model.ts";

/**
 * Subtypes of the rows of calls that the gateway makes itself for a caller's call. Their tokens and cost count as usual, but they are
 * nobody's requests.
 */
export const OWN_CALLS = [
  "semantic_policy_judge",
  "semantic_cache_embedding",
  "guardrail_model",
  "knowledge_embedding",
  "video_end",
  "response_end",
  "task_cost",
] as const;

export type OwnCall = (typeof OWN_CALLS)[number];

const subtypeIsNone = (of: readonly string[]) => `coalesce(proxy_subtype, '') NOT IN (${of.map((subtype) => `'${subtype}'`).join(", ")})`;

/** SQL condition on an audit row: a caller made the call. */
export const MADE_BY_CALLER = subtypeIsNone(OWN_CALLS);

/** SQL condition: the call is a model request that quotas count, made by a caller and not only fetching an earlier result. */
export const IS_REQUEST = subtypeIsNone([...new Set([...OWN_CALLS, ...SUBTYPES_WITHOUT_MODEL])]);
