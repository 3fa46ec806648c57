import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { UsageImportMappingTable } from "../tables/usage-import-buckets.ts";

export type UsageImportMappingRow = Selectable<UsageImportMappingTable>;

interface MappingFilters {
  readonly state?: "unmatched" | "matched" | "ignored" | undefined;
  readonly kind?: "model" | "key" | undefined;
}

export async function mappingPage(
  db: Database,
  tenantId: string,
  providerId: string,
  { state, kind }: MappingFilters,
  page: Page,
): Promise<Paged<UsageImportMappingRow>> {
  let query = db.selectFrom("usage_import_mappings").where("tenant_id", "=", tenantId).where("provider_id", "=", providerId);
  if (kind !== undefined) query = query.where("kind", "=", kind);
  if (state === "ignored") query = query.where("ignored", "=", true);
  else if (state !== undefined) query = query.where("ignored", "=", false).where("target", state === "matched" ? "is not" : "is", null);
  return pageOfRows(query, query.selectAll().orderBy("kind").orderBy("vendor_id"), page);
}

export async function allMappings(db: Database | Trx, tenantId: string, providerId: string): Promise<UsageImportMappingRow[]> {
  return db
    .selectFrom("usage_import_mappings")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("provider_id", "=", providerId)
    .execute();
}

/** Manual mappings are kept, and a key once matched stays matched: its usage was the gateway's, whatever key it has now. */
export async function noteMapping(trx: Trx, values: Insertable<UsageImportMappingTable>): Promise<void> {
  const { label, project, target, matched_by: by, updated_at: at } = values;
  const stays = sql.raw("m.matched_by = 'hand' OR (m.kind = 'key' AND EXCLUDED.target IS NULL)");
  await sql`
    INSERT INTO usage_import_mappings AS m (provider_id, tenant_id, kind, vendor_id, label, project, target, matched_by, updated_at)
    VALUES (${values.provider_id}, ${values.tenant_id}, ${values.kind}, ${values.vendor_id}, ${label}, ${project}, ${target}, ${by}, ${at})
    ON CONFLICT (provider_id, kind, vendor_id) DO UPDATE SET label = coalesce(EXCLUDED.label, m.label), project = EXCLUDED.project,
      target = CASE WHEN ${stays} THEN m.target ELSE EXCLUDED.target END,
      matched_by = CASE WHEN ${stays} THEN m.matched_by ELSE EXCLUDED.matched_by END, updated_at = EXCLUDED.updated_at`.execute(trx);
}

/** Undefined if the vendor never reported the name. */
export async function setMapping(
  trx: Trx,
  key: { readonly tenantId: string; readonly providerId: string; readonly kind: string; readonly vendorId: string },
  set: { readonly target: string | null; readonly ignored: boolean; readonly at: Date },
): Promise<UsageImportMappingRow | undefined> {
  const by = set.target === null && !set.ignored ? null : "hand";
  return trx
    .updateTable("usage_import_mappings")
    .set({ target: set.target, ignored: set.ignored, matched_by: by, updated_at: set.at })
    .where("tenant_id", "=", key.tenantId)
    .where("provider_id", "=", key.providerId)
    .where("kind", "=", key.kind)
    .where("vendor_id", "=", key.vendorId)
    .returningAll()
    .executeTakeFirst();
}

export interface ImportTargets {
  /** Models, by the provider's names. */
  readonly models: readonly string[];
  /** Last characters of the keys that calls use, and whose each is: `provider`, or a model's ID. */
  readonly keys: readonly { readonly hint: string; readonly of: string }[];
}

export async function importTargets(db: Database | Trx, tenantId: string, providerId: string): Promise<ImportTargets> {
  const models = await db
    .selectFrom("models")
    .select(["id", "model_name", "api_key_hint"])
    .where("tenant_id", "=", tenantId)
    .where("provider_id", "=", providerId)
    .execute();
  const provider = await db
    .selectFrom("providers")
    .select("api_key_hint")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", providerId)
    .executeTakeFirst();
  const keys = [
    { of: "provider", hint: provider?.api_key_hint ?? null },
    ...models.map(({ id, api_key_hint: hint }) => ({ of: id, hint })),
  ];
  return {
    models: [...new Set(models.map(({ model_name: name }) => name))],
    keys: keys.flatMap(({ of, hint }) => (hint === null || hint === "****" ? [] : [{ of, hint }])),
  };
}

/** Registers a model that only the vendor knows; an existing entry is kept. */
export async function registerVendorModel(
  trx: Trx,
  {
    tenantId,
    providerId,
    model,
    providerName,
    now,
  }: { tenantId: string; providerId: string; model: string; providerName: string; now: Date },
): Promise<void> {
  await sql`
    INSERT INTO assets (id, tenant_id, asset_type, name, description, governance_status, source_kind, source_id, synced_at, created_at, updated_at)
    VALUES (gen_random_uuid(), ${tenantId}, 'model', ${model.slice(0, 200)}, ${`${providerName} tells of its use; no model here is it.`}, 'ungoverned',
      'usage_import', ${`${providerId}/${model}`}, ${now}, ${now}, ${now})
    ON CONFLICT (tenant_id, source_kind, source_id) DO NOTHING`.execute(trx);
}
