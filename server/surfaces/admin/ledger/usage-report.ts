import {
  isLabelPart,
  type LabelPart,
  type UsagePart,
  usageLabels,
  usageLabelsQuery,
  usageReport,
  usageReportQuery,
} from "@gatehouse/contracts/usage-report";
import { listUsageLabels, reportUsage } from "../../../directory/usage/report-usage.ts";
import { csvCell } from "../../../kernel/text/csv.ts";
import { invalidFields } from "../../../kernel/errors.ts";
import { type AdminOperation, operation } from "../operation.ts";
import { listAnswer, pageOf } from "../paging.ts";
import { streamedAnswer } from "../streamed-answer.ts";

/** Most lines of a file, which is built in memory. */
const MAX_LINES = 50_000;
const FIGURES = ["requests", "errors", "prompt_tokens", "completion_tokens", "cost_usd", "unpriced_requests"];
const NAMED: Readonly<Partial<Record<UsagePart, readonly string[]>>> = {
  resource_group: ["resource_group_id", "resource_group_name"],
  api_key: ["api_key_id", "api_key_name"],
  model: ["model"],
};

async function* csvOf(parts: readonly object[], dividedBy: readonly (UsagePart | LabelPart)[]): AsyncGenerator<string> {
  const columns = [...dividedBy.flatMap((part) => (isLabelPart(part) ? ["label"] : (NAMED[part] ?? ["period"]))), ...FIGURES];
  const lines = parts.map((part) => columns.map((name) => csvCell((part as Record<string, unknown>)[name])).join(","));
  yield [columns.join(","), ...lines, ""].join("\r\n");
}

export const usageReportOperations: readonly AdminOperation[] = [
  operation({
    tag: "Usage",
    access: "usage:read",
    reach: "one",
    method: "GET",
    path: "/v1/admin/usage",
    summary: "Read what was used",
    description:
      "Calls, tokens and cost by period, resource group, API key, model and a label, or any combination. Based on hourly totals, which are " +
      "kept even after rows are removed. Sorted by period, otherwise by cost, highest first.",
    query: usageReportQuery,
    answer: { status: 200, about: "One page of it and the totals of all, or a CSV file", schema: usageReport },
    async run(call) {
      const { group_by: dividedBy = ["day"], format } = call.query;
      const page = format === "csv" ? { limit: MAX_LINES, offset: 0 } : pageOf(call.query);
      const { from, to, totals, ...found } = await reportUsage(call.services.directory, call.tenantId, call.query, dividedBy, page);
      if (format !== "csv") return { ...listAnswer("usage", found, page), from, to, totals };
      if (found.total > MAX_LINES) {
        const message = `makes ${found.total} lines; a file has at most ${MAX_LINES}`;
        throw invalidFields("invalid_query", [{ field: "group_by", message }]);
      }
      return streamedAnswer(csvOf(found.items, dividedBy), "text/csv", "usage.csv");
    },
  }),
  operation({
    tag: "Usage",
    access: "usage:read",
    reach: "one",
    method: "GET",
    path: "/v1/admin/usage/labels",
    summary: "List the labels of calls",
    description:
      "The names that callers gave in x-gw-labels, most used first, up to 100. Usage is grouped by the values of one with group_by=label:NAME.",
    query: usageLabelsQuery,
    answer: { status: 200, about: "Their names", schema: usageLabels },
    run: (call) => listUsageLabels(call.services.directory, call.tenantId, call.query),
  }),
];
