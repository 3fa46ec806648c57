import { pageOfRows } from "../records/paging.ts";
import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { findInTenant, type RecordStore, writesById } from "../records/record-store.ts";
import type { AiSystemEvidenceTable } from "../tables/assurance.ts";

export type EvidenceRow = Selectable<AiSystemEvidenceTable>;
export type EvidenceInsert = Insertable<AiSystemEvidenceTable>;
export type EvidencePatch = Updateable<AiSystemEvidenceTable>;

export const evidenceStore: RecordStore<EvidenceRow, EvidenceInsert, EvidencePatch, { readonly systemId: string }> = {
  async page(db, tenantId, { systemId }, page) {
    const query = db.selectFrom("ai_system_evidence").where("tenant_id", "=", tenantId).where("ai_system_id", "=", systemId);
    return pageOfRows(query, query.selectAll().orderBy("created_at", "desc").orderBy("id"), page);
  },
  find: findInTenant("ai_system_evidence"),
  ...writesById("ai_system_evidence"),
};

/** Whether there is evidence of this kind that is valid at `now`. */
export async function hasEvidence(db: Database | Trx, tenantId: string, systemId: string, kind: string, now: Date): Promise<boolean> {
  const found = await db
    .selectFrom("ai_system_evidence")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .where("kind", "=", kind)
    .where((eb) => eb.or([eb("valid_from", "is", null), eb("valid_from", "<=", now)]))
    .where((eb) => eb.or([eb("valid_until", "is", null), eb("valid_until", ">", now)]))
    .executeTakeFirst();
  return found !== undefined;
}
