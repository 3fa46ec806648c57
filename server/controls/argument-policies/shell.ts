import { type Analyzer, NOTHING_TO_PREPARE, unreadable } from "./analyzer.ts";
import type { DenyIf } from "./argument-policy.ts";

const LONGEST = 64 * 1024;

/**
 * Command lines, read as POSIX shells and bash read them. What stands in quotes is data, except that double quotes keep
 * substitution and expansion alive. Says nothing of what the named programs do: `sh -c` of a quoted text is one command.
 */
export const shellAnalyzer: Analyzer = {
  prepare: NOTHING_TO_PREPARE,
  inspect(value) {
    if (typeof value !== "string") return unreadable("The argument is not text.");
    if (value.length > LONGEST) return unreadable("The command is too long to be analysed.");
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
      // A backslash before CR or at the very end protects nothing that a shell agrees on.
      if (next === "\r" || next === "") found.add("chaining");
      i++;
    } else if (c === "`") found.add("substitution");
    else if (c === "$") {
      if (next === "(") found.add("substitution");
      // Bash lets a backslash keep the quote of $'...' open, other shells do not.
      else if (next === "'" && quote === null && text[text.indexOf("'", i + 2) - 1] === "\\") ambiguous = true;
      if (/[\w{@*#?$!'"[-]/.test(next) && !(next === '"' && quote === '"')) found.add("expansion");
    } else if (c === '"') quote = quote === '"' ? null : '"';
    else if (quote === '"') continue;
    else if (c === "'") quote = "'";
    else if (c === "<" || c === ">") {
      found.add(next === "(" ? "substitution" : "redirection");
      // The ampersand or bar of `2>&1`, `>|` belongs to the redirection.
      if (next === "&" || (c === ">" && next === "|") || next === "(") i++;
    } else if (c === "#" && (i === 0 || /[\s;&|()]/.test(text[i - 1] ?? "")) && lastLineEnd > i) {
      // A comment: its quotes are none, so what follows on the next line runs. Read on all the same, for shells without comments.
      found.add("chaining");
    } else if (c === ";" || c === "&" || c === "|" || c === "\n" || c === "\r" || c === "(" || c === ")") found.add("chaining");
  }
  return { found, open: ambiguous || quote !== null };
}
