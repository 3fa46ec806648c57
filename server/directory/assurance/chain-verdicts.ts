import { type Verification, type VerificationFinding, VERDICTS } from "@gatehouse/ledger-format/verdict";
import { refuse, Refused } from "../../kernel/errors.ts";
import { acknowledgedFindings, type ChainAcknowledgement, putAcknowledgements } from "../../store/ledger/chain-acknowledgements.ts";
import {
  type ChainFault,
  faultOfChain,
  type KnownFault,
  moveChainFault,
  putChainFault,
  removeChainFault,
} from "../../store/ledger/chain-faults.ts";
import { lockName } from "../../store/connections/named-lock.ts";
import type { Directory, Write } from "../writes/write.ts";

interface Verified extends Pick<Verification, "chain_id" | "verdict" | "findings" | "findings_total" | "head"> {
  /** The moment as of which the chain was read, ISO 8601 UTC. */
  readonly as_of: string;
}

/** Verdicts that do not indicate tampering. */
const SOUND: ReadonlySet<string> = new Set(["intact", "unanchored"]);

/** The IDs of the faults that a verification found; null (unknown) if it found more than it lists. */
function faultsIn({ findings, findings_total: total }: Verified): string[] | null {
  return total > findings.length ? null : findings.filter(({ verdict }) => !SOUND.has(verdict)).map(({ id }) => id);
}

const worseOf = (one: string, other: string): string => VERDICTS.find((verdict) => verdict === one || verdict === other) ?? one;

/**
 * The known fault of a chain after a verification. Only a verification of the whole chain, as of a later moment than the
 * known fault, replaces it; any other says nothing about the rest of the chain and only adds its findings.
 */
function faultAfter(known: ChainFault | undefined, verified: Verified, isWhole: boolean): ChainFault | undefined {
  const { chain_id, verdict } = verified;
  const readAt = new Date(verified.as_of);
  const replaces = isWhole && (known === undefined || readAt > known.found_at);
  if (SOUND.has(verdict)) return replaces ? undefined : known;
  const findings = faultsIn(verified);
  if (known === undefined || replaces) return { chain_id, verdict, found_at: readAt, findings };
  return {
    chain_id,
    verdict: worseOf(known.verdict, verdict),
    found_at: readAt > known.found_at ? readAt : known.found_at,
    findings: known.findings && findings && [...new Set([...known.findings, ...findings])],
  };
}

/** Whether the fault differs from the known one, rather than being the same one found again. */
function isOther(known: ChainFault | undefined, fault: ChainFault | undefined): boolean {
  if (known === undefined || fault === undefined) return known !== fault;
  const names = (found: readonly string[] | null) => JSON.stringify(found && [...found].sort());
  return known.verdict !== fault.verdict || names(known.findings) !== names(fault.findings);
}

const lockOf = (chainId: string) => `record fault of chain ${chainId}`;

/**
 * Records that a chain no longer matches what was written, or matches again. `change` runs a write that the admin log
 * records; it is used only if the fault is new, changed or gone. Repeated until nothing is left to record, because another
 * verification may have recorded the same fault, or cleared it, meanwhile.
 */
export async function keepVerdict(
  { db }: Pick<Directory, "db">,
  verified: Verified,
  isWhole: boolean,
  change: (work: (write: Write) => Promise<void>) => Promise<void>,
): Promise<void> {
  while (!(await isRecorded(db, verified, isWhole))) await change((write) => noteVerdict(write, verified, isWhole));
}

/** Whether the known fault already says what was verified; if so, it then stands as of the later moment. */
function isRecorded(db: Directory["db"], verified: Verified, isWhole: boolean): Promise<boolean> {
  const { chain_id: chain, verdict } = verified;
  return db.transaction().execute(async (trx) => {
    await lockName(trx, lockOf(chain));
    const known = await faultOfChain(trx, chain);
    if (isOther(known, faultAfter(known, verified, isWhole))) return false;
    if (!SOUND.has(verdict)) await moveChainFault(trx, chain, new Date(verified.as_of));
    return true;
  });
}

async function noteVerdict(write: Write, verified: Verified, isWhole: boolean): Promise<void> {
  const { chain_id: chain, verdict } = verified;
  await lockName(write.trx, lockOf(chain));
  const known = await faultOfChain(write.trx, chain);
  const fault = faultAfter(known, verified, isWhole);
  if (!isOther(known, fault)) write.stay({}, {}, undefined);
  if (fault === undefined) await removeChainFault(write.trx, chain);
  else await putChainFault(write.trx, fault);
  write.log({
    tenant_id: null,
    action: "verify",
    resource: "audit-chains",
    resource_id: chain,
    after: { verdict: fault?.verdict ?? verdict },
  });
}

const summaryOf = ({ id, verdict, chain_seq, through_seq, detail }: VerificationFinding) => ({
  id,
  verdict,
  chain_seq,
  through_seq,
  detail,
});

/**
 * Acknowledges findings of a fresh verification, for one tenant or for all. They remain findings. Throws `Refused` if one
 * of them is not found.
 */
export async function acknowledgeFindings(
  write: Write,
  verified: Verified,
  tenantId: string | null,
  { finding_ids: ids, note }: { readonly finding_ids: readonly string[]; readonly note: string },
): Promise<void> {
  const { chain_id: chain, head } = verified;
  const known = await acknowledgedFindings(write.trx, chain, tenantId);
  const found = new Map(verified.findings.map((finding) => [finding.id, finding]));
  const findings = [...new Set(ids)].map((id) => {
    const finding = found.get(id);
    if (finding === undefined) throw new Refused(refuse("not_found", `Finding ${id} is not, or no longer, found: verify the chain again.`));
    return finding;
  });
  const fresh = findings.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) write.stay({}, {}, undefined);
  const who = { note, acknowledged_by: write.actor.username, acknowledged_at: write.now, head_hash: head?.row_hash ?? null };
  const acknowledgements = fresh.map((one): ChainAcknowledgement => ({ ...one, finding_id: one.id, ...who }));
  await putAcknowledgements(write.trx, chain, tenantId, acknowledgements);
  write.log({
    tenant_id: tenantId,
    action: "acknowledge",
    resource: "audit-chains",
    resource_id: chain,
    after: { note, verdict: verified.verdict, findings: fresh.map(summaryOf) },
  });
}

/** A chain's verdict and its acknowledgement in words, for reports that rely on the record. */
export function faultInWords({ chain_id: chain, verdict, found_at: found, acknowledged }: KnownFault): string {
  const known =
    acknowledged === null
      ? ""
      : `; acknowledged by ${acknowledged.by ?? "nobody known"} on ${new Date(acknowledged.at).toISOString()}: ${acknowledged.note}`;
  return `Chain ${chain} was verified as ${verdict} on ${found.toISOString()}${known}`;
}
