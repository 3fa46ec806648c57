import {
  webSearchProvider,
  webSearchProviderCreate,
  webSearchProviderQuery,
  webSearchProviderUpdate,
} from "@gatehouse/contracts/web-search";
import { ensureWebSearchServer, webSearchProviders } from "../../../directory/web-search/web-search-providers.ts";
import { WEB_SEARCH_SERVER } from "../../../services/web-search/definitions.ts";
import { diffTools } from "../../../wire/mcp/tool-diff.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { resource } from "../resource.ts";

const PATH = "/v1/admin/web-search";
const TAG = "Web search";

const create = operation({
  tag: TAG,
  access: "tools:write",
  reach: "one",
  method: "POST",
  path: PATH,
  summary: "Create a web search provider",
  description:
    "With the tenant's first the tool server `system-web-search-{tenant}` is made, with the tools `web_search` and `web_fetch`: " +
    "a server configuration then grants it to groups.",
  body: webSearchProviderCreate,
  answer: { status: 201, about: "The record made", schema: webSearchProvider },
  run: (call) =>
    call.write(async (write) => {
      await ensureWebSearchServer(write, call.tenantId, WEB_SEARCH_SERVER, diffTools);
      return webSearchProviders.create(write, call.tenantId, call.body);
    }),
});

export const webSearchOperations: readonly AdminOperation[] = resource({
  path: PATH,
  key: "web_search_providers",
  noun: "web search provider",
  tag: TAG,
  area: "tools",
  table: "web_search_providers",
  records: webSearchProviders,
  query: webSearchProviderQuery,
  create: webSearchProviderCreate,
  update: webSearchProviderUpdate,
  read: webSearchProvider,
  notes: { remove: "The tool server stays; without a provider it finds nothing." },
}).map((one) => (one.method === "POST" ? create : one));
