import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { noteDetail } from "./row-detail.ts";

/** What the provider calls the model, where that is another name than the gateway's. */
export function noteUpstreamModel(row: AuditRow, model: ModelEntry): void {
  noteDetail(row, "upstream_model", model.modelName === model.name ? null : model.modelName);
}
