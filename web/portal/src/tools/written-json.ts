import { isPlainObject } from "./mcp-request.ts";

/** Handles JSON as the text that was written: parsing can change numbers that exceed JavaScript's precision. */

const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Deeper levels are not indented further. */
const MAX_INDENT = 20;

interface WrittenMember {
  readonly name: string;
  /** A string without its quotes, or any other value as indented JSON. */
  readonly value: string;
}

export function isWrittenObject(text: string): boolean {
  try {
    return isPlainObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** The members as written, including duplicates; null if the text is not an object. */
export function writtenMembers(text: string): readonly WrittenMember[] | null {
  if (!isWrittenObject(text)) return null;
  const members: WrittenMember[] = [];
  let member: string[] = [];
  let depth = 0;
  for (const token of text.match(TOKEN) ?? []) {
    if (token === "}" || token === "]") depth--;
    if (depth > 1 || (depth === 1 && token !== ",")) member.push(token);
    else if (member.length > 0) {
      members.push(memberOf(member));
      member = [];
    }
    if (token === "{" || token === "[") depth++;
  }
  return members;
}

function memberOf([name = '""', _colon, ...value]: readonly string[]): WrittenMember {
  const [only = "", more] = value;
  const isText = more === undefined && only.startsWith('"');
  return { name: JSON.parse(name) as string, value: isText ? (JSON.parse(only) as string) : indented(value) };
}

function indented(tokens: readonly string[]): string {
  let depth = 0;
  let before = "";
  const line = () => `\n${"  ".repeat(Math.min(depth, MAX_INDENT))}`;
  const written = tokens.map((token) => {
    const isFirst = before === "{" || before === "[";
    before = token;
    if (token === ",") return `,${line()}`;
    if (token === ":") return ": ";
    if (token === "}" || token === "]") {
      depth--;
      return `${isFirst ? "" : line()}${token}`;
    }
    const begun = isFirst ? line() : "";
    if (token === "{" || token === "[") depth++;
    return `${begun}${token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token}`;
  });
  return written.join("");
}
