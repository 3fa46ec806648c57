import type { Stamp } from "./columns.ts";

export interface SealedComplianceReportTable {
  id: string;
  tenant_id: string;
  framework: string;
  window_from: Stamp;
  window_to: Stamp;
  digest: string;
  /** The report as JSON text, as it is served. */
  content: string;
  /** Its signed statement. */
  envelope: string;
  sealed_by: string | null;
  created_at: Stamp;
}
