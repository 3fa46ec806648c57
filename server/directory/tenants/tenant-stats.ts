import type { TenantStats } from "@gatehouse/contracts/tenants";
import { usdFromMicros } from "../../kernel/money.ts";
import { countRecords, tenantExists, usageSince } from "../../store/tenants/tenants.ts";
import { notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";

const STATS_DAYS = 30;

export async function readTenantStats(directory: Directory, id: string): Promise<TenantStats> {
  if (!(await tenantExists(directory.db, id))) throw notFound("tenant");
  const now = directory.clock.now();
  const counts = await countRecords(directory.db, id, new Date(now));
  const usage = await usageSince(directory.db, id, new Date(now - STATS_DAYS * 86_400_000));
  return {
    tenant_id: id,
    admin_users: counts.admin_users,
    end_users: counts.end_users,
    resource_groups: counts.resource_groups,
    providers: counts.providers,
    models: counts.models,
    api_keys: { active: counts.keys_active, revoked: counts.keys_revoked, expired: counts.keys_expired },
    last_30_days: {
      requests: usage.requests,
      errors: usage.errors,
      prompt_tokens: usage.prompt_tokens,
      completion_tokens: usage.completion_tokens,
      cost_usd: usdFromMicros(usage.cost_micro_usd),
      unpriced_requests: usage.unpriced_requests,
    },
  };
}
