import { hasWords } from "../texts/other-texts.ts";
import { Respelled, jsonStringAt } from "../json/json-leaves.ts";
import { afterString, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../json/json-members.ts";
import { afterNumber, startsNumber, wholeDigits } from "../json/json-numbers.ts";
import { decodedAddress } from "../decoded-address.ts";
import { changedTextFile } from "./changed-text-file.ts";
import { ADDRESS_MEMBERS, ASIDE_MEMBERS, FREE_DATA_OF, FREE_MEMBER, MEMBER_NAME, NAMED_MEMBERS, PLAIN_MEMBERS } from "./message-members.ts";

/**
 * The role of a text in a message: `block`, one of a tool's text blocks; `name`, a member name; `aside`, metadata of
 * programs and locations; `text`, anything else.
 */
export type MessagePlace = "block" | "name" | "aside" | "text";

/** Parts of a result that are inspected separately. */
export type Except = ReadonlySet<string>;
const NOTHING: Except = new Set();

type Kind = "text" | "plain" | "address" | "free" | "skipped";

interface Level {
  readonly object: boolean;
  /** The kind of the values in it, unless a member name determines another. */
  readonly kind: Kind;
  /** Whether its keys are free-form. */
  readonly named: boolean;
  readonly aside: boolean;
  /** The name of the next value; null if a name comes next, and in arrays. */
  name: string | null;
}

class Path {
  private readonly levels: Level[] = [];
  private readonly except: Except;
  level: Level | undefined;

  constructor(except: Except) {
    this.except = except;
  }

  /** The kind of the next value; `object`: whether that is an object or array. */
  kind(object = false): Kind {
    const { level } = this;
    if (level === undefined) return "text";
    const { name, named, kind } = level;
    if (name === null || kind === "free" || kind === "skipped") return kind;
    // Answers are matched by ID, which is a string or number.
    if (this.levels.length === 1 && name === "id") return object ? "text" : "skipped";
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
    const kind = this.kind(true);
    this.level = {
      object,
      // An object in place of a keyword or address is unknown to the protocol.
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

  /** Whether the next value is `result.content[n].text`. */
  isBlock(): boolean {
    return this.levels.length === BLOCK.length && BLOCK.every((name, at) => this.levels[at]?.name === name);
  }
}
const BLOCK = ["result", "content", null, "text"];

/**
 * Applies `change` to the texts of a tool server's message; unchanged texts keep their exact spelling. Both occurrences of
 * a duplicate member are visited. `message` must be valid JSON.
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
      const file = changedTextFile(text, (read) => change(read, "text"));
      if (file !== null) return respelled.say(start, end, "", file);
    }
    if (kind === "plain" && !hasWords(text)) return;
    const isAddress = kind === "address" || (kind === "free" && ADDRESS_MEMBERS.has(path.level?.name ?? ""));
    const read = isAddress ? decodedAddress(text) : text;
    const changedText = change(read, path.isBlock() ? "block" : path.aside || kind === "address" ? "aside" : "text");
    if (changedText !== read) respelled.say(start, end, text, changedText);
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
