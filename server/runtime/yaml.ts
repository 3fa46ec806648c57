/** Parses YAML, including JSON. Throws an error with the reason and, if known, the line. */
export function readYaml(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch (error) {
    const line = /^\s*[[{]/.test(text) ? faultInJson(text) : faultInBlocks(text);
    throw new Error(`${error instanceof Error ? error.message : String(error)}${line === null ? "" : `, in line ${line}`}`, {
      cause: error,
    });
  }
}

const TOKEN = /\s*(?:("(?:[^"\\\n]|\\.)*"|[^\s"{}[\],:]+)|([{[])|([}\]])|(,)|(:))/y;
/** For each kind of token, the kinds that may follow: value, opening, closing, comma, colon. */
const FOLLOWED_BY: readonly RegExp[] = [/[2345]/, /[012]/, /[23]/, /[01]/, /[01]/];

/** The line of the first misplaced token; null if it cannot be determined. */
function faultInJson(text: string): number | null {
  const open: string[] = [];
  let before = 3;
  let at = 0;
  for (const end = text.trimEnd().length; at < end; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null) return lineOf(text, at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0));
    const [whole, , opening, closing] = found;
    const kind = found.slice(1).findIndex((one) => one !== undefined);
    const fits = at === 0 ? kind === 1 : FOLLOWED_BY[before]?.test(String(kind)) === true;
    if (opening !== undefined) open.push(opening);
    if (!fits || (closing !== undefined && open.pop() !== (closing === "}" ? "{" : "["))) return lineOf(text, at + whole.search(/\S/));
    before = kind;
  }
  return open.length > 0 ? lineOf(text, at) : null;
}

const lineOf = (text: string, at: number): number => text.slice(0, at).split("\n").length;

/** Each line costs a parse of everything before it. */
const MAX_LINES = 2_000;

/** The line after the longest parsable prefix. */
function faultInBlocks(text: string): number | null {
  const lines = text.split("\n");
  if (lines.length > MAX_LINES) return null;
  for (let count = lines.length - 1; count > 0; count--)
    try {
      Bun.YAML.parse(lines.slice(0, count).join("\n"));
      return count + 1;
    } catch {}
  return 1;
}

/** YAML for reading and line-by-line comparison: without anchors, which shared objects would otherwise become. */
export function yamlOf(value: unknown): string {
  return `${Bun.YAML.stringify(JSON.parse(JSON.stringify(value)), null, 2)}\n`;
}
