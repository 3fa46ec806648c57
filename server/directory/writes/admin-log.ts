import type { AdminLogEntry } from "@gatehouse/contracts/admin-log";
import { adminLogPage, type AdminLogFilters } from "../../store/ledger/admin-log.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { Directory } from "./write.ts";

/** Newest first; a null tenant lists all entries, including those without a tenant. */
export async function listAdminLog(
  directory: Directory,
  tenantId: string | null,
  filters: AdminLogFilters,
  page: Page,
): Promise<Paged<AdminLogEntry>> {
  const { items, total } = await adminLogPage(directory.db, tenantId, filters, page);
  return { total, items: items.map(({ prev_hash: _prev, ...row }) => ({ ...row, at: row.at.toISOString() })) };
}
