import type { JsonObject } from "../../kernel/json-value.ts";
import type { Usage } from "../usage.ts";
import type { VendorFees } from "../vendor-tools.ts";
import { objectIn, objectsIn, textIn, textsIn } from "./members.ts";

/** For these models, Google bills a grounded prompt once; for all newer ones, each search. */
const BILLED_BY_PROMPT = /(?:^|\/)gemini-[12]\./;

/** The billable searches and maps of an answer: maps count once, and each distinct query once. */
export class Grounding {
  private readonly queries = new Set<string>();
  private byPrompt = false;
  private readsMaps = false;

  /** Reads a complete answer, or the next piece of one. */
  read(body: JsonObject): void {
    if (BILLED_BY_PROMPT.test(textIn(body, "modelVersion") ?? "")) this.byPrompt = true;
    for (const candidate of objectsIn(body, "candidates")) {
      const metadata = objectIn(candidate, "groundingMetadata");
      if (metadata === null) continue;
      if (objectsIn(metadata, "groundingChunks").some((chunk) => objectIn(chunk, "maps") !== null)) this.readsMaps = true;
      for (const query of textsIn(metadata, "webSearchQueries")) if (query.trim() !== "") this.queries.add(query);
    }
  }

  /** The usage including the searches. */
  of(usage: Usage | null): Usage | null {
    return usage === null ? null : { ...usage, ...this.fees };
  }

  get fees(): VendorFees {
    const webSearches = this.byPrompt ? Math.min(1, this.queries.size) : this.queries.size;
    return { ...(webSearches > 0 && { webSearches }), ...(this.readsMaps && { toolUses: { google_maps: 1 } }) };
  }
}
