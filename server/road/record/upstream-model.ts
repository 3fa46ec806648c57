import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { ModelEntry } from "../../directory/snapshot.ts";

/** What the provider calls the model, where that is another name than the gateway's. */
export function noteUpstreamModel(row: AuditRow, model: ModelEntry): void {
  const told = { ...(row.custom_metadata as Record<string, unknown> | null | undefined) };
  if (model.modelName === model.name) delete told.upstream_model;
  else told.upstream_model = model.modelName;
  if (row.custom_metadata != null || Object.keys(told).length > 0) row.custom_metadata = told;
}
