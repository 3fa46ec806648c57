import type { SemanticCacheEntry } from "./config-entry.ts";

/** A scope, as far as the configuration that holds for it is found by it. */
interface CachingScope {
  readonly chain: readonly { readonly id: string }[];
  readonly tenant: { readonly semanticCaches: readonly SemanticCacheEntry[] };
}

/** The configuration that holds for a scope: that of the nearest group of its chain which has one. */
export function semanticCacheOf({ chain, tenant }: CachingScope): SemanticCacheEntry | null {
  if (tenant.semanticCaches.length === 0) return null;
  for (const { id } of chain) {
    const found = tenant.semanticCaches.find(({ groupIds }) => groupIds.has(id));
    if (found !== undefined) return found;
  }
  return null;
}
