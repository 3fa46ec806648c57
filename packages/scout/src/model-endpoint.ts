import { reportedEndpoint } from "./endpoint.ts";
import { itemsIn, membersOf } from "./parse-config.ts";

/** The model endpoints in a client's configuration. */
function addressesIn(client: string, config: unknown): unknown[] {
  const top = membersOf(config);
  switch (client) {
    case "claude_code":
      return [membersOf(top.env).ANTHROPIC_BASE_URL];
    case "codex": {
      const chosen = typeof top.model_provider === "string" ? top.model_provider : null;
      const providers = Object.entries(membersOf(top.model_providers));
      return providers.filter(([name]) => chosen === null || name === chosen).map(([, provider]) => membersOf(provider).base_url);
    }
    case "continue":
      return itemsIn(top.models).map((model) => membersOf(model).apiBase);
    case "zed":
      return Object.values(membersOf(top.language_models)).map((model) => membersOf(model).api_url);
    case "opencode":
      return Object.values(membersOf(top.provider)).map((provider) => membersOf(membersOf(provider).options).baseURL);
    default:
      return [];
  }
}

/** Picks one endpoint, preferably one that is not the gateway's; null if there is none. */
export function modelEndpoint(client: string, configs: readonly unknown[], gatewayOrigins: ReadonlySet<string>): string | null {
  const endpoints = configs
    .flatMap((config) => addressesIn(client, config))
    .flatMap((address) => {
      const endpoint = reportedEndpoint(address, gatewayOrigins);
      return endpoint === null ? [] : [new URL(endpoint).origin];
    });
  return endpoints.find((origin) => !gatewayOrigins.has(origin)) ?? endpoints[0] ?? null;
}
