import type { Token } from "./tokens.ts";
import { words } from "./words.ts";

/** Pragmas that only read whatever their argument, which is a table, an index or a number of rows. */
const ABOUT = words(
  "TABLE_INFO TABLE_XINFO TABLE_LIST INDEX_LIST INDEX_INFO INDEX_XINFO FOREIGN_KEY_LIST FOREIGN_KEY_CHECK INTEGRITY_CHECK QUICK_CHECK",
);
/** Pragmas that only read a setting if they have no argument. */
const SETTINGS = words(`
  APPLICATION_ID AUTO_VACUUM BUSY_TIMEOUT CACHE_SIZE COLLATION_LIST COMPILE_OPTIONS DATA_VERSION DATABASE_LIST ENCODING FOREIGN_KEYS FREELIST_COUNT FUNCTION_LIST
  JOURNAL_MODE JOURNAL_SIZE_LIMIT LOCKING_MODE MAX_PAGE_COUNT MMAP_SIZE MODULE_LIST PAGE_COUNT PAGE_SIZE PRAGMA_LIST QUERY_ONLY READ_UNCOMMITTED
  RECURSIVE_TRIGGERS SCHEMA_VERSION SECURE_DELETE SYNCHRONOUS TEMP_STORE USER_VERSION
`);

/** Analyses SQLite's PRAGMA, which the parser does not support; null if the text is something else or more than one statement. */
export function readPragma(tokens: readonly Token[]): { readonly writes: boolean; readonly tables: readonly string[] } | null {
  const [first, ...rest] = tokens.at(-1)?.text === ";" ? tokens.slice(0, -1) : tokens;
  if (first?.kind !== "word" || first.text !== "PRAGMA" || rest.some(({ text }) => text === ";")) return null;
  const named = rest[1]?.text === "." ? rest.slice(2) : rest;
  const [name, open, argument, close, ...more] = named;
  if (name?.kind !== "word") return { writes: true, tables: [] };
  if (open === undefined) return { writes: !ABOUT.has(name.text) && !SETTINGS.has(name.text), tables: [] };
  const about = ABOUT.has(name.text) && open.text === "(" && argument !== undefined && close?.text === ")" && more.length === 0;
  return { writes: !about, tables: about ? [argument.text.toLowerCase()] : [] };
}
