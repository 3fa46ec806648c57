import { type SqlFacts, unreadableFacts } from "./facts.ts";
import { type Tree, parsePostgres } from "./parsers.ts";
import { isOpaquePostgresFunction, isPostgresReadFunction } from "./postgres-functions.ts";
import { dotted, namesIn, stringsOf } from "./postgres-names.ts";

/** Syntax nodes that only read; their children are checked too. Every other node is a write. */
const READS = new Set([
  "SelectStmt",
  "ExplainStmt",
  "VariableShowStmt",
  "ResTarget",
  "ColumnRef",
  "A_Const",
  "A_Expr",
  "A_Star",
  "A_ArrayExpr",
  "A_Indirection",
  "A_Indices",
  "BoolExpr",
  "FuncCall",
  "TypeCast",
  "TypeName",
  "RangeVar",
  "RangeSubselect",
  "RangeFunction",
  "RangeTableSample",
  "RangeTableFunc",
  "RangeTableFuncCol",
  "JoinExpr",
  "SubLink",
  "SortBy",
  "WindowDef",
  "CommonTableExpr",
  "CaseExpr",
  "CaseWhen",
  "CoalesceExpr",
  "MinMaxExpr",
  "NullTest",
  "BooleanTest",
  "RowExpr",
  "List",
  "String",
  "Integer",
  "Float",
  "Boolean",
  "BitString",
  "GroupingSet",
  "GroupingFunc",
  "CollateClause",
  "LockingClause",
  "ParamRef",
  "SQLValueFunction",
  "XmlExpr",
  "XmlSerialize",
  "NamedArgExpr",
  "ColumnDef",
  "DefElem",
  "SetToDefault",
]);
const JSON_EXPRESSION = /^Json[A-Z]\w*$/;
const DDL = new RegExp(
  String.raw`^(?:Create|Alter|Drop|Truncate|Grant|Rename|Comment|Reindex|Cluster|Define|Index|View|Rule|SecLabel|` +
    String.raw`ImportForeignSchema|RefreshMatView|ReassignOwned|CompositeType)\w*Stmt$`,
);
/** Statements that run SQL text or a program that the tree does not show. */
const OPAQUE = new Set(["DoStmt", "CallStmt", "ExecuteStmt", "LoadStmt", "FetchStmt", "CreateFunctionStmt"]);

/** More tokens could make a tree so deep that it overflows the stack. */
const MAX_PIECES = 12_000;

/** Analyses PostgreSQL with its own grammar. `trusted` lists functions that only read, in lower case, with schema if any. */
export function analysePostgres(sql: string, trusted: ReadonlySet<string>): SqlFacts {
  if (sql.length > MAX_PIECES && piecesIn(sql) > MAX_PIECES) return unreadableFacts("The SQL is too long to be analysed.");
  const parsed = parsePostgres(sql);
  if (!parsed.ok) return unreadableFacts(parsed.why);
  if (parsed.statements.length === 0) return unreadableFacts("The SQL holds no statement.");
  const seen: Seen = { writes: false, ddl: false, opaque: false, tables: new Set() };
  for (const statement of parsed.statements) readTree(statement, seen, trusted);
  return {
    unparseable: null,
    statements: parsed.statements.length,
    writes: seen.writes,
    ddl: seen.ddl,
    opaque: seen.opaque,
    tables: [...seen.tables],
  };
}

function piecesIn(sql: string): number {
  let pieces = 0;
  for (const _ of sql.matchAll(/[\p{L}\p{N}_$]+|[^\s\p{L}\p{N}_$]/gu)) pieces++;
  return pieces;
}

interface Seen {
  writes: boolean;
  ddl: boolean;
  opaque: boolean;
  readonly tables: Set<string>;
}

/** Iterative, so that deep nesting cannot overflow the stack. */
function readTree(root: Tree, seen: Seen, trusted: ReadonlySet<string>): void {
  const open: Tree[] = [root];
  for (let tree = open.pop(); tree !== undefined; tree = open.pop()) {
    if (Array.isArray(tree)) open.push(...tree);
    else if (typeof tree === "object" && tree !== null) {
      const node = tree as Record<string, Tree>;
      if (typeof node["relname"] === "string") seen.tables.add(dotted([node["catalogname"], node["schemaname"], node["relname"]]));
      for (const key in node) {
        const inner = node[key];
        readMember(key, inner, seen, trusted);
        if (inner !== null && typeof inner === "object") open.push(inner);
      }
    }
  }
}

/** Names of members and nodes known to be harmless; bounded, because all come from the grammar. */
const harmless = new Set<string>();

function readMember(key: string, inner: Tree, seen: Seen, trusted: ReadonlySet<string>): void {
  if (harmless.has(key)) return;
  if (key === "intoClause") {
    seen.writes = true;
    seen.ddl = true;
  } else if (key === "FuncCall") readCall(inner as Record<string, Tree>, seen, trusted);
  else if (key === "CopyStmt") seen.writes ||= !isCopyToClient(inner as Record<string, Tree>);
  else if (/^[A-Z]/.test(key) && !READS.has(key) && !JSON_EXPRESSION.test(key)) {
    seen.writes = true;
    if (OPAQUE.has(key)) seen.opaque = true;
    if (DDL.test(key)) {
      seen.ddl = true;
      for (const name of namesIn(inner)) seen.tables.add(name);
    }
  } else harmless.add(key);
}

/** `COPY ... TO STDOUT` only reads; with a file or program it reaches outside the database. */
function isCopyToClient(copy: Record<string, Tree>): boolean {
  return !copy["is_from"] && !copy["is_program"] && !copy["filename"];
}

function readCall(call: Record<string, Tree>, seen: Seen, trusted: ReadonlySet<string>): void {
  const name = stringsOf(call["funcname"]).join(".").toLowerCase();
  if (isOpaquePostgresFunction(name)) seen.opaque = true;
  if (!trusted.has(name) && !isPostgresReadFunction(name)) seen.writes = true;
}
