import type { JsonObject } from "../../kernel/json-value.ts";
import type { Usage } from "../usage.ts";
import type { VendorFees } from "../vendor-tools.ts";
import { objectIn, objectsIn, textIn, textsIn } from "./members.ts";

/** For these models, Google bills a grounded prompt once; for all newer ones, each search. */
const BILLED_BY_PROMPT = /(?:^|\/)gemini-[12]\./;

/**
 * The billable searches and maps of an answer: each distinct query once. An answer that was grounded on maps alone lists its queries of maps
 * where others list their web searches.
 */
export class Grounding {
  private readonly queries = new Set<string>();
  private byPrompt = false;
  private readsMaps = false;
  private readsWeb = false;

  /** Reads a complete answer, or the next piece of one. */
  read(body: JsonObject): void {
    if (BILLED_BY_PROMPT.test(textIn(body, "modelVersion") ?? "")) this.byPrompt = true;
    for (const candidate of objectsIn(body, "candidates")) {
      const metadata = objectIn(candidate, "groundingMetadata");
      if (metadata === null) continue;
      const chunks = objectsIn(metadata, "groundingChunks");
      if (chunks.some((chunk) => objectIn(chunk, "maps") !== null)) this.readsMaps = true;
      if (chunks.some((chunk) => objectIn(chunk, "web") !== null) || objectIn(metadata, "searchEntryPoint") !== null) this.readsWeb = true;
      for (const query of textsIn(metadata, "webSearchQueries")) if (query.trim() !== "") this.queries.add(query);
    }
  }

  /** The usage including the searches. */
  of(usage: Usage | null): Usage | null {
    return usage === null ? null : { ...usage, ...this.fees };
  }

  get fees(): VendorFees {
    const billed = this.byPrompt ? Math.min(1, this.queries.size) : this.queries.size;
    if (!this.readsMaps) return billed > 0 ? { webSearches: billed } : {};
    const webSearches = this.readsWeb ? billed : 0;
    const toolUses = this.byPrompt ? { google_maps: 1 } : { google_maps_query: this.readsWeb ? 1 : Math.max(1, billed) };
    return { ...(webSearches > 0 && { webSearches }), toolUses };
  }
}
