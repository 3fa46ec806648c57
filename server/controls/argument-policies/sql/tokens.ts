import type { SqlDialect } from "../argument-policy.ts";
import { LEXIS } from "./lexis.ts";

/**
 * A token of SQL outside comments. `text` of a word is upper case, with look-alike characters folded to ASCII; of a
 * quoted name it is the name without quotes.
 */
export interface Token {
  readonly kind: "word" | "name" | "string" | "number" | "symbol";
  readonly text: string;
  /** Its form for the parser: without comments and with blanked strings, so that parser and database cannot read them differently. */
  readonly canonical: string;
}

export type Lexed =
  | { readonly ok: true; readonly tokens: readonly Token[] }
  | { readonly ok: false; readonly why: string; readonly executableComment: boolean };

const WORD = /[\p{L}_][\p{L}\p{N}\p{M}_$#]*/uy;
const NUMBER = /(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y;
const PARAMETER = /(?:@@?[\p{L}_][\p{L}\p{N}_$.]*|:(?=[\p{L}\p{N}_])[\p{L}\p{N}_]+|\$\d+|#[\p{L}_#][\p{L}\p{N}_]*)/uy;
const SYMBOLS = ["<=>", "->>", "<=", ">=", "<>", "!=", "||", "&&", "::", ":=", "->", "=>", "<<", ">>", "**", "^="];

/**
 * Splits SQL into tokens as the dialect's database does. Refuses whatever databases, modes or parsers read
 * differently: unclosed comments and quotes, executable comments, control characters.
 */
export function lex(sql: string, dialect: Exclude<SqlDialect, "postgres">): Lexed {
  const lexis = LEXIS[dialect];
  const tokens: Token[] = [];
  const refuse = (why: string, executableComment = false): Lexed => ({ ok: false, why, executableComment });
  let space = "";
  const push = (kind: Token["kind"], text: string, canonical = text) => {
    tokens.push({ kind, text, canonical: space + canonical });
    space = "";
  };
  const match = (pattern: RegExp, at: number): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(sql)?.[0] ?? null;
  };

  for (let i = 0; i < sql.length;) {
    const c = sql[i] ?? "";
    const two = sql.slice(i, i + 2);
    if (c === " " || c === "\n" || c === "\r" || c === "\t" || c === "\f" || c === "\v") {
      space = " ";
      i++;
      continue;
    }
    if (/[\p{Z}\p{C}]/u.test(c)) return refuse("The SQL holds a control character or a space that databases read differently.");
    const dashes = two === "--" && (dialect !== "mysql" || /^[\s\p{Cc}]?$/u.test(sql[i + 2] ?? ""));
    if (dashes || (lexis.hashComments && c === "#") || (dialect === "snowflake" && two === "//")) {
      const rest = sql.slice(i);
      const end = rest.search(/[\n\r]/);
      // Some databases end a line at a lone carriage return, others do not.
      if (end >= 0 && rest[end] === "\r" && rest[end + 1] !== "\n") return refuse("The SQL has a comment that databases end differently.");
      i = end < 0 ? sql.length : i + end;
      space = " ";
      continue;
    }
    if (two === "/*") {
      const third = sql.slice(i + 2, i + 4).toUpperCase();
      if (third.startsWith("!") || third === "M!") return refuse("The SQL has a comment that a database executes.", true);
      const end = afterComment(sql, i, lexis.nestedComments);
      if (end === null) return refuse("The SQL has a comment that is not closed, or that databases close differently.");
      i = end;
      space = " ";
      continue;
    }
    if (two === "$$" && dialect === "snowflake") {
      const end = sql.indexOf("$$", i + 2);
      if (end < 0) return refuse("The SQL has a string that is not closed.");
      push("string", "", "'x'");
      i = end + 2;
      continue;
    }
    if (lexis.strings.includes(c)) {
      const last = tokens.at(-1);
      const prefix = space === "" && last?.kind === "word" && lexis.prefixes.test(last.text) ? last.text : "";
      const end = afterString(sql, i, c, dialect, lexis.backslashes, prefix);
      if (end === null) return refuse("The SQL has a string that is not closed.");
      if (prefix !== "") space = tokens.pop()?.canonical.startsWith(" ") ? " " : "";
      const quotedText = sql.slice(i + 1, end - 1);
      // SQLite accepts a string as a name where only a name is possible.
      push("string", "", dialect === "sqlite" ? (isPlainName(quotedText) ? `'${quotedText}'` : "' '") : "'x'");
      i = end;
      continue;
    }
    if (lexis.names.includes(c)) {
      const close = c === "[" ? "]" : c;
      const end = afterName(sql, i + 1, close);
      const name = sql.slice(i + 1, end - 1);
      if (end < 0 || name === "" || /[\\\p{Cc}]/u.test(name))
        return refuse("The SQL has a quoted name that is not closed or that databases read differently.");
      push("name", name.replaceAll(close + close, close), lexis.nameQuotes[0] + name.replace(/["`[\]]/g, "_") + lexis.nameQuotes[1]);
      i = end;
      continue;
    }
    const parameter = match(PARAMETER, i);
    if (
      parameter !== null &&
      !(c === ":" && sql[i - 1] === ":") &&
      !(c === ":" && dialect === "snowflake") &&
      !(c === "#" && dialect !== "mssql") &&
      !(c === "@" && (dialect === "oracle" || dialect === "snowflake"))
    ) {
      push("name", parameter, parameter);
      i += parameter.length;
      continue;
    }
    const word = match(WORD, i);
    if (word !== null) {
      const quoting = dialect === "oracle" && /^n?q$/i.test(word) && sql[i + word.length] === "'";
      if (quoting) {
        const end = afterOracleQuote(sql, i + word.length + 1);
        if (end === null) return refuse("The SQL has a string that is not closed.");
        push("string", "", "'x'");
        i = end;
      } else {
        push("word", word.normalize("NFKC").toUpperCase(), word);
        i += word.length;
      }
      continue;
    }
    const number = match(NUMBER, i);
    if (number !== null) {
      push("number", number);
      i += number.length;
      continue;
    }
    const symbol = SYMBOLS.find((one) => sql.startsWith(one, i)) ?? c;
    push("symbol", symbol);
    i += symbol.length;
  }
  return { ok: true, tokens };
}

export const isPlainName = (text: string): boolean => /^\w+$/.test(text);

/** Offset after a comment; null if it is not closed, or if databases may disagree about where nesting ends it. */
function afterComment(sql: string, at: number, nested: boolean): number | null {
  const first = sql.indexOf("*/", at + 2);
  if (first < 0) return null;
  if (!nested) return first + 2;
  let depth = 1;
  for (let i = at + 2; i < sql.length; i++) {
    const two = sql.slice(i, i + 2);
    if (two === "/*" || two === "*/") {
      depth += two === "/*" ? 1 : -1;
      i++;
      if (depth === 0) return i + 1;
    }
  }
  return null;
}

function afterString(sql: string, at: number, quote: string, dialect: SqlDialect, backslashes: boolean, prefix: string): number | null {
  const triple = dialect === "bigquery" && sql.startsWith(quote.repeat(3), at);
  const close = triple ? quote.repeat(3) : quote;
  for (let i = at + close.length; i < sql.length; i++) {
    // In BigQuery a backslash keeps the next quote from closing even a raw string.
    if (sql[i] === "\\" && backslashes && prefix !== "X") i++;
    else if (sql.startsWith(close, i)) {
      if (dialect === "bigquery" || sql[i + 1] !== quote) return i + close.length;
      i++;
    }
  }
  return null;
}

/** Offset after the quote that closes a name; -1 if it is not closed. A doubled quote stands for itself. */
function afterName(sql: string, at: number, close: string): number {
  for (let end = sql.indexOf(close, at); end >= 0; end = sql.indexOf(close, end + 2)) {
    if (sql[end + 1] !== close) return end + 1;
  }
  return -1;
}

/** Offset after the string `q'[...]'`, given that of its delimiter; null if it is not closed. */
function afterOracleQuote(sql: string, at: number): number | null {
  const open = sql[at] ?? "";
  if (open === "" || /\s/.test(open)) return null;
  const pairs: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}", "<": ">" };
  const end = sql.indexOf(`${pairs[open] ?? open}'`, at + 1);
  return end < 0 ? null : end + 2;
}
