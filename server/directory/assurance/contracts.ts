import {
  type Conformance,
  type Contract,
  type ContractClauses,
  type ContractDiff,
  type ContractDocument,
  type ContractMint,
  type ContractOnList,
  type ContractState,
  type ContractWithClauses,
} from "@gatehouse/contracts/ai-contracts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import {
  activeContract,
  contractPage,
  type ContractPatch,
  type ContractRow,
  contractVersion,
  insertContract,
  lastInForce,
  lockedContract,
  newestContract,
  nextContractVersion,
  updateContract,
} from "../../store/assurance/ai-contracts.ts";
import type { AiSystemRow } from "../../store/assurance/ai-systems.ts";
import type { Database, Trx } from "../../store/database.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { notFound } from "../writes/records.ts";
import { sealRecord } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { foundSystem, lockedSystem, refuseRetired } from "./ai-systems.ts";
import { closureOf, contractText } from "./closure.ts";
import { contractDifference } from "./contract-diff.ts";
import { openFindings } from "../../store/assurance/drift-findings.ts";
import { gateFor } from "./replay-runs.ts";
import { afterMove, type ContractMove, movesFrom } from "./contract-states.ts";

const RESOURCE = "ai-contracts";
/** An approval expires if it is not used within this time. */
const APPROVAL_DAYS = 30;
const DAY_MS = 86_400_000;

const stamp = (at: Date | null): string | null => at?.toISOString() ?? null;

function readContract(row: ContractRow): Contract {
  return {
    id: row.id,
    ai_system_id: row.ai_system_id,
    version: row.version,
    state: row.state as ContractState,
    digest: row.digest,
    note: row.note,
    minted_by: row.minted_by,
    approvals: row.approvals,
    required_approvals: row.required_approvals,
    decision: row.decision,
    gate_override: row.gate_override,
    created_at: row.created_at.toISOString(),
    approved_at: stamp(row.approved_at),
    promoted_at: stamp(row.promoted_at),
    ended_at: stamp(row.ended_at),
  };
}

const documentIn = (row: ContractRow): ContractDocument => JSON.parse(row.content) as ContractDocument;

/** Drops the clauses that an older document lacks, since it says nothing about them. */
function inTermsOf(older: ContractDocument, live: ContractDocument): ContractDocument {
  const clauses = Object.fromEntries(Object.entries(live.clauses).filter(([name]) => Object.hasOwn(older.clauses, name)));
  return { ...live, clauses: clauses as ContractClauses };
}

/** Whether the live configuration matches an active version, and how it differs if not. Null for a version that is not active. */
export async function conformanceOf(directory: Directory, system: AiSystemRow, row: ContractRow): Promise<Conformance> {
  if (row.state !== "active") return null;
  const live = inTermsOf(documentIn(row), await closureOf(directory, system));
  const digest = sha256Hex(contractText(live));
  if (digest === row.digest) return { conforms: true, live_digest: digest, differences: 0, overall: "unchanged" };
  const { changes, overall } = contractDifference(documentIn(row).clauses, live.clauses);
  return { conforms: false, live_digest: digest, differences: changes.length, overall };
}

export async function listContracts(directory: Directory, tenantId: string, systemId: string, page: Page): Promise<Paged<ContractOnList>> {
  const system = await foundSystem(directory.db, tenantId, systemId);
  const { items, total } = await contractPage(directory.db, tenantId, systemId, page);
  const listed: ContractOnList[] = [];
  for (const row of items) listed.push({ ...readContract(row), conformance: await conformanceOf(directory, system, row) });
  return { items: listed, total };
}

async function whole(directory: Directory, system: AiSystemRow, row: ContractRow): Promise<ContractWithClauses> {
  return { ...readContract(row), clauses: documentIn(row).clauses, conformance: await conformanceOf(directory, system, row) };
}

/** The active version. Throws a `not_found` refusal if there is none. */
export async function readCurrentContract(directory: Directory, tenantId: string, systemId: string): Promise<ContractWithClauses> {
  const system = await foundSystem(directory.db, tenantId, systemId);
  const row = await activeContract(directory.db, tenantId, systemId);
  if (row === undefined) throw notFound("active contract");
  return whole(directory, system, row);
}

async function foundVersion(db: Database | Trx, tenantId: string, systemId: string, version: string): Promise<ContractRow> {
  const row = /^[1-9]\d{0,8}$/.test(version) ? await contractVersion(db, tenantId, systemId, Number(version)) : undefined;
  if (row === undefined) throw notFound("version of the contract");
  return row;
}

export async function readContractVersion(
  directory: Directory,
  tenantId: string,
  systemId: string,
  version: string,
): Promise<ContractWithClauses> {
  const system = await foundSystem(directory.db, tenantId, systemId);
  return whole(directory, system, await foundVersion(directory.db, tenantId, systemId, version));
}

/** The canonical document: exactly the text that the digest covers. */
export async function exportContract(
  directory: Directory,
  tenantId: string,
  systemId: string,
  version: string,
): Promise<{ text: string; digest: string }> {
  await foundSystem(directory.db, tenantId, systemId);
  const { content, digest } = await foundVersion(directory.db, tenantId, systemId, version);
  return { text: content, digest };
}

/** `against` is a version, or `live` for the current configuration; the previous version if omitted. */
export async function diffContract(
  directory: Directory,
  tenantId: string,
  systemId: string,
  version: string,
  against: string | undefined,
): Promise<ContractDiff> {
  const system = await foundSystem(directory.db, tenantId, systemId);
  const row = await foundVersion(directory.db, tenantId, systemId, version);
  const { clauses } = documentIn(row);
  if (against === "live") {
    const live = await closureOf(directory, system);
    return { ai_system_id: systemId, from: version, to: "live", ...contractDifference(clauses, live.clauses) };
  }
  if (against === undefined && row.version === 1) return { ai_system_id: systemId, from: "nothing", to: version, ...firstOf(clauses) };
  const from = against ?? String(row.version - 1);
  const before = documentIn(await foundVersion(directory.db, tenantId, systemId, from)).clauses;
  return { ai_system_id: systemId, from, to: version, ...contractDifference(before, clauses) };
}

/** A first version counts as widening every clause, since nothing was allowed before. */
function firstOf(clauses: ContractClauses): Pick<ContractDiff, "overall" | "clauses" | "changes"> {
  const names = Object.keys(clauses) as (keyof ContractClauses)[];
  return {
    overall: "widened",
    clauses: Object.fromEntries(names.map((name) => [name, "widened" as const])),
    changes: names.map((clause) => ({ clause, path: "", change: "widened" as const, before: null, after: clauses[clause] })),
  };
}

/** Two people must approve anything that lets a high-risk system do more. */
async function approvalsNeeded(trx: Trx, system: AiSystemRow, clauses: ContractClauses): Promise<number> {
  if (system.risk_class !== "high") return 1;
  const before = await lastInForce(trx, system.tenant_id, system.id);
  return before !== undefined && contractDifference(documentIn(before).clauses, clauses).overall === "widened" ? 2 : 1;
}

/** Creates a version from what the system may do as currently configured. */
export async function mintContract(
  write: Write,
  tenantId: string,
  systemId: string,
  { note = null, draft = false }: ContractMint,
): Promise<ContractWithClauses> {
  const system = await lockedSystem(write, tenantId, systemId);
  refuseRetired(system);
  const directory = { ...write.directory, db: write.trx as Database };
  const document = await closureOf(directory, system);
  const content = contractText(document);
  const row = {
    id: uuid(),
    tenant_id: tenantId,
    ai_system_id: systemId,
    version: await nextContractVersion(write.trx, systemId),
    state: draft ? "draft" : "proposed",
    digest: sha256Hex(content),
    content,
    note,
    minted_by: write.actor.username,
    minted_by_id: write.actor.id,
    required_approvals: await approvalsNeeded(write.trx, system, document.clauses),
    created_at: write.now,
    updated_at: write.now,
  };
  await insertContract(write.trx, row);
  seal(write, row, "mint", { state: row.state });
  return whole(directory, system, await foundVersion(write.trx, tenantId, systemId, String(row.version)));
}

type Sealable = Pick<ContractRow, "tenant_id" | "id" | "ai_system_id" | "version" | "digest">;

function seal(write: Write, row: Sealable, action: string, details: Readonly<Record<string, unknown>>): void {
  sealRecord(write, {
    tenantId: row.tenant_id,
    system: { ai_system_id: row.ai_system_id, contract_version: String(row.version), contract_hash: row.digest },
    action,
    resource: RESOURCE,
    resource_id: row.id,
    context: { record_type: "ai.gw.contract-transition", version: row.version, ...details },
    references: [{ type: "ai.gw.contract", digest_alg: "SHA-256", digest: row.digest, purpose: "contract_document" }],
  });
}

async function lockedFor(write: Write, tenantId: string, id: string, move: ContractMove): Promise<{ row: ContractRow; to: ContractState }> {
  const row = await lockedContract(write.trx, tenantId, id);
  if (row === undefined) throw notFound("contract");
  const state = row.state as ContractState;
  const to = afterMove(state, move);
  if (to === null) throw notNow(row, `A contract that is ${state} cannot be ${PAST[move]}.`);
  return { row, to };
}

const PAST: Record<ContractMove, string> = {
  propose: "proposed",
  approve: "approved",
  reject: "rejected",
  withdraw: "withdrawn",
  promote: "promoted",
  revoke: "revoked",
};

const notNow = (row: ContractRow, words: string): Refused =>
  new Refused(refuse("illegal_transition", words, { extra: { state: row.state, allowed: movesFrom(row.state as ContractState) } }));

async function moved(
  write: Write,
  row: ContractRow,
  to: ContractState,
  move: ContractMove,
  patch: ContractPatch,
  details: Readonly<Record<string, unknown>> = {},
): Promise<Contract> {
  await updateContract(write.trx, row.id, { ...patch, state: to, updated_at: write.now });
  seal(write, row, move, { from: row.state, to, ...details });
  const after = await lockedContract(write.trx, row.tenant_id, row.id);
  if (after === undefined) throw new Error("a contract is not there after it was written");
  return readContract(after);
}

const signatureOf = ({ actor, now }: Write, reason: string) => ({
  admin_id: actor.id,
  admin: actor.username,
  at: now.toISOString(),
  reason,
});

export async function proposeContract(write: Write, tenantId: string, id: string): Promise<Contract> {
  const { row, to } = await lockedFor(write, tenantId, id, "propose");
  return moved(write, row, to, "propose", {});
}

/**
 * The approver may neither have minted this version nor approved it already. It becomes approved once it has the required
 * number of approvals.
 */
export async function approveContract(write: Write, tenantId: string, id: string, reason: string): Promise<Contract> {
  const { row, to } = await lockedFor(write, tenantId, id, "approve");
  const { actor } = write;
  if (actor.id === null || actor.id === row.minted_by_id)
    throw new Refused(refuse("own_contract", "Whoever minted a version of a contract cannot approve it."));
  if (row.approvals.some((one) => one.admin_id === actor.id))
    throw new Refused(refuse("own_contract", "You have approved this version already; it needs somebody else."));
  const approvals = [...row.approvals, signatureOf(write, reason)];
  const enough = approvals.length >= row.required_approvals;
  const patch = { approvals: JSON.stringify(approvals), ...(enough ? { approved_at: write.now } : {}) };
  return moved(write, row, enough ? to : (row.state as ContractState), "approve", patch, { reason, approvals: approvals.length });
}

async function ended(
  write: Write,
  tenantId: string,
  id: string,
  move: "reject" | "withdraw" | "revoke",
  reason: string,
): Promise<Contract> {
  const { row, to } = await lockedFor(write, tenantId, id, move);
  return moved(write, row, to, move, { decision: JSON.stringify(signatureOf(write, reason)), ended_at: write.now }, { reason });
}

export const rejectContract = (write: Write, tenantId: string, id: string, reason: string) => ended(write, tenantId, id, "reject", reason);
export const withdrawContract = (write: Write, tenantId: string, id: string, reason: string) =>
  ended(write, tenantId, id, "withdraw", reason);
export const revokeContract = (write: Write, tenantId: string, id: string, reason: string) => ended(write, tenantId, id, "revoke", reason);

/** What prevents an approved version from being promoted, in words; empty if nothing does. */
async function inTheWay(write: Write, row: ContractRow, system: AiSystemRow, overridden: boolean): Promise<string[]> {
  // The active contract and the risk class may have changed since it was minted.
  const needed = await approvalsNeeded(write.trx, system, documentIn(row).clauses);
  const { critical = 0 } = await openFindings(write.trx, row.tenant_id, row.ai_system_id);
  const gate = await gateFor(write.trx, row.tenant_id, row.ai_system_id, row.digest, write.now);
  return [
    ...(row.approvals.length < needed
      ? [`It lets a high-risk system do more than the contract in force, which ${needed} people have to approve: mint it again.`]
      : []),
    ...(critical > 0 ? [`${critical} critical findings are open.`] : []),
    ...(overridden || gate.verdict === "passed" || gate.verdict === "no_suite"
      ? []
      : [`The replay gate says ${gate.verdict}: ${gate.reasons.join(" ")}`]),
  ];
}

/** Puts an approved version in force, replacing the previous one. `override` gives the reason for doing so without a passed replay gate. */
export async function promoteContract(write: Write, tenantId: string, id: string, override: string | null): Promise<Contract> {
  const { row, to } = await lockedFor(write, tenantId, id, "promote");
  const system = await lockedSystem(write, tenantId, row.ai_system_id);
  refuseRetired(system);
  const approvedAt = row.approved_at?.getTime() ?? 0;
  if (write.now.getTime() - approvedAt > APPROVAL_DAYS * DAY_MS)
    throw notNow(row, `It was approved more than ${APPROVAL_DAYS} days ago: mint it again and have it approved.`);
  const obstacles = await inTheWay(write, row, system, override !== null);
  if (obstacles.length > 0) throw notNow(row, obstacles.join(" "));
  const inForce = await activeContract(write.trx, tenantId, row.ai_system_id);
  // It may have been revoked in the meantime, and then stays revoked.
  const active = inForce && (await lockedContract(write.trx, tenantId, inForce.id));
  if (active?.state === "active") {
    await updateContract(write.trx, active.id, { state: "superseded", ended_at: write.now, updated_at: write.now });
    seal(write, active, "supersede", { from: "active", to: "superseded", by_version: row.version });
  }
  const overridden = override === null ? {} : { gate_override: JSON.stringify(signatureOf(write, override)) };
  return moved(write, row, to, "promote", { promoted_at: write.now, ...overridden }, { gate_override: override });
}

/** The active version and whether the live configuration conforms to it, for the board; null without an active contract. */
export async function contractOnBoard(
  directory: Directory,
  system: AiSystemRow,
): Promise<{ version: number; digest: string; conforms: boolean } | null> {
  const row = await activeContract(directory.db, system.tenant_id, system.id);
  if (row === undefined) return null;
  const { conforms } = (await conformanceOf(directory, system, row)) ?? { conforms: true };
  return { version: row.version, digest: row.digest, conforms };
}

/** Whether a version is waiting for approval. */
export async function waitsForApproval(db: Database, tenantId: string, systemId: string): Promise<boolean> {
  return (await newestContract(db, tenantId, systemId, ["proposed"])) !== undefined;
}
