import type { Tenant } from "@gatehouse/contracts/tenants";
import type { TenantRow } from "../../store/tenants/tenants.ts";

export function readTenantRow(row: TenantRow): Tenant {
  return {
    id: row.id,
    name: row.name,
    display_name: row.display_name,
    enabled: row.enabled,
    data_retention: row.data_retention,
    media_limits: row.media_limits,
    default_judge_model_id: row.default_judge_model_id,
    allowed_regions: row.allowed_regions,
    run_idle_minutes: row.run_idle_minutes,
    portal_registration: row.portal_registration,
    portal_api_keys: row.portal_api_keys,
    admin_two_factor: row.admin_two_factor,
    local_passwords: row.local_passwords,
    autonomy_floor: row.autonomy_floor,
    legal_hold: row.legal_hold,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
