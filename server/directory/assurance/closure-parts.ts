import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { readGroupChains } from "../../store/groups/group-chains.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { Directory } from "../writes/write.ts";

const PAGE = 200;

/** Members that do not affect what a record permits: timestamps, status, assignments to other groups, and secrets in any form. */
const BESIDE = new Set([
  ...[
    "created_at",
    "updated_at",
    "is_healthy",
    "health_checked_at",
    "discovered_at",
    "tools",
    "group_ids",
    "resource_group_ids",
    "tenant_id",
  ],
  ...["document_count", "ready_count"],
  ...["api_key", "credentials", "has_api_key", "api_key_hint", "has_credentials", "credential_settings", "icon_url", "outdated"],
]);

/** Members left out while they are as by default, so that contracts from before they existed still hold: the JSON of the default. */
const UNLESS_DEFAULT: Readonly<Record<string, string>> = { fallback_on: '["failure"]' };

/** SHA-256, in hex, of a record's configuration as the admin API shows it and the admin log keeps it. */
export function configurationDigest(record: object): string {
  const counted = Object.entries(record).filter(([name, value]) => !BESIDE.has(name) && JSON.stringify(value) !== UNLESS_DEFAULT[name]);
  return sha256Hex(canonicalJson(Object.fromEntries(counted)));
}

export interface ClosureReach {
  readonly directory: Directory;
  readonly tenantId: string;
  readonly id: string;
  readonly chain: Awaited<ReturnType<typeof readGroupChains>>;
}

export async function everything<T>(list: (page: Page) => Promise<Paged<T>>): Promise<T[]> {
  const all: T[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const { items, total } = await list({ limit: PAGE, offset });
    all.push(...items);
    if (items.length < PAGE || all.length >= total) return all;
  }
}

/** The order does not matter, as canonical JSON sorts the IDs. */
export const byId = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> => Object.fromEntries(entries);

export const mapPage = <Row, Read>({ items, total }: Paged<Row>, read: (row: Row) => Read): Paged<Read> => ({
  items: items.map(read),
  total,
});
