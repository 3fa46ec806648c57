import { afterString, COLON, QUOTE, skipSpace } from "./json-members.ts";
import { afterNumber, startsNumber, wholeDigits } from "./json-numbers.ts";

/** The value of the JSON string between two offsets, which include its quotes. Avoids parsing strings without escapes. */
export function jsonStringAt(json: string, start: number, end: number): string {
  const spelled = json.slice(start + 1, end - 1);
  return spelled.includes("\\") ? (JSON.parse(json.slice(start, end)) as string) : spelled;
}

/** Copies a JSON text, replacing some of its strings and numbers front to back. */
export class Respelled {
  private readonly source: string;
  private out = "";
  private from = 0;

  constructor(source: string) {
    this.source = source;
  }

  /** An unchanged leaf keeps its exact spelling; a changed number becomes a string. */
  say(start: number, end: number, leaf: string, changed: string): void {
    if (changed === leaf) return;
    this.out += this.source.slice(this.from, start) + JSON.stringify(changed);
    this.from = end;
  }

  text(): string {
    return this.from === 0 ? this.source : this.out + this.source.slice(this.from);
  }
}

/**
 * Applies `change` to all strings, names and integers of a JSON text. Unchanged leaves keep their exact spelling; a
 * changed number becomes a string. Null if the text is not JSON.
 */
export function replaceLeaves(json: string, change: (leaf: string, isName: boolean) => string): string | null {
  try {
    JSON.parse(json);
  } catch {
    return null;
  }
  const respelled = new Respelled(json);
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    let end = at + 1;
    if (code === QUOTE) {
      end = afterString(json, at);
      const leaf = jsonStringAt(json, at, end);
      respelled.say(at, end, leaf, change(leaf, json.charCodeAt(skipSpace(json, end)) === COLON));
    } else if (startsNumber(code)) {
      end = afterNumber(json, at);
      const leaf = wholeDigits(json.slice(at, end));
      if (leaf !== null) respelled.say(at, end, leaf, change(leaf, false));
    }
    at = end;
  }
  return respelled.text();
}

/** Keeps different names different after redaction: parsers keep only the last of two equal names in an object. */
export function distinctNames(leaves: readonly string[]): (leaf: string, out: string) => string {
  const taken = new Set(leaves);
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  return (leaf, out) => {
    let name = names.get(leaf) ?? out;
    if (names.has(leaf)) return name;
    let n = counts.get(out) ?? 1;
    while (taken.has(name)) name = `${out} ${++n}`;
    counts.set(out, n);
    taken.add(name);
    names.set(leaf, name);
    return name;
  };
}
