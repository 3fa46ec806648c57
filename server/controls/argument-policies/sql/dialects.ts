import { boundBroken, type ParsedDialect } from "./dialect-bounds.ts";
import { isReadFunction } from "./dialect-functions.ts";
import { type SqlFacts, unreadableFacts } from "./facts.ts";
import { isNeverRead, lexicalSigns } from "./lexical-signs.ts";
import { parseDialect, type Tree } from "./parsers.ts";
import { parserText } from "./parser-text.ts";
import { readPragma } from "./pragma.ts";
import { isPlainName, lex, type Token } from "./tokens.ts";

/** Statement nodes that only read. */
const READS = new Set([
  "Query",
  "Explain",
  "ExplainTable",
  "ShowTables",
  "ShowColumns",
  "ShowCreate",
  "ShowDatabases",
  "ShowSchemas",
  "ShowViews",
  "ShowFunctions",
  "ShowVariable",
  "ShowVariables",
  "ShowStatus",
  "ShowCollation",
  "ShowCharset",
  "ShowObjects",
  "List",
]);
const WRITE_NODES = new Set(["Insert", "Update", "Delete", "Merge"]);

/**
 * Analyses SQL of a dialect for which the database's own parser is not available: first the tokens by themselves, then
 * the tree of a tolerant parser. A statement is a read only if both say so.
 */
export function analyseDialect(sql: string, dialect: ParsedDialect, trusted: ReadonlySet<string>): SqlFacts {
  const lexed = lex(sql, dialect);
  if (!lexed.ok) return unreadableFacts(lexed.why, { writes: lexed.executableComment, opaque: lexed.executableComment });
  const { tokens } = lexed;
  const signs = lexicalSigns(tokens, dialect);
  if (signs.statements === 0) return unreadableFacts("The SQL holds no statement.");
  const tooMuch = boundBroken(tokens, dialect);
  if (tooMuch !== null) return unreadableFacts(tooMuch, signs);
  const pragma = dialect === "sqlite" ? readPragma(tokens) : null;
  if (pragma !== null) return { ...signs, unparseable: null, writes: signs.writes || pragma.writes, tables: pragma.tables };
  // The parser does not know all forms of SHOW, none of which writes.
  if (dialect === "mysql" && signs.statements === 1 && tokens[0]?.text === "SHOW" && !tokens.some(({ text }) => text === "("))
    return { ...signs, unparseable: null, tables: namesOf(tokens) };
  const parsed = parseDialect(parserText(tokens, dialect), dialect);
  if (!parsed.ok) return unreadableFacts(parsed.why, signs);
  const seen = { writes: signs.writes, namesByText: false, tables: new Set<string>() };
  for (const statement of parsed.statements) readStatement(statement, dialect, trusted, seen);
  if (seen.namesByText) return unreadableFacts("The SQL has a text in the place of a name.", { ...signs, opaque: true });
  return {
    ...signs,
    unparseable: null,
    statements: Math.max(signs.statements, parsed.statements.length),
    writes: seen.writes,
    tables: [...seen.tables],
  };
}

/** Every name in the statement, because it is not known which are tables. */
function namesOf(tokens: readonly Token[]): string[] {
  return tokens.flatMap(({ kind, text }) => (kind === "word" || kind === "name" ? [text.toLowerCase()] : []));
}

interface Seen {
  writes: boolean;
  namesByText: boolean;
  readonly tables: Set<string>;
}

function readStatement(statement: Tree, dialect: ParsedDialect, trusted: ReadonlySet<string>, seen: Seen): void {
  const kind =
    typeof statement === "string"
      ? statement
      : typeof statement === "object" && statement !== null
        ? (Object.keys(statement)[0] ?? "")
        : "";
  if (!READS.has(kind)) seen.writes = true;
  if (kind === "Explain") {
    // Oracle's EXPLAIN PLAN writes its plan into a table.
    const inner = (statement as { Explain: { statement?: unknown } }).Explain.statement;
    if (dialect === "oracle" || typeof inner !== "object" || inner === null || !("Query" in inner)) seen.writes = true;
  }
  readTree(statement, dialect, trusted, seen);
}

/** Iterative, so that deep nesting cannot overflow the stack. */
function readTree(root: Tree, dialect: ParsedDialect, trusted: ReadonlySet<string>, seen: Seen): void {
  const open: Tree[] = [root];
  for (let tree = open.pop(); tree !== undefined; tree = open.pop()) {
    if (Array.isArray(tree)) {
      const name = objectName(tree);
      if (name === null) open.push(...tree);
      else {
        seen.tables.add(name);
        if (tree.some(isUnclearName)) seen.namesByText = true;
        // A four-part name refers to another server.
        if (dialect === "mssql" && tree.length > 3) seen.writes = true;
      }
    } else if (typeof tree === "object" && tree !== null) {
      for (const [key, inner] of Object.entries(tree)) {
        if (inner === null || typeof inner !== "object") continue;
        if (WRITE_NODES.has(key) || key === "into") seen.writes = true;
        const called = calledName(key, inner as Record<string, Tree>);
        if (called === null) open.push(inner);
        else {
          // In SQLite a table may take arguments, such as one for text search; those that write are known by name.
          const virtualTable = dialect === "sqlite" && key === "Table" && !called.startsWith("pragma_");
          if (!virtualTable && !trusted.has(called) && !isReadFunction(called, dialect)) seen.writes = true;
          if (key === "Table") seen.tables.add(called);
          open.push({ ...inner, name: null });
        }
      }
    }
  }
}

/** The name of a called function or table function; null for any other node. */
function calledName(key: string, node: Record<string, Tree>): string | null {
  if (key !== "Function" && !(key === "Table" && typeof node["args"] === "object" && node["args"] !== null)) return null;
  return Array.isArray(node["name"]) ? objectName(node["name"]) : null;
}

/** The tree represents a table name as a list of identifier nodes, and a column list as bare identifiers. Null if not a table name. */
function objectName(list: readonly Tree[]): string | null {
  if (list.length === 0) return null;
  const parts = list.map((item) => {
    const value = identifierOf(item)?.value;
    return typeof value === "string" ? value : null;
  });
  return parts.every((part) => part !== null) ? parts.join(".").toLowerCase() : null;
}

/** A string used as a name whose content is not inspected as a string. */
function isUnclearName(item: Tree): boolean {
  const { value, quote_style: quote } = identifierOf(item) ?? {};
  return quote === "'" && (!isPlainName(String(value)) || isNeverRead(String(value)));
}

function identifierOf(item: Tree): { readonly value?: unknown; readonly quote_style?: unknown } | undefined {
  return typeof item === "object" && item !== null
    ? (item as { Identifier?: { value?: unknown; quote_style?: unknown } }).Identifier
    : undefined;
}
