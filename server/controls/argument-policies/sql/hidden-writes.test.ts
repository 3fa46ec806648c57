import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SQL_DIALECTS, type SqlDialect } from "../argument-policy.ts";
import { compilePolicy } from "../compile-policy.ts";
import type { CompiledPolicy } from "../compiled-policy.ts";
import { cpuMs } from "../../../../tests/support/processes/cpu-time.ts";
import { judged } from "../../../../tests/support/vendors/judged.ts";

const WRITES = [
  "DELETE FROM users",
  "UPDATE users SET a = 1",
  "INSERT INTO users VALUES (1)",
  "DROP TABLE users",
  "CREATE TABLE x (a int)",
  "ALTER TABLE users ADD b int",
  "TRUNCATE TABLE users",
  "GRANT SELECT ON users TO x",
];
const READS = [
  "SELECT 1",
  "SELECT a, 'it''s' FROM t WHERE b = 2",
  "SELECT count(*) FROM t GROUP BY a",
  "WITH x AS (SELECT 1 AS a) SELECT a FROM x",
];

function denying(dialect: SqlDialect, ...denyIfs: string[]): CompiledPolicy {
  const made = compilePolicy({
    id: "p",
    name: "p",
    target: "query",
    argument_key: "sql",
    analyzer: "sql",
    severity: "deny",
    dialect,
    rules: denyIfs.map((deny_if) => ({
      deny_if,
      message: deny_if,
      ...(deny_if === "tables" ? { values: ["hr.salaries", "secret_*"] } : {}),
    })),
  });
  if (!made.ok) throw new Error(JSON.stringify(made.fields));
  return made.policy;
}

const ruleOf = (policy: CompiledPolicy, sql: string) => judged(policy, JSON.stringify({ sql }))?.rule ?? null;

/** The same statement in other case, with other white space or comments between its words. */
const disguised = (sql: string) =>
  fc
    .array(fc.tuple(fc.constantFrom(" ", "\n", "\t", "/**/", " /* SELECT ' */ ", "/*;*/", " -- ' x\n"), fc.boolean()), {
      minLength: 20,
      maxLength: 20,
    })
    .map((choices) =>
      sql
        .split(" ")
        .map((word, index) => {
          const [gap, upper] = choices[index % choices.length] ?? [" ", true];
          return (upper ? word.toUpperCase() : word.toLowerCase()) + gap;
        })
        .join(""),
    );

beforeAll(async () => {
  await denying("postgres", "writes").prepare();
  await denying("mysql", "writes").prepare();
});

for (const dialect of SQL_DIALECTS) {
  describe(dialect, () => {
    const policy = denying(dialect, "writes");

    test("a disguised write is denied, alone or after a read", () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...WRITES).chain(disguised),
          fc.constantFrom("", ...READS.map((read) => `${read};`), "/* x */;", ";;"),
          (write, before) => ruleOf(policy, before + write) !== null,
        ),
        { numRuns: 300 },
      );
    });

    test("a write inside a string or comment is allowed", () => {
      fc.assert(
        fc.property(fc.constantFrom(...WRITES), (write) => ruleOf(policy, `SELECT '${write}' AS a /* ${write} */ -- ${write}`) === null),
        { numRuns: 50 },
      );
    });

    test("any text is judged quickly and without an exception", () => {
      const piece = fc.constantFrom(
        "(",
        ")",
        "'",
        '"',
        "`",
        "[",
        "]",
        "--",
        "/*",
        "*/",
        "$$",
        ";",
        ",",
        "SELECT",
        "FROM",
        "f(",
        "CASE WHEN",
        " ",
        "\n",
        "a",
        "1",
        "+",
        "NOT",
        "#",
        "\\",
        "@",
        "q'",
        "{",
        "}",
        "<",
        "ARRAY<",
        "::",
        "->",
      );
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
          const began = cpuMs();
          ruleOf(policy, pieces.join(" "));
          return cpuMs(began) < 1_000;
        }),
        { numRuns: 300 },
      );
    });

    test("text built to exhaust the parser is denied, and the parser still works afterwards", () => {
      const heavy = [
        "1+".repeat(30_000),
        "(".repeat(30_000),
        "NOT ".repeat(15_000),
        "f(".repeat(20_000),
        "a,".repeat(32_000),
        "CASE WHEN ".repeat(6_000),
        "(SELECT * FROM ".repeat(4_000),
        "[".repeat(30_000),
        "x->".repeat(20_000),
      ];
      for (const text of heavy) {
        const began = cpuMs();
        expect(ruleOf(policy, `SELECT ${text}1`.slice(0, 64 * 1024))).not.toBeNull();
        expect(cpuMs(began)).toBeLessThan(2_000);
      }
      expect(ruleOf(policy, `SELECT 1${" + 1".repeat(290)}`)).toBeNull();
      const deepest = dialect === "mssql" ? 11 : 24;
      for (const call of ["abs(", "abs((", "coalesce(1, ", "CASE WHEN abs("]) {
        const began = cpuMs();
        ruleOf(policy, `SELECT ${call.repeat(deepest)}1${")".repeat(call.endsWith("((") ? 2 * deepest : deepest)}`);
        expect(cpuMs(began)).toBeLessThan(1_000);
      }
      expect(ruleOf(policy, `SELECT ${"abs(".repeat(10)}1${")".repeat(10)}`)).toBeNull();
      expect(ruleOf(policy, "SELECT 1")).toBeNull();
    });

    test("rules on multiple statements, DDL, writes and tables match only what they name", () => {
      expect(ruleOf(denying(dialect, "multi_statement"), "SELECT 1; SELECT 2")).toBe("multi_statement");
      expect(ruleOf(denying(dialect, "multi_statement"), "SELECT 1;")).toBeNull();
      expect(ruleOf(denying(dialect, "ddl"), "DROP TABLE users")).toBe("ddl");
      expect(ruleOf(denying(dialect, "ddl"), "DELETE FROM users")).toBeNull();
      expect(ruleOf(denying(dialect, "ddl", "writes"), "DELETE FROM users")).toBe("writes");
      const tables = denying(dialect, "tables");
      for (const sql of [
        "SELECT * FROM hr.salaries",
        "SELECT * FROM salaries s",
        "SELECT * FROM a JOIN HR.Salaries ON 1 = 1",
        "SELECT (SELECT max(x) FROM secret_plans)",
        "DELETE FROM hr.salaries",
        "DROP TABLE hr.salaries",
        "WITH x AS (SELECT * FROM salaries) SELECT 1",
      ]) {
        expect([sql, ruleOf(tables, sql)]).toEqual([sql, "tables"]);
      }
      for (const sql of [
        "SELECT salaries FROM hr.staff",
        "SELECT * FROM sales.salaries",
        "SELECT 'salaries' FROM t",
        "SELECT * FROM plans",
      ]) {
        expect([sql, ruleOf(tables, sql)]).toEqual([sql, null]);
      }
    });

    test("an unreadable statement is denied under any rule", () => {
      const multi = denying(dialect, "multi_statement");
      for (const value of [
        "",
        " ",
        ";;",
        "-- only a comment",
        "SELECT FROM WHERE (",
        "hello world",
        "SELECT 'open",
        "SELECT 1 /* open",
        "SELECT \u00001",
        "SELECT 1 FROM t WHERE ((a)",
      ]) {
        expect([value, ruleOf(multi, value)]).toEqual([value, expect.stringMatching(/^(unparseable|multi_statement)$/)]);
      }
      for (const text of [
        "{",
        "[",
        "nonsense",
        '{"sql": 5}',
        '{"sql": null}',
        '{"sql": {"a": 1}}',
        '{"sql": ["SELECT 1", 5]}',
        '{"sql": "SELECT 1", "sql": "SELECT 2"}',
        '"SELECT 1"',
      ]) {
        expect([text, judged(multi, text)?.rule]).toEqual([text, "unparseable"]);
      }
      expect(judged(multi, '{"other": "DROP TABLE x; DROP TABLE y"}')).toBeNull();
      expect(judged(multi, "")).toBeNull();
      expect(judged(multi, '{"sql": ["SELECT 1", "SELECT 2; SELECT 3"]}')?.rule).toBe("multi_statement");
    });
  });
}

test.each<[SqlDialect, string]>([
  ["sqlite", "SELECT * FROM 'salaries'"],
  ["sqlite", "SELECT * FROM a, hr.'salaries'"],
  ["sqlite", "SELECT * FROM 'secret plans'"],
  ["bigquery", "SELECT * FROM `hr.sal*` WHERE _TABLE_SUFFIX = 'aries'"],
  ["bigquery", "SELECT * FROM `hr.*`"],
  ["bigquery", "SELECT * FROM `company.plans.secret_20*`"],
  ["bigquery", "SELECT * FROM `company.plans.sec*`"],
  ["snowflake", "SELECT * FROM IDENTIFIER('hr.' || 'salaries')"],
  ["snowflake", "SELECT * FROM identifier ($which)"],
  ["snowflake", "SELECT * FROM TABLE('hr.salaries')"],
  ["snowflake", "SELECT * FROM TABLE(?)"],
  ["snowflake", "SELECT * FROM TABLE(TO_QUERY('SELECT * FROM hr.salaries'))"],
  ["oracle", "SELECT XMLQUERY('fn:collection(\"oradb:/HR/SALARIES\")' RETURNING CONTENT) FROM dual"],
  ["oracle", "SELECT dburitype('/HR/SALARIES').getclob() FROM dual"],
])("a denied table is found in %s when named by a string or a pattern: %s", (dialect, sql) => {
  expect(ruleOf(denying(dialect, "tables"), sql)).toBe("tables");
});

test.each<[SqlDialect, string]>([
  ["sqlite", "SELECT a AS 'salaries' FROM t AS 'x'"],
  ["sqlite", "SELECT 'salaries', 'a b' FROM 'users'"],
  ["bigquery", "SELECT * FROM `hr.staff_*`"],
  ["bigquery", "SELECT * FROM `sales.sal*`"],
  ["snowflake", "SELECT * FROM TABLE(FLATTEN(INPUT => x))"],
  ["snowflake", "SELECT identifier FROM t"],
])("a table that is not denied may be read in %s: %s", (dialect, sql) => {
  expect(ruleOf(denying(dialect, "tables"), sql)).toBeNull();
});

test("functions listed in read_functions count as reads", () => {
  const made = compilePolicy({
    id: "p",
    name: "p",
    target: "q",
    argument_key: "sql",
    analyzer: "sql",
    severity: "deny",
    rules: [{ deny_if: "writes", message: "no" }],
    read_functions: ["app.Report"],
  });
  if (!made.ok) throw new Error("not compiled");
  expect(ruleOf(made.policy, "SELECT app.report(1)")).toBeNull();
  expect(ruleOf(made.policy, "SELECT app.other(1)")).toBe("writes");
});
