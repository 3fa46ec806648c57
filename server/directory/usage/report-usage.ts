import type { UsagePart, usageReportQuery } from "@gatehouse/contracts/usage-report";
import type { z } from "zod";
import { invalidFields } from "../../kernel/errors.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { readUsage, type UsageSums } from "../../store/usage/usage-report.ts";
import type { Directory } from "../writes/write.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 800;

export type UsageReportRequest = Omit<z.output<typeof usageReportQuery>, "page" | "page_size" | "limit" | "offset" | "format">;

function invalid(field: string, message: string): Error {
  return invalidFields("invalid_query", [{ field, message }]);
}

/** Rounded to whole hours, since no finer totals are kept. */
function windowOf({ from, to }: UsageReportRequest, now: number): { readonly from: Date; readonly to: Date } {
  const end = Math.ceil((to === undefined ? now : Date.parse(to)) / HOUR_MS) * HOUR_MS;
  const start = from === undefined ? end - DEFAULT_DAYS * DAY_MS : Math.floor(Date.parse(from) / HOUR_MS) * HOUR_MS;
  if (start >= end) throw invalid("from", "must be before to");
  if (end - start > MAX_DAYS * DAY_MS) throw invalid("from", `must be at most ${MAX_DAYS} days before to`);
  return { from: new Date(start), to: new Date(end) };
}

function inDollars<Part extends UsageSums>({ cost, ...rest }: Part) {
  return { ...rest, cost_usd: usdFromMicros(cost) };
}

/** A tenant's usage in a window, grouped by the given dimensions. Throws `Refused` (invalid_query) for an invalid window. */
export async function reportUsage(
  { db, clock }: Directory,
  tenantId: string,
  request: UsageReportRequest,
  dividedBy: readonly UsagePart[],
  page: { readonly limit: number; readonly offset: number },
) {
  const { resource_group_id: resourceGroupId, subgroups = false, api_key_id: apiKeyId, model } = request;
  if (subgroups && resourceGroupId === undefined) throw invalid("subgroups", "needs resource_group_id");
  const window = windowOf(request, clock.now());
  const found = await readUsage(db, { tenantId, ...window, resourceGroupId, subgroups, apiKeyId, model }, dividedBy, page);
  return {
    items: found.items.map(inDollars),
    total: found.total,
    totals: inDollars(found.totals),
    from: window.from.toISOString(),
    to: window.to.toISOString(),
  };
}
