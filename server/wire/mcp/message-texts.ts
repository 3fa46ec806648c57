import { hasWords } from "../texts/other-texts.ts";
import { base64Readers, isReadAsText } from "../texts/text-file.ts";
import { Respelled, jsonStringAt } from "../json/json-leaves.ts";
import { afterString, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../json/json-members.ts";
import { afterNumber, startsNumber, wholeDigits } from "../json/json-numbers.ts";

/** Members whose values are the protocol's own or no text: names of kinds, addresses, bytes, times, what only programs read. */
const WORDLESS = new Set([
  "jsonrpc",
  "id",
  "type",
  "role",
  "method",
  "mode",
  "mimeType",
  "format",
  "uri",
  "url",
  "data",
  "blob",
  "icons",
  "annotations",
  "_meta",
  "resultType",
  "requestState",
  "taskId",
  "status",
  "createdAt",
  "lastUpdatedAt",
  "cacheScope",
]);
/** Of these, those of which a text with words in it is none: it is looked at like any other. */
const KINDS = new Set(["type", "role", "mode", "mimeType", "format", "uri", "url", "data", "blob", "resultType", "status", "cacheScope"]);
/** Members whose own members are named by whoever writes the message, be it by one of those names. */
const NAMED = new Set(["properties", "$defs", "inputRequests", "inputResponses"]);
/** What a tool gives as data of its own: there a name or a whole number may say as much as a text. */
const FREE = "structuredContent";

interface Level {
  readonly object: boolean;
  readonly wordless: boolean;
  readonly free: boolean;
  /** Its names are nobody's protocol. */
  readonly named: boolean;
  /** The name whose value comes next; null where a name comes next, and in lists. */
  name: string | null;
}

/** Whether the value that comes next at a level is no text. */
function isWordless({ name, wordless, free, named }: Level): boolean {
  return wordless || (!free && !named && name !== null && WORDLESS.has(name));
}

/** What stands within the value that comes next at a level. */
function within(level: Level | undefined, object: boolean): Level {
  if (level === undefined) return { object, wordless: false, free: false, named: false, name: null };
  const { name, free, named } = level;
  return {
    object,
    wordless: isWordless(level),
    free: free || name === FREE,
    named: !named && name !== null && NAMED.has(name),
    name: null,
  };
}

/** Whether the value that comes next is `result.content[n].text`. */
function isBlock(levels: readonly Level[]): boolean {
  return levels.length === BLOCK.length && BLOCK.every((name, at) => levels[at]?.name === name);
}
const BLOCK = ["result", "content", null, "text"];

/** What the string says that comes next at a level; null where it is no text. */
function textAt(message: string, start: number, end: number, level: Level | undefined): string | null {
  const wordless = level !== undefined && isWordless(level);
  if (wordless && (level.wordless || level.name === null || !KINDS.has(level.name))) return null;
  const text = jsonStringAt(message, start, end);
  return wordless && !hasWords(text) ? null : text;
}

/** A file of text that comes as bytes with its text, as each decoder has it, as `change` gives it; null where it stays as it is. */
function changedFile(encoded: string, change: (text: string) => string): string | null {
  let changed: string | null = null;
  if (!isReadAsText("", null, encoded)) return null;
  for (const read of base64Readers(encoded)) {
    const text = read(encoded).toString("utf8");
    const said = change(text);
    if (said !== text) changed = Buffer.from(said).toString("base64");
  }
  return changed;
}

/** Whether the value that comes next is a file in bytes. */
const isFile = (level: Level | undefined): boolean => level?.name === "blob" && !level.wordless && !level.free && !level.named;

/**
 * Writes a message of a tool server anew with its texts as `change` gives them; what `change` leaves as it is keeps its
 * exact spelling. A member that stands twice is looked at twice. The text must already have parsed as JSON. `isBlock`: of a text
 * that a tool answered as one block among others.
 */
export function replaceMessageTexts(message: string, change: (text: string, isBlock: boolean, isName: boolean) => string): string {
  const respelled = new Respelled(message);
  const levels: Level[] = [];
  let level: Level | undefined;
  for (let at = 0; at < message.length;) {
    const code = message.charCodeAt(at);
    let end = at + 1;
    if (code === QUOTE) {
      end = afterString(message, at);
      if (level?.object === true && level.name === null) {
        level.name = jsonStringAt(message, at, end);
        if (level.free && !level.wordless) respelled.say(at, end, level.name, change(level.name, false, true));
      } else {
        const file = isFile(level) ? changedFile(jsonStringAt(message, at, end), (text) => change(text, false, false)) : null;
        const text = textAt(message, at, end, level);
        const said = text === null ? null : change(text, isBlock(levels), false);
        if (file !== null) respelled.say(at, end, "", file);
        else if (text !== null && said !== null) respelled.say(at, end, text, said);
      }
    } else if (startsNumber(code)) {
      end = afterNumber(message, at);
      const number = wholeDigits(message.slice(at, end));
      const { free, wordless } = within(level, false);
      if (free && !wordless && number !== null) respelled.say(at, end, number, change(number, false, false));
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      level = within(level, code === OPEN_BRACE);
      levels.push(level);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      levels.pop();
      level = levels.at(-1);
    } else if (code === COMMA && level !== undefined) level.name = null;
    at = end;
  }
  return respelled.text();
}
