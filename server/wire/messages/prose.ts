import type { JsonObject } from "../../kernel/json-value.ts";
import { isDocumentText } from "../texts/other-texts.ts";

/** Members of a block that hold words for the model, in blocks this gateway has no closer knowledge of as well. */
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

/** Whether a member of a block, or of what a hosted tool answered, holds words. */
export function isProse(holder: JsonObject, name: string): boolean {
  return PROSE.has(name) || isDocumentText(holder, name) || (name === "source" && holder.type === "search_result");
}
