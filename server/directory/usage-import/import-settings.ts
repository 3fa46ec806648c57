import type { UsageImportProvider, UsageImportProviderUpdate } from "@gatehouse/contracts/usage-import";
import { sealContext } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { providerById, providerStore, type ProviderRow } from "../../store/models/providers.ts";
import { usageImportSettings, type UsageImportSettingsRow, writeUsageImportSettings } from "../../store/usage/usage-import.ts";
import { hintOf, invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { checkSchedule, DEFAULT_IMPORT_SCHEDULE, nextImport } from "./import-schedule.ts";
import { IMPORT_SPLITS, importVendorOf } from "./import-vendors.ts";

/** The maximum number of providers of a tenant, so that one list includes all. */
const MAX = 1_000;

function read(provider: ProviderRow, settings: UsageImportSettingsRow | undefined): UsageImportProvider {
  const vendor = importVendorOf(provider, settings?.import_endpoint_override ?? null);
  return {
    id: provider.id,
    tenant_id: provider.tenant_id,
    provider_key: provider.provider_key,
    name: provider.name,
    vendor,
    supported: vendor !== null,
    import_enabled: settings?.import_enabled ?? false,
    import_schedule_cron: settings?.import_schedule_cron ?? DEFAULT_IMPORT_SCHEDULE,
    import_mapping_policy: { mode: settings?.import_mapping_mode === "match_only" ? "match_only" : "auto_create" },
    import_backfill_through: settings?.import_backfill_through ?? null,
    import_endpoint_override: settings?.import_endpoint_override ?? null,
    import_account: settings?.import_account ?? null,
    has_api_key: settings?.api_key_sealed != null,
    api_key_hint: settings?.api_key_hint ?? null,
    split: vendor === null ? null : IMPORT_SPLITS[vendor],
    next_run_at: settings?.next_run_at?.toISOString() ?? null,
    updated_at: settings?.updated_at.toISOString() ?? null,
  };
}

export async function listImportProviders(
  { db }: Pick<Directory, "db">,
  tenantId: string,
  onlySupported: boolean,
  page: Page,
): Promise<Paged<UsageImportProvider>> {
  // Support depends on two tables and on addresses, so it is evaluated here; a tenant has few enough providers.
  const { items } = await providerStore.page(db, tenantId, {}, { limit: MAX, offset: 0 });
  const settings = await usageImportSettings(
    db,
    tenantId,
    items.map(({ id }) => id),
  );
  const all = items.map((one) => read(one, settings.get(one.id))).filter(({ supported }) => supported || !onlySupported);
  return { items: all.slice(page.offset, page.offset + page.limit), total: all.length };
}

export async function getImportProvider(db: Database | Write["trx"], tenantId: string, id: string): Promise<UsageImportProvider> {
  const provider = await providerById(db, tenantId, id);
  if (provider === undefined) throw notFound("provider");
  return read(provider, (await usageImportSettings(db, tenantId, [id])).get(id));
}

/** The columns for the account's key; empty if the body does not set it. */
function sealed(write: Write, id: string, apiKey: string | null | undefined) {
  if (apiKey === undefined) return {};
  if (apiKey === null) return { api_key_sealed: null, api_key_hint: null };
  const key = apiKey.trim();
  // A key file ends with a brace; other keys are recognized by their last characters.
  const hint = key.startsWith("{") ? "file" : hintOf(key);
  return { api_key_sealed: write.directory.secrets.seal(key, sealContext("usage_import_settings", id)), api_key_hint: hint };
}

export async function setImportProvider(
  write: Write,
  tenantId: string,
  id: string,
  body: UsageImportProviderUpdate,
): Promise<UsageImportProvider> {
  const provider = await providerStore.find(write.trx, tenantId, id, "lock");
  if (provider === undefined) throw notFound("provider");
  const row = (await usageImportSettings(write.trx, tenantId, [id], "lock")).get(id);
  const before = read(provider, row);
  const stored = write.directory.secrets.openOrNull(row?.api_key_sealed ?? null, sealContext("usage_import_settings", id));
  const apiKey = stored !== null && body.api_key?.trim() === stored ? undefined : body.api_key;
  const override = body.import_endpoint_override === undefined ? before.import_endpoint_override : body.import_endpoint_override;
  // An admin who may write this may not read keys, so a key must not be sent to another host.
  if (override !== before.import_endpoint_override && before.has_api_key && body.api_key === undefined)
    throw invalidField("api_key", "must be sent again when import_endpoint_override changes");
  const enabled = body.import_enabled ?? before.import_enabled;
  if (enabled && importVendorOf(provider, override) === null)
    throw invalidField("import_enabled", "cannot be switched on: nobody tells of the use of this provider");
  const cron = body.import_schedule_cron ?? before.import_schedule_cron;
  if (body.import_schedule_cron !== undefined) checkSchedule(cron, write.now);
  const through = body.import_backfill_through === undefined ? before.import_backfill_through : body.import_backfill_through;
  if (through !== null && through > write.now.toISOString().slice(0, 10))
    throw invalidField("import_backfill_through", "must not be in the future");
  const values = {
    import_enabled: enabled,
    import_schedule_cron: cron,
    import_mapping_mode: body.import_mapping_policy?.mode ?? before.import_mapping_policy.mode,
    import_backfill_through: through,
    import_endpoint_override: override?.replace(/\/+$/, "") ?? null,
    import_account: body.import_account === undefined ? before.import_account : body.import_account,
    ...sealed(write, id, apiKey),
    next_run_at: enabled ? nextImport(cron, id, write.now) : null,
  };
  const keyed = { api_key_sealed: row?.api_key_sealed ?? null, api_key_hint: row?.api_key_hint ?? null, ...values };
  await writeUsageImportSettings(
    write.trx,
    { provider_id: id, tenant_id: tenantId, ...keyed, updated_at: write.now },
    { ...values, updated_at: write.now },
  );
  const after = await getImportProvider(write.trx, tenantId, id);
  // A new key may have the same last characters as the old one.
  if (apiKey === undefined) write.stay(before, after, before);
  write.log({ tenant_id: tenantId, action: "update", resource: "usage-import-providers", resource_id: id, before, after });
  return after;
}
