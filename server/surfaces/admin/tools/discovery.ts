import { listOf } from "@gatehouse/contracts/conventions";
import {
  collectorKey,
  collectorKeyCreate,
  collectorKeyQuery,
  discoveredAsset,
  discoveredAssetList,
  discoveredAssetQuery,
  discoveryDevice,
  discoveryDeviceQuery,
  discoverySettings,
  discoverySettingsPatch,
  assetDismissal,
  onboardedAsset,
  reconciledAssets,
} from "@gatehouse/contracts/discovery";
import { listCollectorKeys, registerCollectorKey, revokeCollectorKey } from "../../../directory/discovery/collector-keys.ts";
import {
  dismissAsset,
  getDiscoveredAsset,
  listDevices,
  listDiscoveredAssets,
  onboardAsset,
  reconcileAssets,
  restoreAsset,
} from "../../../directory/discovery/discovered-assets.ts";
import { getDiscoverySettings, setDiscoverySettings } from "../../../directory/discovery/discovery-settings.ts";
import { discoveryCoverageOf } from "../../../directory/discovery/discovery-coverage.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/discovery";
const ONE = `${PATH}/assets/{id}`;
const reading = { tag: "Discovery", access: "discovery:read", reach: "one", method: "GET" } as const;
const writing = { tag: "Discovery", access: "discovery:write", reach: "one", method: "POST" } as const;
const ofAsset = { subject: "discovered_assets" } as const;

export const discoveryOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    path: `${PATH}/assets`,
    summary: "List assets found on devices and in inventories",
    description: "Most recently seen first. `coverage` counts all of the tenant's, whatever was asked for.",
    query: discoveredAssetQuery,
    answer: { status: 200, about: "One page of them, with the coverage", schema: discoveredAssetList },
    async run(call) {
      const { directory } = call.services;
      const page = await listed("assets", call, (bounds) => listDiscoveredAssets(directory, call.tenantId, call.query, bounds));
      return { ...(page as object), coverage: await discoveryCoverageOf(directory.db, call.tenantId) };
    },
  }),
  operation({
    ...reading,
    ...ofAsset,
    path: ONE,
    summary: "Read a found asset",
    answer: { status: 200, about: "The asset", schema: discoveredAsset },
    run: (call) => getDiscoveredAsset(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    ...ofAsset,
    path: `${ONE}/onboard`,
    summary: "Mark a found asset as adopted",
    description: "Returns the values to register it with. It counts as governed only once it is registered and called through the gateway.",
    answer: { status: 200, about: "The asset, and what to register", schema: onboardedAsset },
    run: (call) => call.write((write) => onboardAsset(write, call.tenantId, idOf(call), call.services.gatewayOrigins)),
  }),
  operation({
    ...writing,
    ...ofAsset,
    path: `${ONE}/dismiss`,
    summary: "Dismiss a found asset",
    description: "With a reason. It holds until a collector reports another configuration.",
    body: assetDismissal,
    answer: { status: 200, about: "The asset as it is now", schema: discoveredAsset },
    run: (call) => call.write((write) => dismissAsset(write, call.tenantId, idOf(call), call.body.reason, call.services.gatewayOrigins)),
  }),
  operation({
    ...writing,
    ...ofAsset,
    path: `${ONE}/restore`,
    summary: "Undo the dismissal of a found asset",
    answer: { status: 200, about: "The asset as it is now", schema: discoveredAsset },
    run: (call) => call.write((write) => restoreAsset(write, call.tenantId, idOf(call), call.services.gatewayOrigins)),
  }),
  operation({
    ...writing,
    path: `${PATH}/reconcile`,
    summary: "Compare everything found with what is governed now",
    description: "Reports of collectors are compared on arrival; this compares everything again after records were created or removed.",
    answer: { status: 200, about: "How many assets changed", schema: reconciledAssets },
    run: (call) => call.write((write) => reconcileAssets(write, call.tenantId, call.services.gatewayOrigins)),
  }),
  operation({
    ...reading,
    path: `${PATH}/devices`,
    summary: "List devices",
    description: "Those seen last first, each with its active assets counted.",
    query: discoveryDeviceQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("devices", discoveryDevice) },
    run: (call) => listed("devices", call, (page) => listDevices(call.services.directory, call.tenantId, call.query.q, page)),
  }),
  operation({
    ...reading,
    path: `${PATH}/collector-keys`,
    summary: "List the keys of collectors",
    query: collectorKeyQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("collector_keys", collectorKey) },
    run: (call) => listed("collector_keys", call, (page) => listCollectorKeys(call.services.directory, call.tenantId, call.query, page)),
  }),
  operation({
    ...writing,
    path: `${PATH}/collector-keys`,
    summary: "Register the key of a collector",
    description: "The public half; the private one stays where the collector runs. The id made is the `key_id` of what it sends.",
    body: collectorKeyCreate,
    answer: { status: 201, about: "The key", schema: collectorKey },
    run: (call) => call.write((write) => registerCollectorKey(write, call.tenantId, call.body)),
  }),
  operation({
    ...writing,
    subject: "collector_keys",
    path: `${PATH}/collector-keys/{id}/revoke`,
    summary: "Revoke the key of a collector",
    description: "Permanently: from the next request on, nothing signed with it is accepted.",
    answer: { status: 200, about: "The key", schema: collectorKey },
    run: (call) => call.write((write) => revokeCollectorKey(write, call.tenantId, idOf(call))),
  }),
  operation({
    ...reading,
    path: `${PATH}/settings`,
    summary: "Read the addresses at which clients reach this gateway",
    answer: { status: 200, about: "The settings", schema: discoverySettings },
    run: (call) => getDiscoverySettings(call.services.directory.db, call.tenantId),
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: `${PATH}/settings`,
    summary: "Set the addresses at which clients reach this gateway",
    description: "In addition to GW_PUBLIC_URL. Only clients that call one of these origins count as governed.",
    body: discoverySettingsPatch,
    answer: { status: 200, about: "The settings as they are now", schema: discoverySettings },
    run: (call) =>
      call.write((write) => setDiscoverySettings(write, call.tenantId, call.body.gateway_origins, call.services.gatewayOrigins)),
  }),
];
