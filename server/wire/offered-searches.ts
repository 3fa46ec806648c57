import { isObject, type JsonObject } from "../kernel/json-value.ts";

/**
 * How many searches of the vendor's own, which have a fee, a request lets the model run: 0 where it offers none, null
 * where it offers them and nothing bounds them. Reads the request of any format.
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
