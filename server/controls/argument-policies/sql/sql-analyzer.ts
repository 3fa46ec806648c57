import { BoundedMap } from "../../../directory/bounded-map.ts";
import { detachedString } from "../../../kernel/text/detached-string.ts";
import { type Analyzer, type AnalyzerResult, unreadable } from "../analyzer.ts";
import type { SqlDialect } from "../argument-policy.ts";
import { analyseDialect } from "./dialects.ts";
import type { SqlFacts } from "./facts.ts";
import { loadDialectParser, loadPostgresParser } from "./parsers.ts";
import { analysePostgres } from "./postgres.ts";
import { mayName } from "./table-names.ts";

const MAX_LENGTH = 64 * 1024;
/** Applications repeat the same statements, and the analysis depends only on the text. */
const MAX_REMEMBERED = 500;
const MAX_REMEMBERED_LENGTH = 2 * 1024;

/** Analyses SQL of one dialect. This is one layer of defence: what it allows is still subject to the database role's permissions. */
export function sqlAnalyzer(dialect: SqlDialect, readFunctions: readonly string[]): Analyzer {
  const trusted = new Set(readFunctions.map((name) => name.toLowerCase()));
  const analyse = (statement: string) =>
    findings(dialect === "postgres" ? analysePostgres(statement, trusted) : analyseDialect(statement, dialect, trusted));
  const remembered = new BoundedMap<string, AnalyzerResult>(MAX_REMEMBERED);
  return {
    prepare: dialect === "postgres" ? loadPostgresParser : loadDialectParser,
    inspect(value) {
      if (typeof value !== "string") return unreadable("The argument is not text.");
      if (value.length > MAX_LENGTH) return unreadable("The SQL is too long to be analysed.");
      // PostgreSQL's parser stops at a NUL, so anything after it would go unseen.
      if (value.includes("\0")) return unreadable("The SQL holds a NUL character.");
      const known = remembered.get(value);
      if (known !== undefined) return known;
      const found = analyse(value);
      // It may be unreadable only because the parser is not loaded yet, so that is not cached.
      if (found.unparseable === null && value.length <= MAX_REMEMBERED_LENGTH) remembered.set(detachedString(value), found);
      return found;
    },
  };
}

function findings(facts: SqlFacts): AnalyzerResult {
  return {
    unparseable: facts.unparseable,
    holds(denyIf, values) {
      switch (denyIf) {
        case "writes":
          return facts.writes;
        case "ddl":
          return facts.ddl;
        case "multi_statement":
          return facts.statements > 1;
        case "tables":
          return facts.opaque || facts.tables.some((table) => values.some((pattern) => mayName(table, pattern)));
        default:
          return false;
      }
    },
  };
}
