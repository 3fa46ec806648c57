import type { SemanticCacheEntry } from "./config-entry.ts";

/** The parts of a scope that determine its configuration. */
interface CachingScope {
  readonly chain: readonly { readonly id: string }[];
  readonly tenant: { readonly semanticCaches: readonly SemanticCacheEntry[] };
}

/** The configuration of the nearest group in the scope's chain that has one. */
export function semanticCacheOf({ chain, tenant }: CachingScope): SemanticCacheEntry | null {
  if (tenant.semanticCaches.length === 0) return null;
  for (const { id } of chain) {
    const found = tenant.semanticCaches.find(({ groupIds }) => groupIds.has(id));
    if (found !== undefined) return found;
  }
  return null;
}
