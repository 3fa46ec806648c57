import { knownName } from "./governed-names.ts";
import { afterString, COLON, skipSpace } from "./json-members.ts";
import { folded } from "../../kernel/text/folded-name.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

/** Names that matter in answers, in addition to the governed names of requests. */
const OF_ANSWERS = `
  choices delta index message candidates item part output_index content_index summary_index command_index content_block partial_json
  finish_reason finishReason thinking sequence_number
`;
const ofAnswers: ReadonlySet<string> = new Set(OF_ANSWERS.trim().split(/\s+/));
const byFolding: ReadonlyMap<string, string> = new Map([...ofAnswers].map((name) => [folded(name), name]));
/** Top-level members that share a name with free-form data elsewhere. */
const NO_DATA_IN_BODY: ReadonlySet<string> = new Set(["response", "data"]);
/** Deeper levels are not inspected. */
const MAX_LEVELS = 1024;

/**
 * Makes an answer, or a frame of one, unambiguous for all readers. Of duplicate members this process keeps the last where
 * another reader may take the first, and a case-insensitive reader takes `Content` for `content`; such members are removed
 * from `body`. `text` is the source of `body`; true if it no longer matches the body.
 */
export function clearNames(body: JsonObject, text: string): boolean {
  const walk = new NameWalk();
  walk.object(body, false, 0);
  // Each duplicate is one more name in the text than members in the object; counting is the cheapest way to notice.
  return walk.pretended || walk.members !== namesIn(text);
}

class NameWalk {
  members = 0;
  pretended = false;

  object(object: JsonObject, isData: boolean, level: number): void {
    for (const name in object) {
      this.members++;
      const member = object[name];
      const known = knownName(name);
      if (!isData && (known.pretends !== null || pretends(name, known.folding))) {
        this.pretended = true;
        delete object[name];
      } else if (typeof member === "object" && member !== null)
        this.below(member, isData || holdsData(name, member, known.holdsData, level), level + 1);
    }
  }

  private below(value: object, isData: boolean, level: number): void {
    if (level > MAX_LEVELS) return;
    if (!Array.isArray(value)) this.object(value as JsonObject, isData, level);
    else for (const item of value) if (typeof item === "object" && item !== null) this.below(item, isData, level + 1);
  }
}

const pretends = (name: string, folding: string) => byFolding.has(folding) && !ofAnswers.has(name);

/** Tool inputs may have any names. */
function holdsData(name: string, member: object, known: boolean, level: number): boolean {
  if (level === 0 && NO_DATA_IN_BODY.has(name)) return false;
  return known || (name === "input" && !Array.isArray(member));
}

/** The number of member names in a JSON text. */
function namesIn(text: string): number {
  let names = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = afterString(text, at);
    if (text.charCodeAt(skipSpace(text, at)) === COLON) names++;
  }
  return names;
}
