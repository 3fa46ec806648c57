import type { GroupScope } from "../snapshot.ts";
import { isWithin } from "./domains.ts";
import type { SafeSearch } from "./safe-search.ts";

/** How a group may search the web and which pages it may fetch, merged over the group and its ancestors. */
export interface WebSearchPolicy {
  readonly safeSearch: SafeSearch | null;
  readonly maxResults: number | null;
  readonly fetch: "any" | "known" | "none";
  /** Passed to providers that can filter; their results are filtered here regardless. */
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
  /** Whether the lists of allowed domains have none in common. */
  readonly allowsNone: boolean;
  /** Whether a host is allowed by every group in the chain that lists domains, and denied by none. */
  permits(host: string): boolean;
  /** Like `permits`, but only if some group lists allowed domains. */
  names(host: string): boolean;
}

type PolicyScope = Pick<GroupScope, "groupId" | "chain"> & { readonly tenant: Pick<GroupScope["tenant"], "policies"> };

export function webSearchPolicyOf({ groupId, chain, tenant: { policies } }: PolicyScope): WebSearchPolicy {
  const effective = policies.effective(groupId, "web_search");
  // Checked per level: two lists without common domains allow nothing, whereas an empty list allows everything.
  const levels = chain.flatMap(({ id }) => {
    const allowed = policies.ownFields(id, "web_search").get("domains.allowed") as string[] | undefined;
    return allowed === undefined ? [] : [allowed];
  });
  const denied = (effective.get("domains.denied") as string[] | undefined) ?? [];
  const allows = (host: string) => levels.every((allowed) => allowed.some((domain) => isWithin(host, domain)));
  const denies = (host: string) => denied.some((domain) => isWithin(host, domain));
  const allowed = (effective.get("domains.allowed") as string[] | undefined) ?? [];
  return {
    safeSearch: (effective.get("search.safe_search") as SafeSearch | undefined) ?? null,
    maxResults: (effective.get("search.max_results") as number | undefined) ?? null,
    fetch: (effective.get("fetch.addresses") as WebSearchPolicy["fetch"] | undefined) ?? "known",
    allowed,
    denied,
    allowsNone: levels.length > 0 && allowed.length === 0,
    permits: (host) => allows(host) && !denies(host),
    names: (host) => levels.length > 0 && allows(host) && !denies(host),
  };
}
