import type { SqlDialect } from "../argument-policy.ts";

/** A syntax tree of unknown type. */
export type Tree = unknown;

type PostgresParser = (sql: string) => { readonly stmts?: readonly { readonly stmt?: Tree }[] };
type DialectParser = (sql: string, dialect: Exclude<SqlDialect, "postgres">) => readonly Tree[];

let postgres: PostgresParser | null = null;
let dialects: DialectParser | null = null;

/** Loads PostgreSQL's own parser (WebAssembly, tens of milliseconds); idempotent. */
export async function loadPostgresParser(): Promise<void> {
  if (postgres !== null) return;
  const library = await import("libpg-query");
  await library.loadModule();
  postgres = library.parseSync;
}

/** Loads the parser for all other dialects (WebAssembly, about a tenth of a second); idempotent. */
export async function loadDialectParser(): Promise<void> {
  if (dialects !== null) return;
  const library = await import("@guanmingchiu/sqlparser-ts");
  await library.init();
  dialects = library.parse;
}

export type Parsed = { readonly ok: true; readonly statements: readonly Tree[] } | { readonly ok: false; readonly why: string };

export function parsePostgres(sql: string): Parsed {
  const parse = postgres;
  if (parse === null) return NOT_LOADED;
  return attempt(() => (parse(sql).stmts ?? []).map(({ stmt }) => stmt));
}

/** `sql` must be within the bounds set in `dialect-bounds.ts`: beyond them the parser takes exponential time or crashes permanently. */
export function parseDialect(sql: string, dialect: Exclude<SqlDialect, "postgres">): Parsed {
  const parse = dialects;
  if (parse === null) return NOT_LOADED;
  return attempt(() => parse(sql, dialect));
}

const NOT_LOADED: Parsed = { ok: false, why: "The SQL parser is not ready yet." };

/** Parsers throw on invalid SQL, and so does a stack overflow; either way the text was not understood. */
function attempt(parse: () => readonly Tree[]): Parsed {
  try {
    return { ok: true, statements: parse() };
  } catch {
    return { ok: false, why: "The SQL could not be parsed." };
  }
}
