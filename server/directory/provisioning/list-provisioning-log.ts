import type { ProvisioningEntry, ProvisioningQuery } from "@gatehouse/contracts/provisioning";
import type { Page, Paged } from "../../store/records/paging.ts";
import { provisioningLogPage } from "../../store/provisioning/provisioning-log.ts";
import type { Directory } from "../writes/write.ts";

export async function listProvisioningLog(
  directory: Directory,
  tenantId: string,
  query: ProvisioningQuery,
  page: Page,
): Promise<Paged<ProvisioningEntry>> {
  const { directory: source, resource_type, resource_id, outcome } = query;
  const { items, total } = await provisioningLogPage(directory.db, tenantId, { source, resource_type, resource_id, outcome }, page);
  return {
    total,
    items: items.map((row) => ({
      id: row.id,
      at: row.at.toISOString(),
      directory: row.source,
      token_id: row.token_id,
      method: row.method,
      resource_type: row.resource_type as ProvisioningEntry["resource_type"],
      resource_id: row.resource_id,
      status: row.status,
      outcome: row.outcome as ProvisioningEntry["outcome"],
      detail: row.detail,
    })),
  };
}
