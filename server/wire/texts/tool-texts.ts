import { REQUEST_LEVELS } from "../json/nesting.ts";

/** As deep as a request may go. */
const MAX_DEPTH = REQUEST_LEVELS;

/**
 * Visits the descriptions in tool definitions, those of the tools and those inside their schemas: words that the model
 * reads like any other of the request. `holder.description` is the text.
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
