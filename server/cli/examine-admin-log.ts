import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import type { SavedCheckpoint } from "@gatehouse/ledger-format/anchors";
import { verifyChain } from "../ledger/chains/chains.ts";
import type { Database } from "../store/database.ts";
import { findingStateOf, foundInWords } from "./examine-chains.ts";
import { type DoctorFinding, finding } from "./finding.ts";

export async function* examineAdminLog(db: Database, kept: readonly SavedCheckpoint[]): AsyncGenerator<DoctorFinding> {
  try {
    const result = await verifyChain(db, ADMIN_CHAIN, { saved: kept });
    yield finding(findingStateOf(result), "admin log", `${result.verdict} over ${result.rows_checked} entries${foundInWords(result)}`);
  } catch (error) {
    yield finding("wrong", "admin log", (error as Error).message);
  }
}
