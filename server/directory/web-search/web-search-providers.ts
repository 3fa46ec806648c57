import type {
  WebSearchProvider,
  WebSearchProviderCreate,
  WebSearchProviderQuery,
  WebSearchProviderUpdate,
} from "@gatehouse/contracts/web-search";
import { uuid } from "../../kernel/ids.ts";
import { sealContext } from "../../kernel/secrets.ts";
import { mcpServerStore, type McpServerInsert } from "../../store/tools/mcp-servers.ts";
import {
  type WebSearchProviderInsert,
  webSearchProviderIdByName,
  type WebSearchProviderPatch,
  type WebSearchProviderRow,
  webSearchProviderStore,
} from "../../store/tools/web-search-providers.ts";
import { lockName } from "../../store/connections/named-lock.ts";
import { type DiscoveredServer, recordDiscovery } from "../tools/mcp-servers.ts";
import { hintOf, invalidField, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { WEB_SEARCH_URL, webSearchServerId } from "./own-server.ts";

/** What is recorded about a server of the gateway's own. */
export type OwnServer = DiscoveredServer & { readonly name: string; readonly description: string };

const USUAL_ADDRESS: Readonly<Record<string, string>> = {
  brave: "https://api.search.brave.com",
  tavily: "https://api.tavily.com",
  exa: "https://api.exa.ai",
};

const read = (row: WebSearchProviderRow): WebSearchProvider => ({
  id: row.id,
  tenant_id: row.tenant_id,
  name: row.name,
  kind: row.kind as WebSearchProvider["kind"],
  base_url: row.base_url,
  has_api_key: row.api_key_sealed !== null,
  api_key_hint: row.api_key_hint,
  price_per_search_usd: row.price_per_search_usd,
  safe_search: row.safe_search as WebSearchProvider["safe_search"],
  country: row.country,
  language: row.language,
  max_results: row.max_results,
  timeout: row.timeout,
  cache_seconds: row.cache_seconds,
  priority: row.priority,
  enabled: row.enabled,
  server_id: webSearchServerId(row.tenant_id),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

function sealedKey(write: Write, id: string, apiKey: string | null | undefined) {
  if (apiKey === undefined) return {};
  if (apiKey === null) return { api_key_sealed: null, api_key_hint: null };
  return { api_key_sealed: write.directory.secrets.seal(apiKey, sealContext("web_search_providers", id)), api_key_hint: hintOf(apiKey) };
}

function refuseKeyless(kind: string, keyed: boolean): void {
  if (kind !== "searxng" && !keyed) throw invalidField("api_key", `is required for kind ${kind}`);
}

export const webSearchProviders = records<
  WebSearchProviderRow,
  WebSearchProviderInsert,
  WebSearchProviderPatch,
  WebSearchProvider,
  WebSearchProviderCreate,
  WebSearchProviderUpdate,
  WebSearchProviderQuery,
  string
>({
  resource: "web-search",
  noun: "web search provider",
  store: webSearchProviderStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, { name }) => webSearchProviderIdByName(write.trx, tenantId, name),
  async toInsert(write, tenantId, body) {
    const id = uuid();
    const { api_key: apiKey, base_url: address, kind, ...rest } = body;
    refuseKeyless(kind, apiKey != null);
    const baseUrl = address ?? USUAL_ADDRESS[kind];
    if (baseUrl === undefined) throw invalidField("base_url", `is required for kind ${kind}`);
    return {
      ...rest,
      id,
      tenant_id: tenantId,
      kind,
      base_url: baseUrl,
      price_per_search_usd: body.price_per_search_usd ?? null,
      country: body.country ?? null,
      language: body.language ?? null,
      api_key_sealed: null,
      api_key_hint: null,
      ...sealedKey(write, id, apiKey),
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, _tenantId, row, body) {
    const { api_key: writtenKey, ...rest } = body;
    const stored = write.directory.secrets.openOrNull(row.api_key_sealed, sealContext("web_search_providers", row.id));
    const apiKey = writtenKey === stored && (stored !== null || row.api_key_sealed === null) ? undefined : writtenKey;
    // An admin who may write providers may not read keys, so a key must not be sent to another host.
    if (
      body.base_url !== undefined &&
      new URL(body.base_url).origin !== new URL(row.base_url).origin &&
      writtenKey === undefined &&
      row.api_key_sealed !== null
    )
      throw invalidField("api_key", "must be sent again when base_url moves to another host");
    if (writtenKey === null) refuseKeyless(row.kind, false);
    return { ...rest, ...sealedKey(write, row.id, apiKey), updated_at: write.now };
  },
  dependents: async () => [],
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** Creates the tool server for web searches, or updates it to this release. */
export async function ensureWebSearchServer(
  write: Write,
  tenantId: string,
  own: OwnServer,
  diff: Parameters<typeof recordDiscovery>[5],
): Promise<void> {
  const id = webSearchServerId(tenantId);
  await lockName(write.trx, `mcp_servers/${tenantId}`);
  const there = await mcpServerStore.find(write.trx, tenantId, id);
  if (there?.server_version === own.serverVersion) return;
  if (there === undefined) {
    const row: McpServerInsert = {
      id,
      tenant_id: tenantId,
      name: own.name,
      description: own.description,
      base_url: WEB_SEARCH_URL,
      mcp_endpoint_path: "",
      timeout: 60,
      created_at: write.now,
      updated_at: write.now,
    } as McpServerInsert;
    await mcpServerStore.insert(write.trx, row);
    write.log({ tenant_id: tenantId, action: "create", resource: "mcp-servers", resource_id: id, after: { name: own.name } });
  }
  await recordDiscovery(write, tenantId, id, WEB_SEARCH_URL, own, diff);
}
