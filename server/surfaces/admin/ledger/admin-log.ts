import { adminLogEntry, adminLogQuery } from "@gatehouse/contracts/admin-log";
import { chainVerification } from "@gatehouse/contracts/audit-chains";
import { listOf } from "@gatehouse/contracts/conventions";
import { listAdminLog } from "../../../directory/writes/admin-log.ts";
import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import { exportChain } from "../../../ledger/chains/chain-export.ts";
import { streamedAnswer } from "../streamed-answer.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { readInTime } from "../read-in-time.ts";
import { listed } from "../resource.ts";
import { countedVerification } from "./verified-chain.ts";

export const adminLogOperations: readonly AdminOperation[] = [
  operation({
    tag: "Admin log",
    access: "audit:read",
    reach: "any",
    method: "GET",
    path: "/v1/admin/admin-log",
    summary: "List who changed what",
    description:
      "Newest first. Every write and every login has an entry; entries cannot be changed or removed. A system admin who " +
      "names no tenant sees all of them.",
    query: adminLogQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("entries", adminLogEntry) },
    run: (call) => listed("entries", call, (page) => listAdminLog(call.services.directory, call.tenantOrAll, call.query, page)),
  }),
  operation({
    tag: "Admin log",
    access: "audit:verify",
    reach: "any",
    method: "POST",
    path: "/v1/admin/admin-log/verify",
    summary: "Verify the admin log",
    description:
      "The admin log is one chain, sealed and signed like the audit rows. For a tenant's admin, only the positions of other tenants' " +
      "entries are checked. Findings count like those of an audit chain, and are acknowledged in the same way, as chain `admin-log`.",
    answer: { status: 200, about: "The verdict and every finding", schema: chainVerification },
    run: (call) => countedVerification(call, ADMIN_CHAIN),
  }),
  operation({
    tag: "Admin log",
    access: "audit:read",
    reach: "any",
    method: "GET",
    path: "/v1/admin/admin-log/export",
    summary: "Export the admin log",
    description: "JSON lines of entries, checkpoints and public keys, which `gatehouse audit verify` reads.",
    answer: { status: 200, about: "JSON lines", media: "application/jsonl" },
    run: (call) =>
      streamedAnswer(
        readInTime(exportChain(call.services.directory.db, ADMIN_CHAIN, { tenantId: call.tenantOrAll ?? undefined })),
        "application/jsonl",
        "admin-log.jsonl",
      ),
  }),
];
