import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { SentSettings } from "../../wire/sent-settings.ts";

/** Records the settings sent to the model. The row stores a digest of the instructions, never the text. */
export function noteSettings(row: AuditRow, { temperature, maxTokens, instructions }: SentSettings): void {
  row.llm_temperature = temperature;
  row.llm_max_tokens = maxTokens;
  row.prompt_fingerprint = instructions === null ? null : sha256Hex(instructions);
}
