import { z } from "zod";
import { description, pageQuery, recordName, search, timestamp } from "./conventions.ts";

export const TRUST_TIERS = ["low", "standard", "high"] as const;
export const DISCOVERED_TYPES = ["local_ai_client", "local_mcp_server", "mcp_server", "agent", "model"] as const;
export const GOVERNANCE_STATUSES = ["governed", "partially_governed", "ungoverned", "dismissed"] as const;
export const INGEST_ADAPTERS = ["scout_events", "cyclonedx", "agent_inventory", "mdm_csv"] as const;

const assetType = z.enum(DISCOVERED_TYPES);
const governanceStatus = z.enum(GOVERNANCE_STATUSES);
const assetStatus = z.enum(["active", "gone"]);
const opaque = (most: number) => z.string().min(1).max(most);
const hash = z.string().regex(/^[A-Za-z0-9_=+/:-]{16,128}$/, "must be a hash in hex or base64");

export const collectorKeyCreate = z
  .strictObject({
    collector_id: z.string().regex(/^[\w.:-]{1,100}$/, "must be letters, digits, and . _ : -"),
    public_key: z.string().max(1000).describe("an Ed25519 public key: its 32 bytes in base64, or PEM"),
    trust_tier: z
      .enum(TRUST_TIERS)
      .describe(
        "low: may report for one device, the first it names; standard: for every device that no other collector named first; high: for any device",
      ),
  })
  .meta({ id: "CollectorKeyCreate" });

export const collectorKey = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    collector_id: z.string(),
    public_key: z.string().describe("its 32 bytes in base64"),
    trust_tier: z.enum(TRUST_TIERS),
    status: z.enum(["active", "revoked"]),
    device_id: z.string().nullable().describe("for the low tier: the device it reports for"),
    last_seen: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: "CollectorKey" });

export const collectorKeyQuery = z.strictObject({ ...pageQuery.shape, search, status: z.enum(["active", "revoked"]).optional() });

export const ASSET_TRANSPORTS = ["stdio", "http", "sse"] as const;

/** Facts a collector may report about an asset; all others are dropped. */
export const assetAttributes = z.object({
  client: opaque(60).optional(),
  scope: z.enum(["user", "project", "managed"]).optional(),
  transport: z.enum(ASSET_TRANSPORTS).optional(),
  command: opaque(60).optional(),
  package: opaque(214).optional(),
  package_version: opaque(100).optional(),
  args_count: z.number().int().min(0).max(100_000).optional(),
  env_count: z.number().int().min(0).max(100_000).optional(),
  header_count: z.number().int().min(0).max(100_000).optional(),
  inactive: z.boolean().optional(),
  unresolved: z.boolean().optional().describe("an address of it has a variable in it that the collector could not fill in"),
  model_endpoint: opaque(500).optional(),
});

/** Not strict: a collector may be newer than the gateway, so unknown members are dropped. */
export const discoveryEvent = z
  .object({
    event_id: opaque(100),
    kind: z.enum(["asset_seen", "asset_gone", "heartbeat"]),
    device_id: opaque(100),
    device_name: z.string().max(200).nullish(),
    observed_at: timestamp,
    asset_type: z.enum(["local_ai_client", "local_mcp_server"]).optional(),
    name: opaque(200).optional(),
    version: z.string().max(100).nullish(),
    location_hash: hash.nullish(),
    config_digest: hash.nullish(),
    endpoints: z.array(opaque(500)).max(10).default([]),
    attributes: assetAttributes.default({}),
  })
  .refine(({ kind, asset_type: type, name }) => kind === "heartbeat" || (type !== undefined && name !== undefined), {
    message: "needs asset_type and name",
  })
  .meta({ id: "DiscoveryEvent" });

export const MAX_DISCOVERY_EVENTS = 500;

export const discoveryEvents = z
  .object({
    collector_id: opaque(100),
    key_id: z.uuid(),
    sent_at: timestamp,
    nonce: z.string().min(8).max(100),
    events: z.array(discoveryEvent).min(1).max(MAX_DISCOVERY_EVENTS),
  })
  .meta({ id: "DiscoveryEvents" });

export const discoveryEventsTaken = z
  .strictObject({
    accepted: z.number().int(),
    duplicates: z.number().int().describe("events that were accepted before"),
    rejected: z.array(z.strictObject({ event_id: z.string(), reason: z.string() })),
    gateway_origins: z.array(z.string()).describe("addresses at which clients reach this gateway: a collector reports paths of these only"),
  })
  .meta({ id: "DiscoveryEventsTaken" });

export const discoveredAsset = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    source: z.enum(INGEST_ADAPTERS),
    asset_type: assetType,
    device_id: z.string().nullable(),
    device_name: z.string().nullable(),
    name: z.string(),
    version: z.string().nullable(),
    location_hash: z.string().nullable(),
    config_digest: z.string().nullable(),
    endpoints: z.array(z.string()),
    attributes: z.record(z.string(), z.unknown()),
    status: assetStatus,
    governance_status: governanceStatus,
    governance_reason: z.string(),
    dismissed_reason: z.string().nullable(),
    onboarded_at: timestamp.nullable(),
    first_seen: timestamp,
    last_seen: timestamp,
  })
  .meta({ id: "DiscoveredAsset" });

export const discoveredAssetQuery = z.strictObject({
  ...pageQuery.shape,
  asset_type: assetType.optional(),
  governance_status: governanceStatus.optional(),
  status: assetStatus.optional(),
  device_id: opaque(100).optional(),
  q: search,
});

const count = z.number().int();

export const discoveryCoverage = z
  .strictObject({
    total: count.describe("active assets, dismissed ones among them"),
    governed: count,
    partially_governed: count,
    ungoverned: count,
    dismissed: count,
    gone: count,
    devices: count,
    governed_pct: z.number().nullable().describe("of those not dismissed; null where there are none"),
    by_type: z.array(
      z.strictObject({
        asset_type: assetType,
        total: count,
        governed: count,
        partially_governed: count,
        ungoverned: count,
        dismissed: count,
      }),
    ),
  })
  .meta({ id: "DiscoveryCoverage" });

export const discoveredAssetList = z.object({
  assets: z.array(discoveredAsset),
  total: count.describe("number of items on all pages"),
  page: count,
  page_size: count,
  coverage: discoveryCoverage,
});

export const assetPrefill = z
  .strictObject({
    kind: z.enum(["mcp_server", "agent", "model", "client_configuration"]),
    path: z.string().nullable().describe("where to create the record; null if there is none to create"),
    body: z.record(z.string(), z.unknown()).describe("known values for creating the record"),
    note: z.string().describe("what is left to do"),
  })
  .meta({ id: "AssetPrefill" });

export const onboardedAsset = z.strictObject({ asset: discoveredAsset, prefill: assetPrefill }).meta({ id: "OnboardedAsset" });
export const assetDismissal = z.strictObject({ reason: z.string().trim().min(1).max(1000) }).meta({ id: "DismissAsset" });

export const reconciledAssets = z
  .strictObject({ checked: count, changed: count, coverage: discoveryCoverage })
  .meta({ id: "ReconciledAssets" });

export const discoveryDevice = z
  .strictObject({
    device_id: z.string(),
    device_name: z.string().nullable(),
    client_count: count,
    mcp_server_count: count,
    ungoverned_count: count,
    last_seen: timestamp,
  })
  .meta({ id: "DiscoveryDevice" });

export const discoveryDeviceQuery = z.strictObject({ ...pageQuery.shape, q: search });

const origin = z
  .string()
  .max(300)
  .transform((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url !== null && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase().replace(/\/$/, "")) return url.origin;
    context.addIssue({ code: "custom", message: "must be an origin such as https://gateway.example" });
    return z.NEVER;
  });

export const discoverySettings = z.strictObject({ gateway_origins: z.array(z.string()) }).meta({ id: "DiscoverySettings" });
export const discoverySettingsPatch = z
  .strictObject({
    gateway_origins: z.array(origin).max(50).describe("addresses at which clients reach this gateway, in addition to its public address"),
  })
  .meta({ id: "DiscoverySettingsPatch" });

export const ingestAdapters = z
  .strictObject({
    adapters: z.array(
      z.strictObject({
        id: z.enum(INGEST_ADAPTERS),
        title: z.string(),
        about: z.string(),
        path: z.string(),
        takes: z.array(z.string()),
        max_bytes: count,
      }),
    ),
  })
  .meta({ id: "IngestAdapters" });

export const inventoryTaken = z
  .strictObject({
    found: count,
    added: count,
    skipped: z.array(z.strictObject({ item: z.string(), reason: z.string() })).describe("the first 100"),
    skipped_count: count,
  })
  .meta({ id: "InventoryTaken" });

export const REGISTRY_TYPES = [
  "model",
  "mcp_server",
  "virtual_mcp_server",
  "agent",
  "skill",
  "knowledge_base",
  "ai_system",
  "local_ai_client",
  "local_mcp_server",
  "other",
] as const;
const registryType = z.enum(REGISTRY_TYPES);
const criticality = z.enum(["low", "medium", "high", "critical"]);
const assetTags = z.array(z.string().trim().min(1).max(60)).max(20);
const endpoint = z.string().max(500).nullable();

const reportedAsset = {
  description: description.optional(),
  owner: z.string().trim().min(1).max(200).nullable().optional().describe("the person accountable for it"),
  criticality: criticality.nullable().optional(),
  tags: assetTags.optional(),
};

export const assetCreate = z
  .strictObject({ name: recordName, asset_type: registryType, endpoint: endpoint.optional(), ...reportedAsset })
  .meta({ id: "AssetCreate" });

/** For a synced asset, name, type and endpoint follow its source and cannot be changed here. */
export const assetUpdate = z
  .strictObject({
    name: recordName.optional(),
    asset_type: registryType.optional(),
    endpoint: endpoint.optional(),
    status: assetStatus.optional(),
    ...reportedAsset,
  })
  .meta({ id: "AssetUpdate" });

export const asset = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    name: z.string(),
    asset_type: registryType,
    description: z.string().nullable(),
    owner: z.string().nullable(),
    criticality: criticality.nullable(),
    tags: z.array(z.string()),
    endpoint,
    governance_status: governanceStatus,
    status: assetStatus,
    source: z.strictObject({ kind: z.string(), id: z.string() }).nullable().describe("what it was synced from; null if entered by hand"),
    synced_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Asset" });

export const assetQuery = z.strictObject({
  ...pageQuery.shape,
  search,
  asset_type: registryType.optional(),
  governance_status: governanceStatus.optional(),
  status: assetStatus.optional(),
});

export const assetsSynced = z
  .strictObject({ added: count, changed: count, gone: count, total: count.describe("current number of assets") })
  .meta({ id: "AssetsSynced" });
export const assetExportQuery = z.strictObject({ format: z.enum(["json", "csv", "cyclonedx"]).default("json") });

export type CollectorKey = z.output<typeof collectorKey>;
export type CollectorKeyCreate = z.output<typeof collectorKeyCreate>;
export type CollectorKeyQuery = z.output<typeof collectorKeyQuery>;
export type DiscoveryEvent = z.output<typeof discoveryEvent>;
export type DiscoveryEvents = z.output<typeof discoveryEvents>;
export type DiscoveryEventsTaken = z.output<typeof discoveryEventsTaken>;
export type DiscoveredAsset = z.output<typeof discoveredAsset>;
export type DiscoveredAssetQuery = z.output<typeof discoveredAssetQuery>;
export type DiscoveryCoverage = z.output<typeof discoveryCoverage>;
export type DiscoveryDevice = z.output<typeof discoveryDevice>;
export type AssetPrefill = z.output<typeof assetPrefill>;
export type InventoryTaken = z.output<typeof inventoryTaken>;
export type Asset = z.output<typeof asset>;
export type AssetCreate = z.output<typeof assetCreate>;
export type AssetUpdate = z.output<typeof assetUpdate>;
export type AssetQuery = z.output<typeof assetQuery>;
export type RegistryType = z.output<typeof registryType>;
export type GovernanceStatus = z.output<typeof governanceStatus>;
export type DiscoveredType = z.output<typeof assetType>;
export type IngestAdapter = (typeof INGEST_ADAPTERS)[number];
