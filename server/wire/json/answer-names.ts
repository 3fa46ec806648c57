import { knownName } from "./governed-names.ts";
import { afterString, COLON, skipSpace } from "./json-members.ts";
import { folded } from "../../kernel/text/folded-name.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

/** Names by which the formats of answers put texts and calls together, beside those that are governed in requests. */
const OF_ANSWERS = `
  choices delta index message candidates item part output_index content_index summary_index command_index content_block partial_json
  finish_reason finishReason thinking sequence_number
`;
const ofAnswers: ReadonlySet<string> = new Set(OF_ANSWERS.trim().split(/\s+/));
const byFolding: ReadonlyMap<string, string> = new Map([...ofAnswers].map((name) => [folded(name), name]));
/** Members of a body that are called as what tools are told is called elsewhere. */
const NO_DATA_IN_BODY: ReadonlySet<string> = new Set(["response", "data"]);
/** As deep as anybody looks. */
const MAX_LEVELS = 1024;

/**
 * Brings an answer, or a frame of one, to what every reader takes it for: of two members of one name this process keeps the last,
 * where another reader may take the first, and a reader that does not care about case takes `Content` for `content`, which is
 * taken out of the body here. `text` is what the body was read from; true where it says something else than the body by now.
 */
export function clearNames(body: JsonObject, text: string): boolean {
  const walk = new NameWalk();
  walk.object(body, false, 0);
  // Each name that stands twice is one more in the text than there are members, and nothing is found at less cost.
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

/** What a model calls a tool with may have any names. */
function holdsData(name: string, member: object, known: boolean, level: number): boolean {
  if (level === 0 && NO_DATA_IN_BODY.has(name)) return false;
  return known || (name === "input" && !Array.isArray(member));
}

/** How many names of members a JSON text has. */
function namesIn(text: string): number {
  let names = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = afterString(text, at);
    if (text.charCodeAt(skipSpace(text, at)) === COLON) names++;
  }
  return names;
}
