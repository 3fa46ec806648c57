import type { Trx } from "../../store/database.ts";
import { assetsToJudge } from "../../store/discovery/assets-to-judge.ts";
import { writeJudgements } from "../../store/discovery/asset-judgements.ts";
import { readGovernedRecords } from "../../store/assurance/governed-endpoints.ts";
import { governedOf, judge } from "./governance.ts";

/** Re-evaluates the governance of assets and writes what changed. Must hold the lock on judging. */
export async function judgeAgain(
  trx: Trx,
  tenantId: string,
  of: Parameters<typeof assetsToJudge>[2],
  ownOrigins: readonly string[],
): Promise<{ checked: number; changed: number }> {
  const governed = governedOf(await readGovernedRecords(trx, tenantId), ownOrigins);
  const assets = await assetsToJudge(trx, tenantId, of);
  const judgements = judge(assets, governed);
  await writeJudgements(trx, judgements);
  return { checked: assets.length, changed: judgements.length };
}
