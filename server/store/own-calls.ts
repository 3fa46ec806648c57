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
] as const;

export type OwnCall = (typeof OWN_CALLS)[number];

/** Of an audit row, in SQL: whether a caller made it. */
export const MADE_BY_CALLER = `coalesce(proxy_subtype, '') NOT IN (${OWN_CALLS.map((subtype) => `'${subtype}'`).join(", ")})`;
