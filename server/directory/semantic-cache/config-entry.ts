import type { SemanticCacheConfigRow } from "../../store/models/semantic-cache-configs.ts";
import type { ModelEntry } from "../models/model-entry.ts";

/** A compiled semantic cache configuration: how answers to a group's callers may be reused. */
export interface SemanticCacheEntry {
  readonly id: string;
  /** Changes when stored answers are invalidated. */
  readonly generation: string;
  readonly scope: "group" | "tenant";
  /** Seconds; null if exact matches are disabled. */
  readonly exactTtl: number | null;
  /** Null if only exact matches count, or the embedding model is deleted or disabled. */
  readonly semantic: { readonly ttl: number; readonly threshold: number; readonly model: ModelEntry } | null;
  readonly maxTemperature: number;
  readonly includeTools: boolean;
  readonly groupIds: ReadonlySet<string>;
}

export function compileSemanticCaches(
  rows: readonly SemanticCacheConfigRow[],
  models: ReadonlyMap<string, ModelEntry>,
): SemanticCacheEntry[] {
  return rows.flatMap((row) => {
    if (!row.enabled) return [];
    const model = row.embedding_model_id === null ? undefined : models.get(row.embedding_model_id);
    const usable = model?.enabled === true;
    const semantic =
      row.semantic_match.enabled && usable
        ? { ttl: row.semantic_match.ttl_seconds, threshold: row.semantic_match.similarity_threshold, model }
        : null;
    const exactTtl = row.exact_match.enabled ? row.exact_match.ttl_seconds : null;
    if (semantic === null && exactTtl === null) return [];
    return [
      {
        id: row.id,
        generation: row.generation,
        scope: row.scope as SemanticCacheEntry["scope"],
        exactTtl,
        semantic,
        maxTemperature: row.max_temperature,
        includeTools: row.include_tools,
        groupIds: new Set(row.group_ids),
      },
    ];
  });
}
