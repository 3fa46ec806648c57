import { DEFAULT_RETENTION, tenantSlug, type Tenant, type TenantCreate, type TenantUpdate } from "@gatehouse/contracts/tenants";
import { refuse, Refused } from "../../kernel/errors.ts";
import { forgetDeletedTenant, isTenantDeleted, hasRetainedRows, recordDeletedTenant } from "../../store/tenants/deleted-tenants.ts";
import { tenantOfRecord, type TenantRecordTable } from "../../store/records/record-store.ts";
import {
  countRecords,
  tenantExists,
  tenantIds,
  tenantStore,
  type TenantFilters,
  type TenantInsert,
  type TenantPatch,
  type TenantRow,
} from "../../store/tenants/tenants.ts";
import { checkJudge } from "../semantic-policies/policies.ts";
import { counted, invalidField, records } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";
import { endPasswordSessions } from "./end-password-sessions.ts";
import { endSessionsWithoutFactor } from "./end-sessions-without-factor.ts";
import { readTenantRow } from "./tenant-record.ts";

export type { TenantRecordTable };

const DEFAULT_TENANT = "default";

/** The defaults of a new tenant. Without the legal hold, which must not end because somebody left it out. */
const NEW_TENANT: Required<Omit<TenantUpdate, "name" | "legal_hold">> = {
  display_name: null,
  enabled: true,
  data_retention: DEFAULT_RETENTION,
  media_limits: {},
  default_judge_model_id: null,
  allowed_regions: [],
  run_idle_minutes: 30,
  portal_registration: "open",
  portal_api_keys: "off",
  admin_two_factor: "optional",
  local_passwords: true,
  autonomy_floor: "autonomous",
};

/** Derives a tenant's ID from its name; throws a refusal that names `id` if that is not possible. */
function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, "");
  if (!tenantSlug.safeParse(slug).success) throw invalidField("id", "is required, because the name gives none");
  return slug;
}

/** For system admins; the scope is always null. */
export const tenants = records<TenantRow, TenantInsert, TenantPatch, Tenant, TenantCreate, TenantUpdate, TenantFilters, null>({
  resource: "tenants",
  noun: "tenant",
  store: tenantStore,
  read: readTenantRow,
  tenantOf: (row) => row.id,
  // Only the ID must be unique, and `toInsert` checks it.
  takenBy: async () => undefined,
  async toInsert(write, _scope, body) {
    const id = body.id ?? slugOf(body.name);
    if (await tenantExists(write.trx, id))
      throw new Refused(refuse("conflict", "There is already a tenant of this id.", { extra: { existing_id: id } }));
    // A new tenant with the ID could read what callers of the deleted one said.
    if (await hasRetainedRows(write.trx, id))
      throw new Refused(refuse("conflict", "A tenant of this id was deleted, and its audit rows are kept under it."));
    await forgetDeletedTenant(write.trx, id);
    if (body.default_judge_model_id != null) throw invalidField("default_judge_model_id", "is no model of this tenant");
    return {
      id,
      name: body.name,
      display_name: body.display_name ?? NEW_TENANT.display_name,
      enabled: body.enabled ?? NEW_TENANT.enabled,
      data_retention: JSON.stringify({ ...DEFAULT_RETENTION, ...body.data_retention }),
      media_limits: JSON.stringify(body.media_limits ?? {}),
      default_judge_model_id: null,
      allowed_regions: body.allowed_regions ?? [],
      run_idle_minutes: body.run_idle_minutes ?? NEW_TENANT.run_idle_minutes,
      portal_registration: body.portal_registration ?? NEW_TENANT.portal_registration,
      portal_api_keys: body.portal_api_keys ?? NEW_TENANT.portal_api_keys,
      admin_two_factor: body.admin_two_factor ?? NEW_TENANT.admin_two_factor,
      local_passwords: body.local_passwords ?? NEW_TENANT.local_passwords,
      autonomy_floor: body.autonomy_floor ?? NEW_TENANT.autonomy_floor,
      legal_hold: body.legal_hold ?? null,
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, _scope, row, body) {
    const { data_retention: retention, media_limits: limits, ...rest } = body;
    if (body.default_judge_model_id !== row.default_judge_model_id)
      await checkJudge(write, row.id, body.default_judge_model_id, "default_judge_model_id");
    if (body.admin_two_factor === "required" && row.admin_two_factor !== "required") await endSessionsWithoutFactor(write, row.id);
    if (body.local_passwords === false && row.local_passwords) await endPasswordSessions(write, row.id);
    return {
      ...rest,
      ...(retention === undefined ? {} : { data_retention: JSON.stringify({ ...DEFAULT_RETENTION, ...retention }) }),
      ...(limits === undefined ? {} : { media_limits: JSON.stringify(limits) }),
      updated_at: write.now,
    };
  },
  async dependents(write, row) {
    const counts = await countRecords(write.trx, row.id, write.now);
    return [
      ...counted(counts.resource_groups, "resource group"),
      ...counted(counts.providers, "provider"),
      ...counted(counts.models, "model"),
      ...counted(counts.keys_active, "active API key"),
      ...counted(counts.end_users, "end user"),
      ...counted(counts.admin_users, "admin user"),
    ];
  },
  async removing(write, row) {
    if (row.legal_hold !== null) throw new Refused(refuse("legal_hold"));
    await recordDeletedTenant(write.trx, row, write.now);
  },
  notify: (write, row) => write.notify(row.id, "tenant"),
});

/**
 * The tenant that a system admin means: the one named, else `default`, else the only one. Undefined if the named one does
 * not exist, or if none is named and there are several.
 */
export async function requestedTenant(directory: Directory, named: string | undefined): Promise<string | undefined> {
  if (named !== undefined) return (await tenantExists(directory.db, named)) ? named : undefined;
  if (await tenantExists(directory.db, DEFAULT_TENANT)) return DEFAULT_TENANT;
  const [only, another] = await tenantIds(directory.db, 2);
  return another === undefined ? only : undefined;
}

/** Whether a tenant with this ID was deleted but still has retained data. */
export function tenantIsDeleted(directory: Directory, id: string): Promise<boolean> {
  return isTenantDeleted(directory.db, id);
}

/** The tenant of a record, for a system admin who names only the record; undefined if the record does not exist. */
export async function lockedTenant(directory: Directory, table: TenantRecordTable, id: string): Promise<string | undefined> {
  return (await tenantOfRecord(directory.db, table, id)) ?? undefined;
}
