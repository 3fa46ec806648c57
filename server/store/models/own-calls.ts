import { SUBTYPES_WITHOUT_MODEL } from "../../kernel/operations/subtypes-without-model.ts";

/**
 * How the rows of calls are filed that the gateway makes itself on behalf of a caller's. What they use counts like
 * anything else; requests they are of nobody.
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

/** Of an audit row, in SQL: whether a caller made it. */
export const MADE_BY_CALLER = subtypeIsNone(OWN_CALLS);

/** Whether it is a request to a model that quotas count: a caller made it, and it did not only ask for what was made before. */
export const IS_REQUEST = subtypeIsNone([...new Set([...OWN_CALLS, ...SUBTYPES_WITHOUT_MODEL])]);
