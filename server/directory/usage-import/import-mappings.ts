import type { UsageImportMapping, UsageImportMappingUpdate } from "@gatehouse/contracts/usage-import";
import type { Trx } from "../../store/database.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { vendorNames } from "../../store/usage/usage-import-buckets.ts";
import {
  allMappings,
  mappingPage,
  noteMapping,
  importTargets,
  registerVendorModel,
  setMapping,
  type UsageImportMappingRow,
} from "../../store/usage/usage-import-mappings.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { getImportProvider } from "./import-settings.ts";

/** One of the vendor's keys, as far as the vendor shows it. */
export interface ShownKey {
  readonly id: string;
  readonly name: string | null;
  readonly project: string | null;
  readonly hint: string;
}

const read = (row: UsageImportMappingRow): UsageImportMapping => ({
  kind: row.kind as UsageImportMapping["kind"],
  vendor_id: row.vendor_id,
  label: row.label,
  project: row.project,
  target: row.target,
  matched_by: row.matched_by as UsageImportMapping["matched_by"],
  ignored: row.ignored,
});

interface Matching {
  readonly tenantId: string;
  readonly providerId: string;
  readonly providerName: string;
  /** Null if the vendor does not list keys, or refused to. */
  readonly keys: readonly ShownKey[] | null;
  readonly register: boolean;
}

/**
 * Matches the vendor's names: models by exact name, keys by their last characters if these are unique on both sides.
 * Returns how many remain unmatched.
 */
export async function matchNames(trx: Trx, { tenantId, providerId, providerName, keys, register }: Matching, now: Date): Promise<number> {
  const own = await importTargets(trx, tenantId, providerId);
  for (const { kind, vendor_id: vendorId, project } of await vendorNames(trx, { tenantId, providerId })) {
    const shown = keys?.find(({ id }) => id === vendorId);
    const target = kind === "model" ? (own.models.find((name) => name === vendorId) ?? null) : ownerOf(shown, keys ?? [], own.keys);
    const by = target === null ? null : kind === "model" ? "exact" : "hint";
    const mapping = { label: shown?.name ?? null, project: shown?.project ?? project, target, matched_by: by, updated_at: now };
    await noteMapping(trx, { provider_id: providerId, tenant_id: tenantId, kind, vendor_id: vendorId, ...mapping });
  }
  const unmatched = (await allMappings(trx, tenantId, providerId)).filter(({ target, ignored }) => target === null && !ignored);
  if (register)
    for (const { vendor_id: model } of unmatched.filter(({ kind }) => kind === "model"))
      await registerVendorModel(trx, { tenantId, providerId, model, providerName, now });
  return unmatched.length;
}

/** The owner of a key; null if its last characters are not unique on either side, which must then be mapped manually. */
function ownerOf(
  shown: ShownKey | undefined,
  keys: readonly ShownKey[],
  own: readonly { readonly hint: string; readonly of: string }[],
): string | null {
  if (shown === undefined || keys.filter(({ hint }) => hint === shown.hint).length > 1) return null;
  const owners = own.filter(({ hint }) => hint === shown.hint);
  return owners.length === 1 ? (owners[0]?.of ?? null) : null;
}

export async function listMappings(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  providerId: string,
  filters: Parameters<typeof mappingPage>[3],
  page: Page,
): Promise<Paged<UsageImportMapping>> {
  await getImportProvider(db, tenantId, providerId);
  const { items, total } = await mappingPage(db, tenantId, providerId, filters, page);
  return { items: items.map(read), total };
}

/** Maps a vendor's name manually. */
export async function mapName(
  write: Write,
  tenantId: string,
  providerId: string,
  { kind, vendor_id: vendorId, target, ignored = false }: UsageImportMappingUpdate,
): Promise<UsageImportMapping> {
  await getImportProvider(write.trx, tenantId, providerId);
  const own = await importTargets(write.trx, tenantId, providerId);
  if (kind === "model" && target !== null && !own.models.includes(target)) throw invalidField("target", "is no model of this provider");
  if (kind === "key" && target !== null && !own.keys.some(({ of }) => of === target))
    throw invalidField("target", "must be provider, or the id of a model with a key of its own");
  const before = (await allMappings(write.trx, tenantId, providerId)).find((row) => row.kind === kind && row.vendor_id === vendorId);
  const row = await setMapping(write.trx, { tenantId, providerId, kind, vendorId }, { target, ignored, at: write.now });
  if (before === undefined || row === undefined) throw notFound("name of the vendor");
  const after = read(row);
  write.log({
    tenant_id: tenantId,
    action: "map",
    resource: "usage-import-providers",
    resource_id: providerId,
    before: read(before),
    after,
  });
  return after;
}
