import { type Insertable, type Selectable, sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import type { SealedComplianceReportTable } from "../tables/compliance.ts";

export type SealedReportRow = Selectable<SealedComplianceReportTable>;
export type ListedReport = Omit<SealedReportRow, "content" | "envelope">;

const LISTED = ["id", "tenant_id", "framework", "window_from", "window_to", "digest", "sealed_by", "created_at"] as const;

/** Newest first. */
export async function sealedReportPage(
  db: Database,
  tenantId: string,
  framework: string | undefined,
  page: Page,
): Promise<Paged<ListedReport>> {
  let query = db.selectFrom("sealed_compliance_reports").where("tenant_id", "=", tenantId);
  if (framework !== undefined) query = query.where("framework", "=", framework);
  return pageOfRows(query, query.select(LISTED).orderBy("created_at", "desc").orderBy("id"), page);
}

export function findSealedReport(db: Database | Trx, tenantId: string, id: string): Promise<SealedReportRow | undefined> {
  return db.selectFrom("sealed_compliance_reports").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}

export interface ReportWindow {
  readonly tenantId: string;
  readonly framework: string;
  readonly from: Date;
  readonly to: Date;
}

export function sealedReportOf(db: Database | Trx, { tenantId, framework, from, to }: ReportWindow): Promise<SealedReportRow | undefined> {
  return db
    .selectFrom("sealed_compliance_reports")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("framework", "=", framework)
    .where("window_from", "=", from)
    .where("window_to", "=", to)
    .executeTakeFirst();
}

export async function insertSealedReport(trx: Trx, values: Insertable<SealedComplianceReportTable>): Promise<void> {
  await trx.insertInto("sealed_compliance_reports").values(values).execute();
}

/** The sequence number and hash of the newest admin log entry. */
export async function adminLogHead(trx: Trx): Promise<{ seq: number; entry_hash: string }> {
  const { rows } = await sql<{ seq: number; entry_hash: string }>`SELECT seq, hash AS entry_hash FROM admin_log_head`.execute(trx);
  return rows[0] ?? { seq: 0, entry_hash: "" };
}
