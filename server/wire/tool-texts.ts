/** Deeper than any vendor takes a schema. */
const MAX_DEPTH = 32;

/**
 * Visits the descriptions in tool definitions, those of the tools and those inside their schemas: words that the model
 * reads like any other of the request. `holder.description` is the text.
 */
export function visitToolTexts(tools: unknown, visit: (holder: Record<string, unknown>) => void, depth = 0): void {
  if (typeof tools !== "object" || tools === null || depth > MAX_DEPTH) return;
  if (!Array.isArray(tools) && typeof (tools as Record<string, unknown>).description === "string" && (tools as Record<string, unknown>).description !== "") visit(tools as Record<string, unknown>);
  for (const value of Object.values(tools)) visitToolTexts(value, visit, depth + 1);
}
