import { activeContract } from "../../store/assurance/ai-contracts.ts";
import type { Database, Trx } from "../../store/database.ts";

/** Version and digest of a system's active contract; null if it has none. */
export async function contractInForce(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
): Promise<{ readonly version: number; readonly digest: string } | null> {
  const row = await activeContract(db, tenantId, systemId);
  return row === undefined ? null : { version: row.version, digest: row.digest };
}
