import { type ChainVerification, marked, verifyChain } from "../../../ledger/chains/chains.ts";
import type { AdminCall } from "../operation.ts";
import { keepVerdict } from "../../../directory/assurance/chain-verdicts.ts";

interface VerifiedRange {
  readonly from_seq?: number;
  readonly to_seq?: number;
}

/** Most findings of one chain that are reported individually, and so can be acknowledged. */
const MAX_FINDINGS = 100_000;
/** Most findings in one response, as many as one acknowledgement accepts. */
const LISTED = 1_000;

/** The findings as listed: unacknowledged ones first, so that the next ones appear once these are acknowledged. */
export function asListed(verification: ChainVerification): ChainVerification {
  const { findings } = verification;
  if (findings.length <= LISTED) return verification;
  const [known = [], open = []] = [true, false].map((isKnown) => findings.filter(({ acknowledged_at: at }) => (at !== null) === isKnown));
  return { ...verification, findings: [...open, ...known].slice(0, LISTED) };
}

/** Verifies the requested range and stores the verdict. */
export async function verifiedChain(
  call: AdminCall<unknown, unknown>,
  chainId: string,
  range: VerifiedRange = {},
): Promise<ChainVerification> {
  const { directory, liveChain } = call.services;
  const live = liveChain();
  const knownHeads =
    live?.chainId === chainId && live.shippedSeq > 0 && range.to_seq === undefined
      ? [{ chainSeq: live.shippedSeq, rowHash: live.shippedHash }]
      : [];
  const verification = await verifyChain(directory.db, chainId, {
    fromSeq: range.from_seq,
    toSeq: range.to_seq,
    tenantId: call.tenantOrAll ?? undefined,
    knownHeads,
    maxFindings: MAX_FINDINGS,
  });
  const isWhole = range.from_seq === undefined && range.to_seq === undefined;
  await keepVerdict(directory, verification, isWhole, (work) => call.write(work));
  return verification;
}

/** A requested verification. Its metric considers only acknowledgements for all tenants, whoever requests it. */
export async function countedVerification(
  call: AdminCall<unknown, unknown>,
  chainId: string,
  range?: VerifiedRange,
): Promise<ChainVerification> {
  const { directory, verified } = call.services;
  const verification = await verifiedChain(call, chainId, range);
  verified(call.tenantOrAll === null ? verification : await marked(directory.db, verification, null));
  return asListed(verification);
}
