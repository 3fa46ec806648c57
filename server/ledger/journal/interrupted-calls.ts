import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { Log } from "../../kernel/log.ts";
import { storedIds } from "../../store/ledger/audit-shipping.ts";
import type { Database } from "../../store/database.ts";
import { interruptedRow } from "./recovery.ts";

/** Writes a row for each call that was begun before a crash and never sealed. */
export async function writeInterrupted(
  unsealed: ReadonlyMap<string, AuditRow>,
  { db, log, write }: { readonly db: Database; readonly log: Log; readonly write: (row: AuditRow) => void },
): Promise<void> {
  // A journal restored from an older copy may not know that a call was sealed. A second row with its ID would be rejected and leave a gap
  // in the table.
  const storedBefore = unsealed.size === 0 ? new Set<string>() : await storedIds(db, [...unsealed.keys()]);
  const interrupted = [...unsealed].flatMap(([id, marker]) => (storedBefore.has(id) ? [] : [marker]));
  for (const marker of interrupted) write(interruptedRow(marker));
  if (interrupted.length > 0) log.warn("audit_calls_interrupted", { calls: interrupted.length });
}
