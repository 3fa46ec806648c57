import {
  contract,
  contractDiff,
  contractDiffQuery,
  contractMint,
  contractOnList,
  contractPromote,
  contractPropose,
  contractQuery,
  contractReason,
  contractWithClauses,
  jsonSchema,
  standards,
} from "@gatehouse/contracts/ai-contracts";
import { listOf } from "@gatehouse/contracts/conventions";
import {
  approveContract,
  diffContract,
  exportContract,
  listContracts,
  mintContract,
  promoteContract,
  proposeContract,
  readContractVersion,
  readCurrentContract,
  rejectContract,
  revokeContract,
  withdrawContract,
} from "../../../directory/assurance/contracts.ts";
import { refuse, Refused } from "../../../kernel/errors.ts";
import { readStandards, standardSchema } from "../../../directory/assurance/standards.ts";
import type { Write } from "../../../directory/writes/write.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const CONTRACTS = "/v1/admin/ai-systems/{id}/contracts";
const VERSION = `${CONTRACTS}/{version}`;
const ONE = "/v1/admin/contracts/{id}";
const common = { tag: "Contracts", reach: "one" } as const;
const ofSystem = { ...common, subject: "ai_systems", access: "assurance:read", method: "GET" } as const;
const ofVersion = { ...ofSystem, textParams: ["version"] } as const;
const moving = { ...common, subject: "ai_contracts", method: "POST" } as const;

const versionOf = ({ params }: { readonly params: Readonly<Record<string, string>> }) => params.version ?? "";

/** A lifecycle transition that needs a reason. */
function withReason(
  name: string,
  access: "assurance:write" | "contracts:approve",
  summary: string,
  description: string,
  move: (write: Write, tenantId: string, id: string, reason: string) => Promise<unknown>,
): AdminOperation {
  return operation({
    ...moving,
    access,
    path: `${ONE}/${name}`,
    summary,
    description: `${description} Sealed in the admin log.`,
    body: contractReason,
    answer: { status: 200, about: "The version as it is now", schema: contract },
    run: (call) => call.write((write) => move(write, call.tenantId, idOf(call), call.body.reason)),
  });
}

export const aiContractOperations: readonly AdminOperation[] = [
  operation({
    ...ofSystem,
    path: CONTRACTS,
    summary: "List the versions of an AI System's contract",
    description: "Newest first, without their content. The active one says whether the live configuration conforms to it.",
    query: contractQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("contracts", contractOnList) },
    run: (call) => listed("contracts", call, (page) => listContracts(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...common,
    subject: "ai_systems",
    access: "assurance:write",
    method: "POST",
    path: CONTRACTS,
    summary: "Create a contract from the live configuration",
    description:
      "A version that states everything the system may do as configured now: models, tools, agents, skills, policies, limits, " +
      "autonomy, retention, regions and notices, by digest. It is proposed at once, and must be approved by somebody else.",
    body: contractMint,
    answer: { status: 201, about: "The version with what it says", schema: contractWithClauses },
    run: (call) => call.write((write) => mintContract(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...ofSystem,
    path: `${CONTRACTS}/current`,
    summary: "Read the contract in force",
    answer: { status: 200, about: "The active version with what it says", schema: contractWithClauses },
    run: (call) => readCurrentContract(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...ofVersion,
    path: VERSION,
    summary: "Read a version of a contract",
    answer: { status: 200, about: "The version with what it says", schema: contractWithClauses },
    run: (call) => readContractVersion(call.services.directory, call.tenantId, idOf(call), versionOf(call)),
  }),
  operation({
    ...ofVersion,
    path: `${VERSION}/diff`,
    summary: "Compare a version of a contract",
    description:
      "What it widened, narrowed or changed, clause by clause, compared with the previous version, another one, or the live configuration.",
    query: contractDiffQuery,
    answer: { status: 200, about: "Each difference", schema: contractDiff },
    run: (call) => diffContract(call.services.directory, call.tenantId, idOf(call), versionOf(call), call.query.against),
  }),
  operation({
    ...ofVersion,
    path: `${VERSION}/export`,
    summary: "Export a version of a contract",
    description:
      "The canonical document (RFC 8785), exactly the bytes that the digest covers. Its schema is published at /v1/admin/standards.",
    answer: { status: 200, about: "The document", media: "application/json" },
    async run(call) {
      const { text, digest } = await exportContract(call.services.directory, call.tenantId, idOf(call), versionOf(call));
      const name = `contract-${idOf(call)}-${versionOf(call)}.json`;
      return new Response(text, {
        headers: {
          "content-type": "application/json",
          "content-disposition": `attachment; filename="${name}"`,
          "x-contract-digest": digest,
        },
      });
    },
  }),
  operation({
    ...moving,
    access: "assurance:write",
    path: `${ONE}/propose`,
    summary: "Propose a draft of a contract",
    description: "From then on it waits for approval. Sealed in the admin log.",
    body: contractPropose,
    answer: { status: 200, about: "The version as it is now", schema: contract },
    run: (call) => call.write((write) => proposeContract(write, call.tenantId, idOf(call))),
  }),
  withReason(
    "approve",
    "contracts:approve",
    "Approve a contract",
    "By somebody who did not mint it; what lets a high-risk system do more needs two.",
    approveContract,
  ),
  withReason("reject", "contracts:approve", "Reject a contract", "It stays as it is and is never in force.", rejectContract),
  withReason("withdraw", "assurance:write", "Withdraw a contract", "Before it was decided.", withdrawContract),
  withReason(
    "revoke",
    "contracts:approve",
    "Revoke a contract",
    "In an emergency: the system has none in force from then on.",
    revokeContract,
  ),
  operation({
    ...moving,
    access: "assurance:write",
    path: `${ONE}/promote`,
    summary: "Put an approved contract in force",
    description:
      "Supersedes the previous one. An approval is valid for 30 days. If a replay suite is frozen, its gate must be passed for this " +
      "version; no critical finding may be open. Sealed in the admin log.",
    body: contractPromote,
    answer: { status: 200, about: "The version as it is now", schema: contract },
    run(call) {
      const override = call.body.override_gate?.reason ?? null;
      if (override !== null && !call.admin.permissions.has("contracts:override_gate"))
        throw new Refused(refuse("forbidden", "This needs the permission contracts:override_gate."));
      return call.write((write) => promoteContract(write, call.tenantId, idOf(call), override));
    },
  }),
  operation({
    ...common,
    reach: "none",
    access: "signed_in",
    method: "GET",
    path: "/v1/admin/standards",
    summary: "List the published schemas",
    description: "Schemas of the documents that the gateway issues to others.",
    answer: { status: 200, about: "Each with the path of its JSON Schema", schema: standards },
    run: async () => readStandards(),
  }),
  operation({
    ...common,
    reach: "none",
    access: "signed_in",
    method: "GET",
    path: "/v1/admin/standards/{slug}/schema",
    textParams: ["slug"],
    summary: "Read a published JSON Schema",
    answer: { status: 200, about: "The schema, draft 2020-12", schema: jsonSchema },
    run: async (call) => standardSchema(call.params.slug ?? ""),
  }),
];
