import { adminLogEntry, adminLogQuery } from "@gatehouse/contracts/admin-log";
import { listOf } from "@gatehouse/contracts/conventions";
import { listAdminLog } from "../../directory/writes/admin-log.ts";
import { operation, type Operation } from "./operation.ts";
import { listed } from "./resource.ts";

export const adminLogOperations: readonly Operation[] = [
  operation({
    tag: "Admin log",
    access: "audit:read",
    reach: "any",
    method: "GET",
    path: "/v1/admin/admin-log",
    summary: "List who changed what",
    description: "Newest first. Every write and every login has an entry; entries cannot be changed or removed. A system admin who names no tenant sees all of them.",
    query: adminLogQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("entries", adminLogEntry) },
    run: (call) => listed("entries", call, (page) => listAdminLog(call.services.directory, call.tenantOrAll, call.query, page)),
  }),
];
