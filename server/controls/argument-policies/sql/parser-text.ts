import type { SqlDialect } from "../argument-policy.ts";
import type { Token } from "./tokens.ts";

type Rewrite = (tokens: readonly Token[], at: number) => { readonly skip: number; readonly put: string } | null;

/**
 * Syntax of a dialect that the parser does not know, removed or replaced by syntax it knows. A rewrite may only touch
 * what cannot write, and must not remove a word before `lexicalSigns` has seen it.
 */
const REWRITES: Readonly<Partial<Record<SqlDialect, Rewrite>>> = {
  sqlite(tokens, at) {
    const [text, next] = wordsAt(tokens, at);
    if ((text === "GLOB" || text === "MATCH") && next !== "(") return { skip: 1, put: " LIKE " };
    if (text === "INDEXED" && next === "BY") return { skip: 3, put: "" };
    if (text === "EXCLUDE" && ["CURRENT", "NO", "TIES", "GROUP"].includes(next))
      return { skip: next === "CURRENT" || next === "NO" ? 3 : 2, put: "" };
    if (text === "NOT" && next === "MATERIALIZED" && tokens[at - 1]?.text === "AS") return { skip: 2, put: "" };
    if (text === "MATERIALIZED" && tokens[at - 1]?.text === "AS") return { skip: 1, put: "" };
    if (text === "NOT" && next === "INDEXED") return { skip: 2, put: "" };
    if (tokens[at]?.kind === "symbol" && ["<<", ">>"].includes(tokens[at]?.text ?? "")) return { skip: 1, put: " + " };
    return complement(tokens, at);
  },
  mysql(tokens, at) {
    const [text, next, third, fourth] = wordsAt(tokens, at);
    if (text === "WITH" && next === "ROLLUP") return { skip: 2, put: "" };
    if (text === "LOCK" && next === "IN" && third === "SHARE" && fourth === "MODE") return { skip: 4, put: "" };
    if (COMPOUND_UNIT.test(text)) return { skip: 1, put: " SECOND" };
    if (text === "MOD" && next !== "(" && at > 0) return { skip: 1, put: " % " };
    if (text === "SOUNDS" && next === "LIKE") return { skip: 1, put: "" };
    if (text === "BINARY" && ["word", "name", "string"].includes(tokens[at + 1]?.kind ?? "") && tokens[at - 1]?.text !== "AS")
      return { skip: 1, put: "" };
    if (tokens[at]?.text === "~") return complement(tokens, at);
    return text === "TABLE" && (at === 0 || tokens[at - 1]?.text === "(") ? { skip: 1, put: " SELECT * FROM " } : null;
  },
  mssql(tokens, at) {
    const [text, next] = wordsAt(tokens, at);
    if (text === "OPTION" && next === "(") return { skip: lengthOfBrackets(tokens, at + 1) + 1, put: "" };
    if (text === "GROUPING" && next === "SETS") return { skip: 2, put: " ROLLUP" };
    if ((text === "PARSE" || text === "TRY_PARSE") && next === "(") return { skip: 1, put: " CAST" };
    return ["MERGE", "HASH", "LOOP", "REMOTE"].includes(text) && next === "JOIN" ? { skip: 1, put: "" } : null;
  },
  oracle(tokens, at) {
    const [text, next] = wordsAt(tokens, at);
    if (text === "AS" && next === "OF") return flashback(tokens, at);
    if (text === "KEEP" && next === "(" && tokens[at + 2]?.text === "DENSE_RANK") return { skip: 4, put: " OVER (" };
    if (text === "SIBLINGS" && next === "BY") return { skip: 1, put: "" };
    if (text === "PARTITION" && next === "(" && tokens[at + 3]?.text === ")") return { skip: 4, put: "" };
    // After a package name, the name of a built-in function is an ordinary name.
    const named = tokens[at - 1]?.text === "." && next === "(" && text !== "";
    return named ? { skip: 1, put: `"${text.toLowerCase()}"` } : null;
  },
};

const COMPOUND_UNIT =
  /^(?:YEAR_MONTH|DAY_(?:HOUR|MINUTE|SECOND|MICROSECOND)|HOUR_(?:MINUTE|SECOND|MICROSECOND)|MINUTE_(?:SECOND|MICROSECOND)|SECOND_MICROSECOND)$/;

/** Replaces bitwise complement by an operator that the parser knows. */
function complement(tokens: readonly Token[], at: number): { skip: number; put: string } | null {
  return tokens[at]?.kind === "symbol" && tokens[at]?.text === "~" ? { skip: 1, put: " - " } : null;
}

/** The tokens as text for the parser. */
export function parserText(tokens: readonly Token[], dialect: SqlDialect): string {
  const rewrite = REWRITES[dialect];
  const out: string[] = [];
  for (let at = 0; at < tokens.length;) {
    const change = rewrite?.(tokens, at) ?? null;
    out.push(change?.put ?? tokens[at]?.canonical ?? "");
    at += change?.skip ?? 1;
  }
  return out.join("");
}

/** The texts of the next four tokens; "" for the first if it is not a word. */
function wordsAt(tokens: readonly Token[], at: number): [string, string, string, string] {
  const [first, second, third, fourth] = tokens.slice(at, at + 4);
  return [first?.kind === "word" ? first.text : "", second?.text ?? "", third?.text ?? "", fourth?.text ?? ""];
}

/** Number of tokens in the brackets that open at `at`; 0 if they contain anything but plain words and literals. */
function lengthOfBrackets(tokens: readonly Token[], at: number): number {
  let depth = 0;
  for (let i = at; i < tokens.length; i++) {
    if (tokens[i]?.text === "(") depth++;
    if (tokens[i]?.text === ")" && --depth === 0) return i - at + 1;
    if (tokens[i]?.text === "SELECT") return 0;
  }
  return 0;
}

/** Removes `AS OF SCN 5` or `AS OF TIMESTAMP SYSTIMESTAMP - INTERVAL '1' HOUR`, provided that the time is a plain expression. */
function flashback(tokens: readonly Token[], at: number): { skip: number; put: string } | null {
  if (!["SCN", "TIMESTAMP"].includes(tokens[at + 2]?.text ?? "")) return null;
  let end = at + 3;
  while (
    /^(?:SYSTIMESTAMP|SYSDATE|INTERVAL|HOUR|MINUTE|DAY|SECOND|[-+/*]|)$/.test(tokens[end]?.text ?? "none") ||
    ["number", "string"].includes(tokens[end]?.kind ?? "")
  )
    end++;
  return end > at + 3 ? { skip: end - at, put: "" } : null;
}
