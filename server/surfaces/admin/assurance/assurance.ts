import {
  assuranceReport,
  health,
  snapshot,
  snapshotCapture,
  snapshotQuery,
  snapshotRevoke,
  snapshotWithReport,
} from "@gatehouse/contracts/ai-assurance";
import { ledgerStatements, statementRows, statementRowsQuery, statementWindow } from "@gatehouse/contracts/ai-statements";
import { listOf } from "@gatehouse/contracts/conventions";
import { readAssuranceReport, readHealth } from "../../../directory/assurance/report.ts";
import { readStatementRows, readStatements } from "../../../directory/assurance/statements.ts";
import { captureSnapshot, exportCertificate, listSnapshots, readSnapshot, revokeSnapshot } from "../../../directory/assurance/snapshots.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const SYSTEM = "/v1/admin/ai-systems/{id}";
const ASSURANCE = `${SYSTEM}/assurance`;
const HISTORY = `${ASSURANCE}/history`;
const common = { tag: "Assurance", reach: "one", subject: "ai_systems" } as const;
const reading = { ...common, access: "assurance:read", method: "GET" } as const;

const ridOf = ({ params }: { readonly params: Readonly<Record<string, string>> }) => params.rid ?? "";

export const assuranceOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    path: `${SYSTEM}/health`,
    summary: "Health of an AI System",
    description: "The score is that of the worst component; each is explained. Unknown below 200 calls in 30 days or without a baseline.",
    answer: { status: 200, about: "Score and components", schema: health },
    run: (call) => readHealth(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...reading,
    path: `${SYSTEM}/statements`,
    summary: "What the ledger proves of an AI System",
    description: "A fixed list of statements, each met by n of the m rows that it covers in the window. Replays are not included.",
    query: statementWindow,
    answer: { status: 200, about: "The statements", schema: ledgerStatements },
    run: (call) => readStatements(call.services.directory, call.tenantId, idOf(call), call.query),
  }),
  operation({
    ...reading,
    path: `${SYSTEM}/statements/{statement}/rows`,
    textParams: ["statement"],
    summary: "List the rows behind a statement",
    query: statementRowsQuery,
    answer: { status: 200, about: "One page of ids", schema: statementRows },
    run: (call) => readStatementRows(call.services.directory, call.tenantId, idOf(call), call.params.statement ?? "", call.query),
  }),
  operation({
    ...reading,
    path: ASSURANCE,
    summary: "Report on an AI System",
    description:
      "Its current state, over the last 30 days: contract, baseline, health, findings, evidence, statements, gaps and the heads of the ledger.",
    answer: { status: 200, about: "The report", schema: assuranceReport },
    run: (call) => readAssuranceReport(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...common,
    access: "assurance:write",
    method: "POST",
    path: ASSURANCE,
    summary: "Capture the report as a snapshot",
    description: "It never changes and is sealed in the admin log.",
    body: snapshotCapture,
    answer: { status: 200, about: "The snapshot", schema: snapshotWithReport },
    once: true,
    run: (call) => call.write((write) => captureSnapshot(write, call.tenantId, idOf(call), call.body.valid_days)),
  }),
  operation({
    ...reading,
    path: HISTORY,
    summary: "List the snapshots of an AI System",
    description: "The newest first, without their reports.",
    query: snapshotQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("snapshots", snapshot) },
    run: (call) => listed("snapshots", call, (page) => listSnapshots(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...reading,
    path: `${HISTORY}/{rid}`,
    summary: "Read a snapshot",
    answer: { status: 200, about: "The snapshot with its report", schema: snapshotWithReport },
    run: (call) => readSnapshot(call.services.directory, call.tenantId, idOf(call), ridOf(call)),
  }),
  operation({
    ...common,
    access: "assurance:write",
    method: "POST",
    path: `${HISTORY}/{rid}/revoke`,
    summary: "Revoke a snapshot",
    description: "No more certificates are issued for it. Sealed in the admin log.",
    body: snapshotRevoke,
    answer: { status: 200, about: "The snapshot", schema: snapshot },
    run: (call) => call.write((write) => revokeSnapshot(write, call.tenantId, idOf(call), ridOf(call), call.body.reason)),
  }),
  operation({
    ...reading,
    path: `${HISTORY}/{rid}/export`,
    summary: "Export a snapshot as a signed certificate",
    description:
      "An in-toto statement in a DSSE envelope, signed by the key that signs the ledger's checkpoints. " +
      "`gatehouse verify certificate FILE --public-key FILE` verifies it with neither network nor database.",
    answer: { status: 200, about: "The envelope", media: "application/json" },
    async run(call) {
      const text = await exportCertificate(call.services.directory, call.tenantId, idOf(call), ridOf(call), call.services.signingKey);
      const name = `certificate-${ridOf(call)}.json`;
      return new Response(text, {
        headers: { "content-type": "application/json", "content-disposition": `attachment; filename="${name}"` },
      });
    },
  }),
];
