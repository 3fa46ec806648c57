import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import type { SavedCheckpoint } from "@gatehouse/ledger-format/anchors";
import { CHECKPOINT_MS } from "@gatehouse/ledger-format/checkpoint";
import { listChains } from "../ledger/chains/chain-facts.ts";
import { type ChainVerification, verifyChain } from "../ledger/chains/chains.ts";
import type { Database } from "../store/database.ts";
import { type DoctorFinding, finding } from "./finding.ts";

/** Rows verified per chain, starting from a checkpoint about this far back. */
const VERIFIED_ROWS = 2_000;

/** Checkpoints kept outside the database, by chain. */
export type SavedCheckpoints = ReadonlyMap<string, readonly SavedCheckpoint[]>;

export async function* examineChains(db: Database, kept: SavedCheckpoints): AsyncGenerator<DoctorFinding> {
  const chains = await listChains(db);
  for (const chain of chains) {
    const covered = chain.last_checkpoint_seq ?? 0;
    const from = Math.max(chain.first_seq, Math.min(covered, chain.head_seq) - VERIFIED_ROWS);
    try {
      const result = await verifyChain(db, chain.chain_id, {
        saved: kept.get(chain.chain_id) ?? [],
        ...(from > chain.first_seq ? { fromSeq: await afterCheckpoint(db, chain.chain_id, from) } : {}),
      });
      if (result.verdict === "intact" && chain.head_seq < chain.first_seq) {
        yield finding("ok", "audit chain", `${chain.chain_id} is empty`);
        continue;
      }
      const silent = Date.now() - Date.parse(chain.updated_at) > 3 * CHECKPOINT_MS;
      const seen = silent ? `; its writer was last heard ${chain.updated_at.slice(0, 19)}Z` : "";
      yield finding(
        findingStateOf(result),
        "audit chain",
        `${chain.chain_id} ${result.verdict} over its newest ${result.rows_checked} row(s), head ${chain.head_seq}${foundInWords(result)}${seen}`,
      );
    } catch (error) {
      yield finding("wrong", "audit chain", `${chain.chain_id}: ${(error as Error).message}`);
    }
  }
  const gone = [...kept.keys()].filter((id) => id !== ADMIN_CHAIN && !chains.some(({ chain_id: there }) => there === id));
  for (const id of gone)
    yield finding("wrong", "audit chain", `${id} is missing: the checkpoint file has a checkpoint of it, and the database nothing`);
}

export function findingStateOf({ verdict, unacknowledged }: ChainVerification): DoctorFinding["state"] {
  if (verdict === "intact") return "ok";
  return verdict === "unanchored" || unacknowledged === 0 ? "warning" : "wrong";
}

/** The first finding, preferring unacknowledged ones. */
export function foundInWords({ findings }: ChainVerification): string {
  const firstFinding = findings.find(({ acknowledged_at: at }) => at === null) ?? findings[0];
  if (firstFinding === undefined) return "";
  return `: ${firstFinding.detail}${firstFinding.acknowledged_at === null ? "" : `, acknowledged by ${firstFinding.acknowledged_by} on ${firstFinding.acknowledged_at}`}`;
}

/** The first row after the last checkpoint at or before `seq`, from which verification can start. */
async function afterCheckpoint(db: Database, chainId: string, seq: number): Promise<number> {
  const row = await db
    .selectFrom("audit_checkpoints")
    .select(({ fn }) => fn.max("chain_seq").as("seq"))
    .where("chain_id", "=", chainId)
    .where("chain_seq", "<=", seq)
    .executeTakeFirst();
  return Number(row?.seq ?? 0) + 1;
}
