import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { RequestView } from "../view.ts";

/** What the request asks of a model, as its row tells it. */
export function noteView(row: AuditRow, view: RequestView): void {
  if (view.model === null) return;
  row.llm_model_requested = view.model.id ?? view.model.name;
  row.llm_streaming = view.streaming;
  row.llm_temperature = view.temperature;
  row.llm_max_tokens = view.maxTokens;
  row.llm_function_calling = view.tools.length > 0;
  row.prompt_fingerprint = view.instructions === null ? null : sha256Hex(view.instructions);
}
