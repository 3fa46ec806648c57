import type { SqlDialect } from "../argument-policy.ts";
import type { Token } from "./tokens.ts";

export type ParsedDialect = Exclude<SqlDialect, "postgres">;

/** Limits within which the parser is fast and its tree shallow; measured, with a wide margin. */
const MAX_TOKENS = 8_000;
const MAX_OPERATORS = 300;
const MAX_BRACKET_DEPTH = 40;
/** For T-SQL, each nested call doubles the parser's time. */
const MAX_CALL_DEPTH = (dialect: ParsedDialect) => (dialect === "mssql" ? 11 : 24);

const CHAINING = new Set([
  "AND",
  "OR",
  "NOT",
  "XOR",
  "UNION",
  "INTERSECT",
  "EXCEPT",
  "MINUS",
  "JOIN",
  "IS",
  "LIKE",
  "ILIKE",
  "BETWEEN",
  "IN",
  "AT",
  "COLLATE",
  "CASE",
  "ESCAPE",
  "DIV",
  "MOD",
  "REGEXP",
  "RLIKE",
  "GLOB",
  "MATCH",
  "PRIOR",
  "INTERVAL",
  "DATE",
  "TIMESTAMP",
]);

export function boundBroken(tokens: readonly Token[], dialect: ParsedDialect): string | null {
  if (tokens.length > MAX_TOKENS) return "The SQL is too long to be analysed.";
  const calls: boolean[] = [];
  let operators = 0;
  for (const [index, { kind, text }] of tokens.entries()) {
    const before = tokens[index - 1];
    const opens = kind === "symbol" && (text === "(" || text === "[" || text === "{");
    if (opens) calls.push(before?.kind === "word" || before?.kind === "name");
    else if (kind === "symbol" && (text === ")" || text === "]" || text === "}")) calls.pop();
    else if ((kind === "symbol" && text !== "," && text !== "." && text !== ";") || (kind === "word" && CHAINING.has(text))) operators++;
    if (operators > MAX_OPERATORS || calls.length > MAX_BRACKET_DEPTH) return "The SQL is too involved to be analysed.";
    if (opens && calls.filter(Boolean).length > MAX_CALL_DEPTH(dialect)) return "The SQL is too involved to be analysed.";
  }
  return null;
}
