import { proxyLogExport, proxyLogPage, proxyLogQuery } from "@gatehouse/contracts/proxy-logs";
import { exportRows } from "../../../ledger/queries/export-rows.ts";
import { queryRows } from "../../../ledger/queries/query.ts";
import { streamedAnswer } from "../streamed-answer.ts";
import { operation, type AdminOperation } from "../operation.ts";

export const proxyLogOperations: readonly AdminOperation[] = [
  operation({
    tag: "Audit",
    access: "proxy:logs:read",
    reach: "any",
    method: "POST",
    path: "/v1/admin/proxy-logs/query",
    summary: "Query audit rows",
    description:
      "Body previews need proxy:logs:read_bodies as well; without it they are null and bodies_withheld is true. A system " +
      "admin who names no tenant sees all rows.",
    body: proxyLogQuery,
    answer: { status: 200, about: "One page of rows", schema: proxyLogPage },
    run(call) {
      const bodies = call.admin.permissions.has("proxy:logs:read_bodies");
      return queryRows(call.services.directory.db, { ...call.body, tenant_id: call.tenantOrAll ?? undefined }, { bodies });
    },
  }),
  operation({
    tag: "Audit",
    access: "proxy:logs:read",
    reach: "any",
    method: "POST",
    path: "/v1/admin/proxy-logs/export",
    summary: "Export audit rows",
    description:
      "All rows a query finds, as a stream of JSON lines or CSV. Columns of body previews are there with proxy:logs:read_bodies only.",
    body: proxyLogExport,
    answer: { status: 200, about: "JSON lines, or CSV with a header line", media: ["application/jsonl", "text/csv"] },
    run(call) {
      const { format = "jsonl", ...query } = call.body;
      const bodies = call.admin.permissions.has("proxy:logs:read_bodies");
      return streamedAnswer(
        exportRows(call.services.directory.db, { ...query, tenant_id: call.tenantOrAll ?? undefined }, { bodies }, format),
        format === "csv" ? "text/csv" : "application/jsonl",
        `proxy-logs.${format}`,
      );
    },
  }),
];
