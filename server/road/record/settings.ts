import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { SentSettings } from "../../wire/sent-settings.ts";

/** Records the settings the model was sent. Of its instructions the row has a digest, never the text. */
export function noteSettings(row: AuditRow, { temperature, maxTokens, instructions }: SentSettings): void {
  row.llm_temperature = temperature;
  row.llm_max_tokens = maxTokens;
  row.prompt_fingerprint = instructions === null ? null : sha256Hex(instructions);
}
