import { type Analyzer, NOTHING_TO_PREPARE, unreadable } from "./analyzer.ts";
import type { DenyIf } from "./argument-policy.ts";

const MAX_LENGTH = 64 * 1024;

/**
 * Command lines, as POSIX shells and Bash read them. Quoted text is data, except that double quotes allow substitution
 * and expansion. Says nothing about the programs named: `sh -c` with a quoted text is one command.
 */
export const shellAnalyzer: Analyzer = {
  prepare: NOTHING_TO_PREPARE,
  inspect(value) {
    if (typeof value !== "string") return unreadable("The argument is not text.");
    if (value.length > MAX_LENGTH) return unreadable("The command is too long to be analysed.");
    if (value.includes("\0")) return unreadable("The command holds a NUL character.");
    const { found, open } = scan(value.trim());
    const holds = (denyIf: DenyIf) => found.has(denyIf);
    return open
      ? unreadable("The command has a quote that is not closed, or that shells close differently.", holds)
      : { unparseable: null, holds };
  },
};

function scan(text: string): { found: ReadonlySet<DenyIf>; open: boolean } {
  const found = new Set<DenyIf>();
  let quote: "'" | '"' | null = null;
  let ambiguous = false;
  const lastLineEnd = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r"));
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    const next = text[i + 1] ?? "";
    if (quote === "'") {
      if (c === "'") quote = null;
    } else if (c === "\\") {
      // Shells disagree about a backslash before CR or at the very end, so it protects nothing.
      if (next === "\r" || next === "") found.add("chaining");
      i++;
    } else if (c === "`") found.add("substitution");
    else if (c === "$") {
      if (next === "(") found.add("substitution");
      // In $'...' Bash lets a backslash escape the quote; other shells do not.
      else if (next === "'" && quote === null && text[text.indexOf("'", i + 2) - 1] === "\\") ambiguous = true;
      if (/[\w{@*#?$!'"[-]/.test(next) && !(next === '"' && quote === '"')) found.add("expansion");
    } else if (c === '"') quote = quote === '"' ? null : '"';
    else if (quote === '"') continue;
    else if (c === "'") quote = "'";
    else if (c === "<" || c === ">") {
      found.add(next === "(" ? "substitution" : "redirection");
      // In `2>&1` and `>|` the ampersand or bar belongs to the redirection.
      if (next === "&" || (c === ">" && next === "|") || next === "(") i++;
    } else if (c === "#" && (i === 0 || /[\s;&|()]/.test(text[i - 1] ?? "")) && lastLineEnd > i) {
      // A comment: quotes in it do not count, so the next line runs. Scanning continues anyway, for shells without comments.
      found.add("chaining");
    } else if (c === ";" || c === "&" || c === "|" || c === "\n" || c === "\r" || c === "(" || c === ")") found.add("chaining");
  }
  return { found, open: ambiguous || quote !== null };
}
