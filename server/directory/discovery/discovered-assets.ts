import type {
  AssetPrefill,
  DiscoveredAsset,
  DiscoveredAssetQuery,
  DiscoveredType,
  DiscoveryDevice,
  GovernanceStatus,
  IngestAdapter,
} from "@gatehouse/contracts/discovery";
import { refuse, Refused } from "../../kernel/errors.ts";
import type { Database, Trx } from "../../store/database.ts";
import { lockJudging } from "../../store/discovery/asset-judgements.ts";
import {
  discoveredAssetPage,
  type DiscoveredAssetRow,
  findDiscoveredAsset,
  setAssetDecision,
} from "../../store/discovery/discovered-assets.ts";
import { devicePage } from "../../store/discovery/discovery-devices.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { prefillOf } from "./asset-prefill.ts";
import { discoveryCoverageOf } from "./discovery-coverage.ts";
import { judgeAgain } from "./reconcile.ts";

const RESOURCE = "discovered-assets";

const read = (row: DiscoveredAssetRow): DiscoveredAsset => ({
  id: row.id,
  tenant_id: row.tenant_id,
  source: row.source as IngestAdapter,
  asset_type: row.asset_type as DiscoveredType,
  device_id: row.device_id,
  device_name: row.device_name,
  name: row.name,
  version: row.version,
  location_hash: row.location_hash,
  config_digest: row.config_digest,
  endpoints: row.endpoints,
  attributes: row.attributes,
  status: row.status as DiscoveredAsset["status"],
  governance_status: row.governance_status as GovernanceStatus,
  governance_reason: row.governance_reason,
  dismissed_reason: row.dismissed_reason,
  onboarded_at: row.onboarded_at?.toISOString() ?? null,
  first_seen: row.first_seen.toISOString(),
  last_seen: row.last_seen.toISOString(),
});

/** Most recently seen first. */
export async function listDiscoveredAssets(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  filters: DiscoveredAssetQuery,
  page: Page,
): Promise<Paged<DiscoveredAsset>> {
  const { items, total } = await discoveredAssetPage(db, tenantId, filters, page);
  return { items: items.map(read), total };
}

async function found(db: Database | Trx, tenantId: string, id: string, lock?: "lock"): Promise<DiscoveredAssetRow> {
  const row = await findDiscoveredAsset(db, tenantId, id, lock);
  if (row === undefined) throw notFound("discovered asset");
  return row;
}

export async function getDiscoveredAsset({ db }: Pick<Directory, "db">, tenantId: string, id: string): Promise<DiscoveredAsset> {
  return read(await found(db, tenantId, id));
}

async function decided(
  write: Write,
  { tenantId, id, action }: { readonly tenantId: string; readonly id: string; readonly action: string },
  ownOrigins: readonly string[],
  change: (before: DiscoveredAssetRow) => Parameters<typeof setAssetDecision>[2],
): Promise<DiscoveredAssetRow> {
  await lockJudging(write.trx, tenantId, "some");
  const before = await found(write.trx, tenantId, id, "lock");
  await setAssetDecision(write.trx, id, change(before));
  // A client is judged by its servers, so the other assets of its device are judged with it.
  await judgeAgain(write.trx, tenantId, before.device_id === null ? { ids: [id] } : { devices: [before.device_id] }, ownOrigins);
  const row = await found(write.trx, tenantId, id);
  write.log({ tenant_id: tenantId, action, resource: RESOURCE, resource_id: id, before: read(before), after: read(row) });
  return row;
}

/** Registering an asset does not govern it: it counts as governed once it is called through the gateway. */
export async function onboardAsset(
  write: Write,
  tenantId: string,
  id: string,
  ownOrigins: readonly string[],
): Promise<{ asset: DiscoveredAsset; prefill: AssetPrefill }> {
  const row = await decided(write, { tenantId, id, action: "onboard" }, ownOrigins, (before) => ({
    onboarded_at: before.onboarded_at ?? write.now,
  }));
  return { asset: read(row), prefill: prefillOf(row) };
}

export async function dismissAsset(
  write: Write,
  tenantId: string,
  id: string,
  reason: string,
  ownOrigins: readonly string[],
): Promise<DiscoveredAsset> {
  return read(
    await decided(write, { tenantId, id, action: "dismiss" }, ownOrigins, ({ config_digest: digest }) => ({
      dismissed_reason: reason,
      dismissed_digest: digest,
    })),
  );
}

export async function restoreAsset(write: Write, tenantId: string, id: string, ownOrigins: readonly string[]): Promise<DiscoveredAsset> {
  return read(
    await decided(write, { tenantId, id, action: "restore" }, ownOrigins, ({ dismissed_reason: dismissed }) => {
      if (dismissed === null) throw new Refused(refuse("conflict", "This asset is not dismissed."));
      return { dismissed_reason: null, dismissed_digest: null };
    }),
  );
}

export async function reconcileAssets(write: Write, tenantId: string, ownOrigins: readonly string[]) {
  await lockJudging(write.trx, tenantId, "all");
  const result = await judgeAgain(write.trx, tenantId, "all", ownOrigins);
  write.log({ tenant_id: tenantId, action: "reconcile", resource: RESOURCE, resource_id: null, after: result });
  return { ...result, coverage: await discoveryCoverageOf(write.trx, tenantId) };
}

export async function listDevices(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  q: string | undefined,
  page: Page,
): Promise<Paged<DiscoveryDevice>> {
  const { items, total } = await devicePage(db, tenantId, q, page);
  return { items: items.map((row) => ({ ...row, last_seen: row.last_seen.toISOString() })), total };
}
