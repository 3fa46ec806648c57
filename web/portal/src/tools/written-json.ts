import { isPlainObject } from "./mcp-request.ts";

/** JSON as the text that was written: read as a value, a number may be longer than this language holds, and be another one. */

const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** What is nested deeper stands below one another. */
const DEEPEST_INDENT = 20;

interface WrittenMember {
  readonly name: string;
  /** A text without its quotes, and everything else as JSON over several lines. */
  readonly value: string;
}

export function isWrittenObject(text: string): boolean {
  try {
    return isPlainObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Also those that are there twice; null for what is no object. */
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
  const line = () => `\n${"  ".repeat(Math.min(depth, DEEPEST_INDENT))}`;
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
