import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import type { SavedCheckpoint } from "@gatehouse/ledger-format/anchors";
import { verifyChain } from "../ledger/chains.ts";
import type { Database } from "../store/database.ts";
import { findingStateOf } from "./examine-chains.ts";
import { type DoctorFinding, finding } from "./finding.ts";

export async function* examineAdminLog(db: Database, kept: SavedCheckpoint | undefined): AsyncGenerator<DoctorFinding> {
  try {
    const { verdict, rows_checked: entries, findings } = await verifyChain(db, ADMIN_CHAIN, { saved: kept === undefined ? [] : [kept] });
    yield finding(
      findingStateOf(verdict),
      "admin log",
      `${verdict} over ${entries} entries${findings[0] === undefined ? "" : `: ${findings[0].detail}`}`,
    );
  } catch (error) {
    yield finding("wrong", "admin log", (error as Error).message);
  }
}
