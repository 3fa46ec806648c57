import type { JsonObject } from "../../kernel/json-value.ts";
import { isDocumentText } from "../texts/other-texts.ts";

/** Members with text for the model, in known and unknown block types. */
export const PROSE: ReadonlySet<string> = new Set([
  "text",
  "content",
  "title",
  "context",
  "stdout",
  "stderr",
  "lines",
  "query",
  "cited_text",
  "document_title",
  "error_message",
]);

/** Whether a member of a block, or of a hosted tool's result, contains text. */
export function isProse(holder: JsonObject, name: string): boolean {
  return PROSE.has(name) || isDocumentText(holder, name) || (name === "source" && holder.type === "search_result");
}
