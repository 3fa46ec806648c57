import { hasWords } from "../texts/other-texts.ts";
import { base64Readers, isReadAsText } from "../texts/text-file.ts";
import { Respelled, jsonStringAt } from "../json/json-leaves.ts";
import { afterString, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../json/json-members.ts";
import { afterNumber, startsNumber, wholeDigits } from "../json/json-numbers.ts";
import { decodedAddress } from "../decoded-address.ts";
import { ADDRESS_MEMBERS, ASIDE_MEMBERS, FREE_DATA_OF, FREE_MEMBER, MEMBER_NAME, NAMED_MEMBERS, PLAIN_MEMBERS } from "./message-members.ts";

/**
 * What stands in a message: `block`, a text that a tool answered as one block among others; `name`, what a member is called; `aside`,
 * what a program says of itself and of where something is; any other text.
 */
export type MessagePlace = "block" | "name" | "aside" | "text";

/** Parts of a result that are looked at by themselves. */
export type Except = ReadonlySet<string>;
const NOTHING: Except = new Set();

type Kind = "text" | "plain" | "address" | "free" | "skipped";

interface Level {
  readonly object: boolean;
  /** Of what stands in it, unless the name of a member says something else. */
  readonly kind: Kind;
  /** Its names are nobody's protocol. */
  readonly named: boolean;
  readonly aside: boolean;
  /** The name whose value comes next; null where a name comes next, and in lists. */
  name: string | null;
}

class Path {
  private readonly levels: Level[] = [];
  private readonly except: Except;
  level: Level | undefined;

  constructor(except: Except) {
    this.except = except;
  }

  /** Of the value that comes next. */
  kind(): Kind {
    const { level } = this;
    if (level === undefined) return "text";
    const { name, named, kind } = level;
    if (name === null || kind === "free" || kind === "skipped") return kind;
    // Answers are matched by it.
    if (this.levels.length === 1 && name === "id") return "skipped";
    if (this.levels.length === 2) {
      const parent = this.levels[0]?.name ?? "";
      if (parent === "result" && this.except.has(name)) return "skipped";
      if (name === "data" && FREE_DATA_OF.has(parent)) return "free";
    }
    if (named) return "text";
    if (name === FREE_MEMBER) return "free";
    return PLAIN_MEMBERS.has(name) ? "plain" : ADDRESS_MEMBERS.has(name) ? "address" : "text";
  }

  get aside(): boolean {
    return this.level?.aside === true;
  }

  open(object: boolean): void {
    const { level } = this;
    const name = level?.name ?? null;
    const kind = this.kind();
    this.level = {
      object,
      // Where the protocol has a word or an address, an object is nothing that it knows.
      kind: object && (kind === "plain" || kind === "address") ? "text" : kind,
      named: level?.named === false && name !== null && NAMED_MEMBERS.has(name),
      aside: this.aside || (level?.named !== true && name !== null && ASIDE_MEMBERS.has(name)),
      name: null,
    };
    this.levels.push(this.level);
  }

  close(): void {
    this.levels.pop();
    this.level = this.levels.at(-1);
  }

  /** Whether the value that comes next is `result.content[n].text`. */
  isBlock(): boolean {
    return this.levels.length === BLOCK.length && BLOCK.every((name, at) => this.levels[at]?.name === name);
  }
}
const BLOCK = ["result", "content", null, "text"];

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

/**
 * Writes a message of a tool server anew with its texts as `change` gives them; what `change` leaves as it is keeps its
 * exact spelling. A member that stands twice is looked at twice. The text must already have parsed as JSON.
 */
export function replaceMessageTexts(
  message: string,
  change: (text: string, place: MessagePlace) => string,
  except: Except = NOTHING,
): string {
  const respelled = new Respelled(message);
  const path = new Path(except);
  const value = (start: number, end: number) => {
    const kind = path.kind();
    if (kind === "skipped") return;
    const text = jsonStringAt(message, start, end);
    if (path.level?.name === "blob" && kind === "plain") {
      const file = changedFile(text, (read) => change(read, "text"));
      if (file !== null) return respelled.say(start, end, "", file);
    }
    if (kind === "plain" && !hasWords(text)) return;
    const read = kind === "address" ? decodedAddress(text) : text;
    const said = change(read, path.isBlock() ? "block" : path.aside || kind === "address" ? "aside" : "text");
    if (said !== read) respelled.say(start, end, text, said);
  };
  for (let at = 0; at < message.length;) {
    const code = message.charCodeAt(at);
    let end = at + 1;
    const { level } = path;
    if (code === QUOTE) {
      end = afterString(message, at);
      if (level?.object === true && level.name === null) {
        level.name = jsonStringAt(message, at, end);
        if (level.kind === "free" || (level.kind !== "skipped" && !MEMBER_NAME.test(level.name)))
          respelled.say(at, end, level.name, change(level.name, "name"));
      } else value(at, end);
    } else if (startsNumber(code)) {
      end = afterNumber(message, at);
      const number = path.kind() === "free" ? wholeDigits(message.slice(at, end)) : null;
      if (number !== null) respelled.say(at, end, number, change(number, "text"));
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) path.open(code === OPEN_BRACE);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) path.close();
    else if (code === COMMA && level !== undefined) level.name = null;
    at = end;
  }
  return respelled.text();
}
