import type { LabelPart, UsagePart, usageReportQuery } from "@gatehouse/contracts/usage-report";
import type { z } from "zod";
import { invalidFields } from "../../kernel/errors.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { readUsage, readUsageLabels, type UsageSums } from "../../store/usage/usage-report.ts";
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
function windowOf({ from, to }: Pick<UsageReportRequest, "from" | "to">, now: number): { readonly from: Date; readonly to: Date } {
  const end = Math.ceil((to === undefined ? now : Date.parse(to)) / HOUR_MS) * HOUR_MS;
  const start = from === undefined ? end - DEFAULT_DAYS * DAY_MS : Math.floor(Date.parse(from) / HOUR_MS) * HOUR_MS;
  if (start >= end) throw invalid("from", "must be before to");
  if (end - start > MAX_DAYS * DAY_MS) throw invalid("from", `must be at most ${MAX_DAYS} days before to`);
  return { from: new Date(start), to: new Date(end) };
}

function inDollars<Part extends UsageSums>({ cost, ...rest }: Part) {
  return { ...rest, cost_usd: usdFromMicros(cost) };
}

/** The label of the calls to report. Totals by label are those of single labels, so calls cannot be told apart by two. */
function labelOf({ label }: UsageReportRequest, dividedBy: readonly string[]) {
  if (label === undefined) return undefined;
  const [name = ""] = label.split("=", 1);
  if (dividedBy.some((part) => part.startsWith("label:") && part !== `label:${name}`))
    throw invalid("label", "must be of the label in group_by");
  return { name, value: label.slice(name.length + 1) };
}

/** A tenant's usage in a window, grouped by the given dimensions. Throws `Refused` (invalid_query) for an invalid window. */
export async function reportUsage(
  { db, clock }: Directory,
  tenantId: string,
  request: UsageReportRequest,
  dividedBy: readonly (UsagePart | LabelPart)[],
  page: { readonly limit: number; readonly offset: number },
) {
  const { resource_group_id: resourceGroupId, subgroups = false, api_key_id: apiKeyId, model } = request;
  if (subgroups && resourceGroupId === undefined) throw invalid("subgroups", "needs resource_group_id");
  const window = windowOf(request, clock.now());
  const label = labelOf(request, dividedBy);
  const found = await readUsage(db, { tenantId, ...window, resourceGroupId, subgroups, apiKeyId, model, label }, dividedBy, page);
  return {
    items: found.items.map(inDollars),
    total: found.total,
    totals: inDollars(found.totals),
    from: window.from.toISOString(),
    to: window.to.toISOString(),
  };
}

/** The labels of a tenant's calls in a window. Throws `Refused` (invalid_query) for an invalid window. */
export async function listUsageLabels({ db, clock }: Directory, tenantId: string, request: Pick<UsageReportRequest, "from" | "to">) {
  const window = windowOf(request, clock.now());
  return {
    labels: await readUsageLabels(db, { tenantId, ...window }),
    ...{ from: window.from.toISOString(), to: window.to.toISOString() },
  };
}
