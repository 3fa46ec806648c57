import { auditChains, auditKeys, chainVerification, verifyRange } from "@gatehouse/contracts/audit-chains";
import { notFound } from "../../directory/writes/records.ts";
import { operation, type Operation } from "./operation.ts";

const PATH = "/v1/admin/audit";
const ONE = `${PATH}/chains/{chain_id}`;
const common = { tag: "Audit", textParams: ["chain_id"] } as const;

function lines(source: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(`${next.value}\n`));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

export const auditChainOperations: readonly Operation[] = [
  operation({
    ...common,
    access: "audit:read",
    reach: "none",
    method: "GET",
    path: `${PATH}/chains`,
    summary: "List the audit chains",
    description: "One for each process that writes audit rows.",
    answer: { status: 200, about: "All of them", schema: auditChains },
    async run(call) {
      const chains = await call.services.ledger.listChains();
      return { chains, total: chains.length };
    },
  }),
  operation({
    ...common,
    access: "audit:verify",
    reach: "none",
    method: "POST",
    path: `${ONE}/verify`,
    summary: "Verify an audit chain",
    description: "A chain holds the rows of all tenants: a tenant's admin gets the verdict and the place of each finding, a system admin its row and detail as well.",
    body: verifyRange,
    answer: { status: 200, about: "The verdict and every finding", schema: chainVerification },
    async run(call) {
      const verification = await call.services.ledger.verifyChain(call.params.chain_id ?? "", call.body);
      if (verification === undefined) throw notFound("audit chain");
      if (call.admin.tenantId === null) return verification;
      return { ...verification, findings: verification.findings.map((finding) => ({ ...finding, row_id: null, detail: finding.verdict })) };
    },
  }),
  operation({
    ...common,
    // The rows of all tenants are in it.
    access: "system",
    reach: "none",
    method: "GET",
    path: `${ONE}/export`,
    summary: "Export an audit chain",
    description: "JSON lines of rows, checkpoints and public keys, which `gatehouse audit verify` reads. For system admins, because a chain holds the rows of all tenants.",
    answer: { status: 200, about: "JSON lines", media: "application/jsonl" },
    async run(call) {
      const source = await call.services.ledger.exportChain(call.params.chain_id ?? "");
      if (source === undefined) throw notFound("audit chain");
      return new Response(lines(source), { headers: { "content-type": "application/jsonl; charset=utf-8", "cache-control": "no-store" } });
    },
  }),
  operation({
    ...common,
    access: "audit:read",
    reach: "none",
    method: "GET",
    path: `${PATH}/keys`,
    summary: "List the public keys of checkpoints",
    answer: { status: 200, about: "Each with the time it was valid", schema: auditKeys },
    run: async (call) => ({ keys: await call.services.ledger.listKeys() }),
  }),
];
