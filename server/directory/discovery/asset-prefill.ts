import type { AssetPrefill } from "@gatehouse/contracts/discovery";
import type { DiscoveredAssetRow } from "../../store/discovery/discovered-assets.ts";
import { GATEWAY_PATH } from "./governance.ts";

const GATEWAY_NOTE = "Then point the client at the address that the gateway gives it, and remove the old one.";

/** Turns a device's name for something into a valid record name, which is trimmed and not empty. */
const recordNameOf = (name: string) => name.trim().slice(0, 200) || "found on a device";

function toolServer({ name, endpoints, attributes, version, governance_status: status }: DiscoveredAssetRow): AssetPrefill {
  const [endpoint] = endpoints;
  const url = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint) : null;
  const command = typeof attributes.package === "string" ? attributes.package : attributes.command;
  const origin = url === null ? null : `${url.origin}${version === null ? "" : `, version ${version}`}`;
  const description =
    origin === null ? `Found as a local process${typeof command === "string" ? ` (${command})` : ""}.` : `Found at ${origin}.`;
  const known = url !== null && /^https?:$/.test(url.protocol);
  // This would register the gateway with itself.
  if (url !== null && GATEWAY_PATH.test(url.pathname))
    return {
      kind: "client_configuration",
      path: null,
      body: { client: attributes.client ?? name, address: endpoint },
      note:
        status === "governed"
          ? "It is called through the gateway already."
          : "Its address looks like a gateway's, and is of no tool server that this one has: put one of this gateway's in its place, or remove it.",
    };
  const path = url !== null && url.pathname !== "/" ? { mcp_endpoint_path: url.pathname } : {};
  return {
    kind: "mcp_server",
    path: "/v1/admin/mcp-servers",
    body: { name: recordNameOf(name), description, auth_type: "none", enabled: true, ...(known ? { base_url: url.origin, ...path } : {}) },
    note: known
      ? `Its path is not told by collectors: check it. ${GATEWAY_NOTE}`
      : `It runs as a process on the device: serve it over HTTP and fill in base_url. ${GATEWAY_NOTE}`,
  };
}

function agent({ name, endpoints }: DiscoveredAssetRow): AssetPrefill {
  const cardName = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  const [endpoint] = endpoints;
  return {
    kind: "agent",
    path: "/v1/admin/agents",
    body: {
      card_name: cardName || "found-agent",
      name: recordNameOf(name),
      enabled: true,
      ...(endpoint !== undefined && URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol) ? { base_url: endpoint } : {}),
    },
    note: "Grant it to the groups that may call it, and give callers the gateway's address of it.",
  };
}

/** The fields with which a discovered asset can be registered. Unknown ones are left out, never guessed. */
export function prefillOf(asset: DiscoveredAssetRow): AssetPrefill {
  switch (asset.asset_type) {
    case "agent":
      return agent(asset);
    case "model":
      return {
        kind: "model",
        path: "/v1/admin/llms",
        body: { name: recordNameOf(asset.name), model_name: asset.name, mode: "chat", enabled: true },
        note: "Choose its provider, and the groups that may call it.",
      };
    case "local_ai_client":
      return {
        kind: "client_configuration",
        path: null,
        body: { client: asset.attributes.client ?? asset.name },
        note: "Set the base URL of its models and the addresses of its tool servers to the gateway's, with an API key of the person's group.",
      };
    default:
      return toolServer(asset);
  }
}
