import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";

/** The `anthropic-version` of translated requests, and the default for callers that send none. */
export const MESSAGES_VERSION = "2023-06-01";
/** From this `anthropic-version` on, the vendor refuses sampling parameters. Versions are ISO dates, so they compare as strings. */
const WITHOUT_SAMPLING = "2026-10-21";
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export function refusesSampling(version: string | undefined): boolean {
  return version !== undefined && DATE.test(version) && version >= WITHOUT_SAMPLING;
}

/** The members of a body that the version in the `anthropic-version` header refuses, in the vendor's words. */
export function versionProblems(body: JsonObject, version: string): FieldProblem[] {
  if (!refusesSampling(version)) return [];
  const problems: FieldProblem[] = [];
  for (const field of ["temperature", "top_p", "top_k"]) {
    if (body[field] !== undefined && body[field] !== null) problems.push({ field, message: "Extra inputs are not permitted" });
  }
  if (Array.isArray(body.messages))
    for (const [i, message] of body.messages.entries()) checkMessage(message, `messages[${i}].content`, problems);
  return problems;
}

function checkMessage(message: JsonValue, path: string, problems: FieldProblem[]): void {
  if (!isObject(message) || !Array.isArray(message.content)) return;
  for (const [i, block] of message.content.entries()) {
    if (!isObject(block)) continue;
    const at = `${path}[${i}]`;
    if (message.role === "assistant" && block.type === "document")
      problems.push({ field: at, message: "document blocks are not permitted in assistant messages" });
    if (message.role !== "user") continue;
    checkCitations(block, at, problems);
    if (block.type === "search_result" && Array.isArray(block.content)) {
      for (const [j, inner] of block.content.entries()) checkCitations(inner, `${at}.content[${j}]`, problems);
    }
  }
}

function checkCitations(block: JsonValue, path: string, problems: FieldProblem[]): void {
  if (!isObject(block) || block.type !== "text" || !Array.isArray(block.citations) || block.citations.length === 0) return;
  problems.push({ field: `${path}.citations`, message: "citations are not permitted in user messages" });
}
