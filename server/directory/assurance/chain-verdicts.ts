import { type ChainFault, chainFaults, putChainFault, removeChainFault } from "../../store/chain-faults.ts";
import type { Directory, Write } from "../writes/write.ts";

interface Verified {
  readonly chain_id: string;
  readonly verdict: string;
}

/** Verdicts that speak of no change of what was written. */
const SOUND = new Set(["intact", "unanchored"]);

async function faultOf({ db }: Pick<Directory, "db">, chainId: string): Promise<ChainFault | undefined> {
  return (await chainFaults(db)).find((fault) => fault.chain_id === chainId);
}

/** Whether a verdict is other than what is known of its chain. `isWhole`: of the whole chain, which alone clears it. */
export async function isNewVerdict(directory: Pick<Directory, "db">, { chain_id, verdict }: Verified, isWhole: boolean): Promise<boolean> {
  const known = await faultOf(directory, chain_id);
  return SOUND.has(verdict) ? isWhole && known !== undefined : known?.verdict !== verdict;
}

/** Keeps that a chain is not what was written, or is again; told in the admin log. */
export async function noteVerdict(write: Write, { chain_id, verdict }: Verified): Promise<void> {
  if (SOUND.has(verdict)) await removeChainFault(write.trx, chain_id);
  else await putChainFault(write.trx, { chain_id, verdict, found_at: write.now });
  write.log({ tenant_id: null, action: "verify", resource: "audit-chains", resource_id: chain_id, after: { verdict } });
}
