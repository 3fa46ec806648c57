import { REQUEST_LEVELS } from "../json/nesting.ts";

/** The maximum nesting of a request. */
const MAX_DEPTH = REQUEST_LEVELS;

/**
 * Visits the descriptions of tools and within their schemas, which the model reads like any other text of the request. The
 * text is `holder.description`.
 */
export function visitToolTexts(tools: unknown, visit: (holder: Record<string, unknown>) => void, depth = 0): void {
  if (typeof tools !== "object" || tools === null || depth > MAX_DEPTH) return;
  if (Array.isArray(tools)) {
    for (const value of tools) if (typeof value === "object") visitToolTexts(value, visit, depth + 1);
    return;
  }
  const places = tools as Record<string, unknown>;
  if (typeof places.description === "string" && places.description !== "") visit(places);
  for (const name in places) {
    const value = places[name];
    if (typeof value === "object") visitToolTexts(value, visit, depth + 1);
  }
}
