import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { noteDetail } from "./row-detail.ts";

/** Records the provider's name of the model if it differs from the gateway's. */
export function noteUpstreamModel(row: AuditRow, model: ModelEntry): void {
  noteDetail(row, "upstream_model", model.modelName === model.name ? null : model.modelName);
}
