import { hash } from "node:crypto";
import { withoutSteering } from "@gatehouse/contracts/conventions";
import type { DiscoveryEvent, DiscoveryEvents, DiscoveryEventsTaken } from "@gatehouse/contracts/discovery";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { raiseAlert } from "../../store/policies/raise-alert.ts";
import { lockUsableKey, newEventIds, noteCollectorSeen, useNonce } from "../../store/discovery/collector-keys.ts";
import type { Trx } from "../../store/database.ts";
import { lockJudging } from "../../store/discovery/asset-judgements.ts";
import {
  countAssets,
  countAssetsOfDevices,
  endAssets,
  knownIdentities,
  putSeenAssets,
  type SeenAsset,
} from "../../store/discovery/discovered-assets.ts";
import { putDevices } from "../../store/discovery/seen-devices.ts";
import { readGatewayOrigins } from "../../store/assurance/governed-endpoints.ts";
import type { Directory } from "../writes/write.ts";
import { eventsByTrust } from "./events-by-trust.ts";
import { judgeAgain } from "./reconcile.ts";
import { sharedKeyAlert } from "./shared-key-alert.ts";
import { normalizedAddress } from "./normalized-address.ts";

/** Keeps a collector from filling the tables; the answer lists what was rejected. */
export const MAX_ASSETS_OF_DEVICE = 1_000;

export const MAX_ASSETS_OF_TENANT = 500_000;

/** The identity of an asset across sightings: where it is configured, and as what. */
export function identityOf(parts: readonly (string | null | undefined)[]): string {
  return hash("sha256", JSON.stringify(parts.map((part) => part ?? null)), "hex");
}

function identityOfEvent({ asset_type: type, device_id: device, location_hash: location, name, attributes }: DiscoveryEvent): string {
  return type === "local_ai_client"
    ? identityOf([type, device, attributes.client ?? name])
    : identityOf([type, device, location, attributes.client, name]);
}

/** The latest event of each asset. */
function latestOf(events: readonly DiscoveryEvent[]): Map<string, DiscoveryEvent> {
  const latest = new Map<string, DiscoveryEvent>();
  for (const event of events) {
    if (event.kind === "heartbeat") continue;
    const identity = identityOfEvent(event);
    const before = latest.get(identity);
    if (before === undefined || Date.parse(before.observed_at) <= Date.parse(event.observed_at)) latest.set(identity, event);
  }
  return latest;
}

/** Rejects new assets that exceed the limit of their device or of the tenant. */
async function withinBounds(
  trx: Trx,
  tenantId: string,
  seen: ReadonlyMap<string, DiscoveryEvent>,
): Promise<{ seen: [string, DiscoveryEvent][]; rejected: DiscoveryEventsTaken["rejected"] }> {
  const known = await knownIdentities(trx, tenantId, [...seen.keys()]);
  const added = [...seen].filter(([identity, { kind }]) => kind === "asset_seen" && !known.has(identity));
  if (added.length === 0) return { seen: [...seen], rejected: [] };
  const ofDevices = new Map(await countAssetsOfDevices(trx, tenantId, [...new Set(added.map(([, { device_id: id }]) => id))]));
  let total = await countAssets(trx, tenantId);
  const tooMany = new Set<string>();
  for (const [identity, { device_id: device }] of added) {
    const count = ofDevices.get(device) ?? 0;
    if (count >= MAX_ASSETS_OF_DEVICE || total >= MAX_ASSETS_OF_TENANT) tooMany.add(identity);
    else {
      ofDevices.set(device, count + 1);
      total++;
    }
  }
  const rejected = [...seen].flatMap(([identity, { event_id: id }]) =>
    tooMany.has(identity) ? [{ event_id: id, reason: "there are too many assets" }] : [],
  );
  return { seen: [...seen].filter(([identity]) => !tooMany.has(identity)), rejected };
}

const withoutSecrets = (attributes: DiscoveryEvent["attributes"]): DiscoveryEvent["attributes"] =>
  attributes.model_endpoint === undefined ? attributes : { ...attributes, model_endpoint: normalizedAddress(attributes.model_endpoint) };

const named = (name: string | null | undefined): string | null => (typeof name === "string" ? withoutSteering(name) : null);

const seenAsset = ([identity, event]: readonly [string, DiscoveryEvent]): SeenAsset => ({
  id: uuid(),
  identity,
  asset_type: event.asset_type as string,
  device_id: event.device_id,
  name: withoutSteering(event.name as string),
  version: event.version ?? null,
  location_hash: event.location_hash ?? null,
  config_digest: event.config_digest ?? null,
  endpoints: [...new Set(event.endpoints.map(normalizedAddress))].filter((address) => address !== ""),
  attributes: withoutSecrets(event.attributes),
  seen_at: new Date(event.observed_at),
});

/** Stores the events of an authenticated collector atomically; events already known are skipped. */
export async function takeEvents(
  directory: Pick<Directory, "db" | "clock">,
  keyId: string,
  sent: DiscoveryEvents,
  ownOrigins: readonly string[],
): Promise<DiscoveryEventsTaken | Refusal> {
  const now = new Date(directory.clock.now());
  const taken = await directory.db.transaction().execute(async (trx) => {
    const key = await lockUsableKey(trx, keyId);
    if (key === undefined) return refuse("unauthenticated", undefined, { reason: "collector_key_revoked" });
    // Locked before any device, because an import locks all judging before it writes to devices.
    await lockJudging(trx, key.tenant_id, "some");
    if (!(await useNonce(trx, keyId, sent.nonce, now))) return refuse("collector_replay");
    const isNew = await newEventIds(trx, keyId, [...new Set(sent.events.map(({ event_id: id }) => id))], now);
    const fresh = [...new Map(sent.events.map((event) => [event.event_id, event])).values()].filter(({ event_id: id }) => isNew.has(id));
    const { allowed, rejected, deviceId, sharedKey } = await eventsByTrust(trx, key, fresh);
    const { seen, rejected: beyond } = await withinBounds(trx, key.tenant_id, latestOf(allowed));
    const devices = new Map<string, { device_id: string; device_name: string | null; seen_at: Date }>();
    for (const { device_id: id, device_name: name } of allowed)
      devices.set(id, { device_id: id, device_name: named(name) ?? devices.get(id)?.device_name ?? null, seen_at: now });
    await putDevices(trx, key.tenant_id, key.collector_id, [...devices.values()]);
    await putSeenAssets(trx, key.tenant_id, "scout_events", seen.filter(([, { kind }]) => kind === "asset_seen").map(seenAsset));
    const gone = seen.filter(([, { kind }]) => kind === "asset_gone");
    await endAssets(
      trx,
      key.tenant_id,
      gone.map(([identity, event]) => ({ identity, seen_at: new Date(event.observed_at) })),
    );
    if (seen.length > 0)
      await judgeAgain(trx, key.tenant_id, { devices: [...new Set(seen.map(([, { device_id: id }]) => id))] }, ownOrigins);
    await noteCollectorSeen(trx, keyId, now, deviceId);
    return {
      key,
      sharedKey,
      answer: {
        accepted: allowed.length - beyond.length,
        duplicates: sent.events.length - fresh.length,
        rejected: [...rejected, ...beyond],
        gateway_origins: [...new Set([...ownOrigins, ...(await readGatewayOrigins(trx, key.tenant_id))])],
      },
    };
  });
  if (!("answer" in taken)) return taken;
  if (taken.sharedKey) await raiseAlert(directory.db, sharedKeyAlert(taken.key));
  return taken.answer;
}
