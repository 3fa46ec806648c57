import type { SemanticCacheConfigRow } from "../../store/models/semantic-cache-configs.ts";
import type { ModelEntry } from "../models/model-entry.ts";

/** How answers to a group's callers may be given again, compiled. */
export interface SemanticCacheEntry {
  readonly id: string;
  /** Another one once stored answers stopped being valid. */
  readonly generation: string;
  readonly scope: "group" | "tenant";
  /** Seconds; null where exact matches are off. */
  readonly exactTtl: number | null;
  /** Null where only exact matches count, or the model that embeds is gone or switched off. */
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
