import { auditChains, auditKeys, chainVerification, findingsAcknowledge, verifyRange } from "@gatehouse/contracts/audit-chains";
import { acknowledgeFindings } from "../../../directory/assurance/chain-verdicts.ts";
import { exportChain } from "../../../ledger/chains/chain-export.ts";
import { listChains } from "../../../ledger/chains/chain-facts.ts";
import { marked } from "../../../ledger/chains/chains.ts";
import { listSigningKeys } from "../../../ledger/checkpoints/signing-keys.ts";
import { readInTime } from "../read-in-time.ts";
import { streamedAnswer } from "../streamed-answer.ts";
import { countedVerification, verifiedChain, asListed } from "./verified-chain.ts";
import { operation, type AdminOperation } from "../operation.ts";

const PATH = "/v1/admin/audit";
const ONE = `${PATH}/chains/{chain_id}`;
const common = { tag: "Audit", textParams: ["chain_id"] } as const;

export const auditChainOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    access: "audit:read",
    reach: "none",
    method: "GET",
    path: `${PATH}/chains`,
    summary: "List the audit chains",
    description:
      "One for each data directory from which audit rows were written. A chain without a writer has no record, but rows name it and " +
      "are verified.",
    answer: { status: 200, about: "All of them", schema: auditChains },
    async run(call) {
      const chains = await listChains(call.services.directory.db);
      return { chains, total: chains.length };
    },
  }),
  operation({
    ...common,
    access: "audit:verify",
    reach: "any",
    method: "POST",
    path: `${ONE}/verify`,
    summary: "Verify an audit chain",
    description:
      "A chain has the rows of all tenants, and every row is hashed whoever asks. So a tenant's admin gets the same verdict, but " +
      "not the IDs of other tenants' rows. If it is worse than `unanchored`, no certificate that relies on the chain is issued, and " +
      "AI Systems' health is lowered, until the whole chain is verified as `unanchored` or `intact`, or every finding is acknowledged.",
    body: verifyRange,
    answer: { status: 200, about: "The verdict and every finding", schema: chainVerification },
    run: (call) => countedVerification(call, call.params.chain_id ?? "", call.body),
  }),
  operation({
    ...common,
    access: "audit:acknowledge",
    reach: "any",
    method: "POST",
    path: `${ONE}/ack`,
    summary: "Acknowledge findings of a verification",
    description:
      "The whole chain is verified again, and the acknowledged findings must still be there. Verifications, certificates and " +
      "compliance reports keep reporting them with who acknowledged them, but they no longer affect health and alerts: of one " +
      "tenant, or of all if a system admin names none. Other findings still count. Sealed in the admin log.",
    body: findingsAcknowledge,
    answer: { status: 200, about: "The verification, with who knows of what", schema: chainVerification },
    async run(call) {
      const verification = await verifiedChain(call, call.params.chain_id ?? "");
      await call.write((write) => acknowledgeFindings(write, verification, call.tenantOrAll, call.body));
      return asListed(await marked(call.services.directory.db, verification, call.tenantOrAll));
    },
  }),
  operation({
    ...common,
    access: "audit:read",
    reach: "any",
    method: "GET",
    path: `${ONE}/export`,
    summary: "Export an audit chain",
    description:
      "JSON lines of rows, checkpoints and public keys, which `gatehouse audit verify` reads. In a tenant's export, rows of " +
      "others are their place in the chain, and say so where their content does not give their hash.",
    answer: { status: 200, about: "JSON lines", media: "application/jsonl" },
    run: (call) =>
      streamedAnswer(
        readInTime(exportChain(call.services.directory.db, call.params.chain_id ?? "", { tenantId: call.tenantOrAll ?? undefined })),
        "application/jsonl",
        // Rows may name a chain ID that no gateway generated.
        `${(call.params.chain_id ?? "").replaceAll(/[^\w.-]/g, "_")}.jsonl`,
      ),
  }),
  operation({
    ...common,
    access: "audit:read",
    reach: "none",
    method: "GET",
    path: `${PATH}/keys`,
    summary: "List the public keys of checkpoints",
    answer: { status: 200, about: "Each with the time it was valid", schema: auditKeys },
    run: async (call) => ({ keys: await listSigningKeys(call.services.directory.db) }),
  }),
];
