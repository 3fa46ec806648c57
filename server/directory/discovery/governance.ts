import type { GovernedRecords } from "../../store/assurance/governed-endpoints.ts";
import type { JudgedAsset } from "../../store/discovery/assets-to-judge.ts";
import type { Judgement } from "../../store/discovery/asset-judgements.ts";

/** What a tenant governs, by how a discovered asset can be recognized. A matching name proves nothing about an address. */
export interface GovernedPlaces {
  readonly origins: ReadonlySet<string>;
  readonly toolServers: ReadonlySet<string>;
  readonly virtualServers: ReadonlySet<string>;
  /** The upstream addresses of tool servers and agents. */
  readonly addresses: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
  /** Caches verdicts by address, because many clients share the same few. */
  readonly known: Map<string, boolean>;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** The origins that are equivalent to an address: the local machine has several names. */
export function gatewayOriginsOf(address: string | null): string[] {
  if (address === null || !URL.canParse(address)) return [];
  const url = new URL(address);
  if (!LOOPBACK.includes(url.hostname)) return [url.origin];
  return LOOPBACK.map((name) => `${url.protocol}//${name}${url.port === "" ? "" : `:${url.port}`}`);
}

/** Normalizes an address, ignoring a trailing slash. */
function addressOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { origin, pathname } = new URL(text);
  return origin === "null" ? null : `${origin}${pathname.replace(/\/+$/, "")}`;
}

export function governedOf(records: GovernedRecords, own: readonly string[]): GovernedPlaces {
  const addresses = [
    ...records.toolServers.map(({ base_url: base, mcp_endpoint_path: path }) => `${base.replace(/\/+$/, "")}${path}`),
    ...records.agents.flatMap(({ base_url: base, card_url: card, endpoint_url: endpoint }) => [base, card, endpoint]),
  ];
  return {
    origins: new Set([...own, ...records.gatewayOrigins]),
    toolServers: new Set(records.toolServers.map(({ id }) => id)),
    virtualServers: new Set(records.virtualServers),
    addresses: new Set(addresses.flatMap((address) => (address === null ? [] : (addressOf(address) ?? [])))),
    models: new Set(records.models.flatMap(({ name, model_name: upstream }) => [name, upstream])),
    known: new Map(),
  };
}

type Verdict = readonly [status: "governed" | "partially_governed" | "ungoverned", reason: string];

/** The paths at which a gateway serves tool servers. */
export const GATEWAY_PATH = /^\/v1\/proxy\/(mcp|vmcp)\/([^/]+)\/?$/;

/** Whether an address is this gateway's, for a tool server that it has. */
function passesGateway(endpoint: string, governed: GovernedPlaces): boolean {
  const known = governed.known.get(endpoint) ?? isRoute(endpoint, governed);
  governed.known.set(endpoint, known);
  return known;
}

function isRoute(endpoint: string, governed: GovernedPlaces): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { origin, pathname } = new URL(endpoint);
  if (!governed.origins.has(origin)) return false;
  const [, kind, id = ""] = GATEWAY_PATH.exec(pathname) ?? [];
  return kind === "mcp" ? governed.toolServers.has(id) : kind === "vmcp" && governed.virtualServers.has(id);
}

function ofLocalServer({ endpoints, attributes }: JudgedAsset, governed: GovernedPlaces): Verdict {
  if (attributes.unresolved === true) return ["ungoverned", "Its address has a variable in it, so nobody knows where it goes."];
  if (endpoints.length === 0) return ["ungoverned", "It is a process of the device itself, and not called through the gateway."];
  if (endpoints.every((endpoint) => passesGateway(endpoint, governed))) return ["governed", "It is called through the gateway."];
  const ours = endpoints.some((endpoint) => URL.canParse(endpoint) && governed.origins.has(new URL(endpoint).origin));
  return ["ungoverned", ours ? "Its address is the gateway's, of no tool server it has." : "It is called past the gateway."];
}

function ofClient({ attributes }: JudgedAsset, servers: readonly Verdict[], governed: GovernedPlaces): Verdict {
  const endpoint = attributes.model_endpoint;
  const models = typeof endpoint === "string" && URL.canParse(endpoint) && governed.origins.has(new URL(endpoint).origin);
  const through = servers.filter(([status]) => status === "governed").length;
  const summary = `${through} of its ${servers.length} tool servers go through the gateway; its model calls ${models ? "do" : "do not, or nobody knows"}.`;
  if (models && through === servers.length) return ["governed", summary];
  return [models || through > 0 ? "partially_governed" : "ungoverned", summary];
}

function ofInventory({ asset_type: type, name, endpoints }: JudgedAsset, governed: GovernedPlaces): Verdict {
  if (type === "model")
    return governed.models.has(name)
      ? ["governed", "A model of this name is registered."]
      : ["ungoverned", "No model of this name is registered."];
  const known = (endpoint: string) => passesGateway(endpoint, governed) || governed.addresses.has(addressOf(endpoint) ?? "");
  if (endpoints.length === 0) return ["ungoverned", "No address of it is known."];
  if (endpoints.every(known)) return ["governed", "Its address is a registered one."];
  return endpoints.some(known)
    ? ["partially_governed", "Some of its addresses are registered."]
    : ["ungoverned", "Its address is no registered one."];
}

const placeOf = (deviceId: string | null, client: unknown) => JSON.stringify([deviceId, client]);

/**
 * The assets whose governance differs from what is stored. Clients are judged by their servers, so all assets of a device
 * must be judged together.
 */
export function judge(assets: readonly JudgedAsset[], governed: GovernedPlaces): Judgement[] {
  const verdicts = new Map<string, Verdict>();
  const ofClients = new Map<string, Verdict[]>();
  for (const asset of assets) {
    if (asset.asset_type === "local_ai_client") continue;
    const verdict = asset.asset_type === "local_mcp_server" ? ofLocalServer(asset, governed) : ofInventory(asset, governed);
    verdicts.set(asset.id, verdict);
    if (asset.asset_type !== "local_mcp_server" || asset.status !== "active" || asset.attributes.inactive === true) continue;
    const place = placeOf(asset.device_id, asset.attributes.client);
    const servers = ofClients.get(place);
    if (servers === undefined) ofClients.set(place, [verdict]);
    else servers.push(verdict);
  }
  for (const asset of assets)
    if (asset.asset_type === "local_ai_client")
      verdicts.set(asset.id, ofClient(asset, ofClients.get(placeOf(asset.device_id, asset.attributes.client)) ?? [], governed));
  return assets.flatMap(({ id, dismissed_reason: dismissed, governance_status: before, governance_reason: why }) => {
    const [status, reason] = dismissed === null ? (verdicts.get(id) as Verdict) : (["dismissed", dismissed] as const);
    return status === before && reason === why ? [] : [{ id, governance_status: status, governance_reason: reason }];
  });
}
