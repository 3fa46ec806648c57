import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { SQL_DIALECTS, type SqlDialect } from "../argument-policy.ts";
import { compilePolicy } from "../compile-policy.ts";
import { judged } from "../../../../tests/support/vendors/judged.ts";

const CORPUS = new URL("../../../../tests/corpora/sql/", import.meta.url);

interface Statement {
  readonly write: boolean;
  readonly sql: string;
}

function statementsOf(dialect: SqlDialect): Statement[] {
  const lines = readFileSync(new URL(`${dialect}.txt`, CORPUS), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => ({ write: line.startsWith("W "), sql: line.slice(2).replaceAll("⏎", "\n").replaceAll("␀", "\0") }));
}

function policyFor(dialect: SqlDialect) {
  const made = compilePolicy({
    id: "p",
    name: "read only",
    target: "query",
    argument_key: "sql",
    analyzer: "sql",
    severity: "deny",
    dialect,
    rules: [{ deny_if: "writes", message: "This tool only reads." }],
  });
  if (!made.ok) throw new Error(JSON.stringify(made.fields));
  return made.policy;
}

describe("an SQL policy that denies writes", () => {
  const wrong: string[] = [];
  const figures = { reads: 0, writes: 0, readsDenied: 0, writesAllowed: 0 };

  beforeAll(async () => {
    for (const dialect of SQL_DIALECTS) {
      const policy = policyFor(dialect);
      await policy.prepare();
      let readsDenied = 0;
      let writesAllowed = 0;
      const statements = statementsOf(dialect);
      for (const { write, sql } of statements) {
        const denied = judged(policy, JSON.stringify({ sql }));
        if (write === (denied !== null)) continue;
        wrong.push(`${dialect} ${write ? "ALLOWED" : `denied (${denied?.rule}: ${denied?.message})`}: ${sql}`);
        if (write) writesAllowed++;
        else readsDenied++;
      }
      const writes = statements.filter(({ write }) => write).length;
      figures.writes += writes;
      figures.reads += statements.length - writes;
      figures.readsDenied += readsDenied;
      figures.writesAllowed += writesAllowed;
      console.log(
        `${dialect.padEnd(10)} ${writesAllowed}/${writes} writes allowed, ${readsDenied}/${statements.length - writes} reads denied`,
      );
    }
    for (const line of wrong) console.log(line);
    console.log(JSON.stringify(figures));
  });

  test("denies every write of the corpus", () => {
    expect(figures.writes + figures.reads).toBeGreaterThanOrEqual(300);
    expect(wrong.filter((line) => line.includes(" ALLOWED: "))).toEqual([]);
  });

  test("denies at most 2 % of the corpus' reads", () => {
    expect(figures.readsDenied / figures.reads).toBeLessThanOrEqual(0.02);
  });
});
