import type { InventoryTaken } from "@gatehouse/contracts/discovery";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { lockJudging } from "../../store/discovery/asset-judgements.ts";
import { countAssets, putSeenAssets, type SeenAsset } from "../../store/discovery/discovered-assets.ts";
import { putDevices } from "../../store/discovery/seen-devices.ts";
import type { Write } from "../writes/write.ts";
import type { InventoryItem } from "./inventory-item.ts";
import { type InventoryFormat, readInventory } from "./read-inventory.ts";
import { judgeAgain } from "./reconcile.ts";
import { identityOf, MAX_ASSETS_OF_TENANT } from "./take-events.ts";

const SHOWN_SKIPPED = 100;
/** The collector ID of devices that no collector reports yet. */
const NOBODYS = "";

const identityOfItem = (format: InventoryFormat, { asset_type: type, key }: InventoryItem) =>
  // The same identity that collectors use for a device's clients, so that both refer to one asset.
  identityOf(format === "mdm_csv" ? [type, ...key] : [format, type, ...key]);

/** Merges a file's assets with those that collectors found. Assets that the file no longer names stay, because it may be one of several. */
export async function takeInventory(
  write: Write,
  tenantId: string,
  format: InventoryFormat,
  bytes: Uint8Array,
  ownOrigins: readonly string[],
): Promise<InventoryTaken> {
  const { items, skipped } = readInventory(format, bytes, write.now);
  const seen = new Map<string, SeenAsset>();
  const devices = new Map<string, { device_id: string; device_name: string | null; seen_at: Date }>();
  for (const item of items) {
    const identity = identityOfItem(format, item);
    const at = item.seen_at ?? write.now;
    const { key: _key, device_name: name, seen_at: _seen, ...facts } = item;
    const before = seen.get(identity);
    if (before === undefined || before.seen_at <= at)
      seen.set(identity, { ...facts, id: uuid(), identity, location_hash: null, config_digest: null, seen_at: at });
    if (item.device_id === null) continue;
    const known = devices.get(item.device_id);
    const latest = known === undefined || known.seen_at <= at ? at : known.seen_at;
    devices.set(item.device_id, { device_id: item.device_id, device_name: name ?? known?.device_name ?? null, seen_at: latest });
  }
  const assets = [...seen.values()];
  await lockJudging(write.trx, tenantId, "all");
  if (assets.length + (await countAssets(write.trx, tenantId)) > MAX_ASSETS_OF_TENANT)
    throw new Refused(refuse("invalid_body", `There would be more than ${MAX_ASSETS_OF_TENANT} assets.`));
  await putDevices(write.trx, tenantId, NOBODYS, [...devices.values()]);
  const added = await putSeenAssets(write.trx, tenantId, format, assets);
  if (assets.length > 0) await judgeAgain(write.trx, tenantId, "all", ownOrigins);
  const taken = { found: assets.length, added: added.length, skipped_count: skipped.length };
  write.log({
    tenant_id: tenantId,
    action: "import",
    resource: "discovered-assets",
    resource_id: null,
    after: { adapter: format, ...taken },
  });
  return { ...taken, skipped: skipped.slice(0, SHOWN_SKIPPED) };
}
