import { readTenantPolicy } from "../../store/records/policy-reads.ts";
import { compileTenant, type ModelEntry } from "../snapshot.ts";
import type { Directory } from "../writes/write.ts";

/** The tenant's models with everything needed to call their providers, read freshly from the database. */
export async function probedModels(directory: Directory, tenantId: string): Promise<ReadonlyMap<string, ModelEntry>> {
  const rows = await readTenantPolicy(directory.db, tenantId);
  return rows === null ? new Map() : compileTenant(rows, directory.secrets.openOrNull, []).models;
}
