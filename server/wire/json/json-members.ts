/**
 * Edits the top level of a JSON object in its source text, so that everything else stays byte for byte: number spelling,
 * member order and white space.
 */

export interface Member {
  readonly name: string;
  /** Offset of the name's opening quote. */
  readonly start: number;
  readonly valueStart: number;
  /** Offset after the value's last character. */
  readonly valueEnd: number;
}

export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const OPEN_BRACKET = 91;
const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;

/** The offset after the closing quote of the string that starts at `at`. */
export function afterString(text: string, at: number): number {
  let end = at;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) throw new SyntaxError("unterminated string");
    let slashes = end - 1;
    while (text.charCodeAt(slashes) === BACKSLASH) slashes--;
    if ((end - 1 - slashes) % 2 === 0) return end + 1;
  }
}

export function skipSpace(text: string, at: number): number {
  let i = at;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) break;
  }
  return i;
}

function afterValue(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length;) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = afterString(text, i);
      if (depth === 0) return i;
      continue;
    }
    if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (depth === 0 && (c === COMMA || c === 32 || c === 10 || c === 13 || c === 9)) return i;
    i++;
  }
  return text.length;
}

/** The members of the object in `text`, in order. `text` must already have parsed as a JSON object. */
export function jsonMembersOf(text: string): Member[] {
  const members: Member[] = [];
  let i = skipSpace(text, 0) + 1;
  for (;;) {
    i = skipSpace(text, i);
    if (text.charCodeAt(i) !== QUOTE) return members;
    const start = i;
    const nameEnd = afterString(text, i);
    const raw = text.slice(start + 1, nameEnd - 1);
    const name = raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
    i = skipSpace(text, nameEnd);
    if (text.charCodeAt(i) !== COLON) throw new SyntaxError("not a JSON object");
    const valueStart = skipSpace(text, i + 1);
    const valueEnd = afterValue(text, valueStart);
    members.push({ name, start, valueStart, valueEnd });
    i = skipSpace(text, valueEnd);
    if (text.charCodeAt(i) === COMMA) i++;
  }
}

/** The source texts of the items of the array in `text`, in order. `text` must already have parsed as a JSON array. */
export function jsonItemsOf(text: string): string[] {
  const items: string[] = [];
  for (let i = skipSpace(text, skipSpace(text, 0) + 1); i < text.length && text.charCodeAt(i) !== CLOSE_BRACKET;) {
    const end = afterValue(text, i);
    items.push(text.slice(i, end));
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
  }
  return items;
}

/** The first duplicate name; null if there is none. Parsers disagree on which value counts, so governance must not guess. */
export function duplicateMember(members: readonly Member[]): string | null {
  const seen = new Set<string>();
  for (const { name } of members) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return null;
}

/** The JSON text to replace a member with, or null to remove it. A name that does not exist is added at the front. */
export type Edits = ReadonlyMap<string, string | null>;

export function editMembers(text: string, members: readonly Member[], edits: Edits): string {
  const added: string[] = [];
  for (const [name, value] of edits) {
    if (value !== null && !members.some((member) => member.name === name)) added.push(`${JSON.stringify(name)}:${value}`);
  }
  const open = text.indexOf("{");
  let out = text.slice(0, open + 1);
  if (added.length > 0) out += added.join(",") + (members.some(({ name }) => edits.get(name) !== null) ? "," : "");
  let from = open + 1;
  let first = true;
  for (const member of members) {
    const value = edits.get(member.name);
    if (value === null) {
      // A removed member goes with one separator: the one before it if a member is kept before it, else the one after.
      from = first ? afterSeparator(text, member.valueEnd) : member.valueEnd;
      continue;
    }
    out += text.slice(from, member.valueStart) + (value ?? text.slice(member.valueStart, member.valueEnd));
    from = member.valueEnd;
    first = false;
  }
  return out + text.slice(from);
}

function afterSeparator(text: string, at: number): number {
  const i = skipSpace(text, at);
  return text.charCodeAt(i) === COMMA ? skipSpace(text, i + 1) : at;
}
