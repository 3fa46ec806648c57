import { isObject, type JsonObject } from "../kernel/json-value.ts";

/**
 * The maximum number of billed vendor web searches that a request lets the model run: 0 if it offers none, null if they
 * are unbounded. Works for requests of any format.
 */
export function offeredSearches(body: JsonObject): number | null {
  let most = isObject(body.web_search_options) ? 1 : 0;
  const { tools } = body;
  for (const tool of Array.isArray(tools) ? tools : [tools]) {
    if (!isObject(tool)) continue;
    if (GOOGLE.some((name) => isObject(tool[name]))) return null;
    if (typeof tool.type !== "string" || !tool.type.startsWith("web_search")) continue;
    const bound = wholeIn(tool.max_uses) ?? wholeIn(body.max_tool_calls);
    if (bound === null) return null;
    most += bound;
  }
  return most;
}

const GOOGLE = [
  "googleSearch",
  "google_search",
  "googleSearchRetrieval",
  "google_search_retrieval",
  "enterpriseWebSearch",
  "enterprise_web_search",
] as const;

function wholeIn(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}
