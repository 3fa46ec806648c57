import type { Verification, VerificationFinding } from "@gatehouse/ledger-format/verdict";
import { refuse, Refused } from "../../kernel/errors.ts";
import { acknowledgedFindings, type ChainAcknowledgement, putAcknowledgements } from "../../store/ledger/chain-acknowledgements.ts";
import { faultOfChain, type KnownFault, putChainFault, removeChainFault } from "../../store/ledger/chain-faults.ts";
import type { Directory, Write } from "../writes/write.ts";

type Verified = Pick<Verification, "chain_id" | "verdict" | "findings" | "findings_total" | "head">;

/** Verdicts that speak of no change of what was written. */
const SOUND: ReadonlySet<string> = new Set(["intact", "unanchored"]);

/** What a verification leaves to know of its chain. Where more was found than is listed, it is not known what. */
function faultsIn({ findings, findings_total: total }: Verified): string[] | null {
  return total > findings.length ? null : findings.filter(({ verdict }) => !SOUND.has(verdict)).map(({ id }) => id);
}

const isWithin = (found: readonly string[] | null, known: readonly string[] | null) =>
  known === null || (found !== null && new Set(known).isSupersetOf(new Set(found)));

/** Whether a verdict is other than what is known of its chain. `isWhole`: of the whole chain, which alone clears it. */
export async function isNewVerdict({ db }: Pick<Directory, "db">, verified: Verified, isWhole: boolean): Promise<boolean> {
  const known = await faultOfChain(db, verified.chain_id);
  if (SOUND.has(verified.verdict)) return isWhole && known !== undefined;
  if (known === undefined) return true;
  const found = faultsIn(verified);
  const isSame = isWithin(found, known.findings) && (!isWhole || isWithin(known.findings, found));
  return !isSame || (isWhole && known.verdict !== verified.verdict);
}

/** Keeps that a chain is not what was written, or is again; told in the admin log. */
export async function noteVerdict(write: Write, verified: Verified, isWhole: boolean): Promise<void> {
  const { chain_id: chain, verdict } = verified;
  if (SOUND.has(verdict)) await removeChainFault(write.trx, chain);
  else {
    const known = isWhole ? undefined : await faultOfChain(write.trx, chain);
    const found = faultsIn(verified);
    // A part of a chain says nothing of the others.
    const findings = known === undefined || found === null ? found : known.findings && [...new Set([...known.findings, ...found])];
    await putChainFault(write.trx, { chain_id: chain, verdict, found_at: write.now, findings });
  }
  write.log({ tenant_id: null, action: "verify", resource: "audit-chains", resource_id: chain, after: { verdict } });
}

const told = ({ id, verdict, chain_seq, through_seq, detail }: VerificationFinding) => ({ id, verdict, chain_seq, through_seq, detail });

/**
 * Somebody knows of these findings of a verification of just now, for one tenant or for all. They stay findings. Throws `Refused` where
 * one of them is not found.
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
    after: { note, verdict: verified.verdict, findings: fresh.map(told) },
  });
}

/** For what rests on the record: what a chain was verified as, and who knows of it. */
export function faultInWords({ chain_id: chain, verdict, found_at: found, acknowledged }: KnownFault): string {
  const known =
    acknowledged === null
      ? ""
      : `; acknowledged by ${acknowledged.by ?? "nobody known"} on ${new Date(acknowledged.at).toISOString()}: ${acknowledged.note}`;
  return `Chain ${chain} was verified as ${verdict} on ${found.toISOString()}${known}`;
}
