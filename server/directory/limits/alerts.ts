import type { Alert } from "@gatehouse/contracts/limits";
import { type AlertFilters, alertPage, type AlertRow } from "../../store/policies/alerts.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { Directory } from "../writes/write.ts";

/** An alert as the admin API shows it. */
export type AlertView = Alert;

export function readAlert({ crossing: _crossing, expires_at: _expiresAt, ...row }: AlertRow): AlertView {
  return { ...row, created_at: row.created_at.toISOString(), resolved_at: row.resolved_at?.toISOString() ?? null };
}

/** Newest first; a null tenant lists those of all tenants. */
export async function listAlerts(directory: Directory, tenantId: string | null, filters: AlertFilters, page: Page): Promise<Paged<Alert>> {
  const { items, total } = await alertPage(directory.db, tenantId, filters, page);
  return { total, items: items.map(readAlert) };
}
