import type { JsonObject } from "../../kernel/json-value.ts";
import type { Usage } from "../usage.ts";
import { objectIn, objectsIn, textIn, textsIn } from "./members.ts";

/** Google bills these for a prompt that was grounded, however many searches it took; all newer ones for each search. */
const BILLED_BY_PROMPT = /(?:^|\/)gemini-[12]\./;

/** The searches and maps an answer was grounded on, as they are billed: the maps once, each query once, however often it was repeated. */
export class Grounding {
  private readonly queries = new Set<string>();
  private byPrompt = false;
  private readsMaps = false;

  /** A whole answer, or the next piece of one. */
  read(body: JsonObject): void {
    if (BILLED_BY_PROMPT.test(textIn(body, "modelVersion") ?? "")) this.byPrompt = true;
    for (const candidate of objectsIn(body, "candidates")) {
      const metadata = objectIn(candidate, "groundingMetadata");
      if (metadata === null) continue;
      if (objectsIn(metadata, "groundingChunks").some((chunk) => objectIn(chunk, "maps") !== null)) this.readsMaps = true;
      for (const query of textsIn(metadata, "webSearchQueries")) if (query.trim() !== "") this.queries.add(query);
    }
  }

  /** The usage with the searches in it. */
  of(usage: Usage | null): Usage | null {
    if (usage === null) return null;
    const webSearches = this.byPrompt ? Math.min(1, this.queries.size) : this.queries.size;
    return { ...usage, ...(webSearches > 0 && { webSearches }), ...(this.readsMaps && { toolUses: { google_maps: 1 } }) };
  }
}

/** Of a whole answer. */
export function withSearches(body: JsonObject, usage: Usage | null): Usage | null {
  const grounding = new Grounding();
  grounding.read(body);
  return grounding.of(usage);
}
