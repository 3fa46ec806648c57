import { describe, expect, test } from "bun:test";
import type { CompiledArgumentPolicy } from "./argument-policy.ts";
import { compilePolicy } from "./compile-policy.ts";
import { judged } from "../../../tests/support/vendors/judged.ts";

const BASE: CompiledArgumentPolicy = {
  id: "p1",
  name: "Guard",
  target: "tool",
  argument_key: "a",
  analyzer: "shell",
  severity: "deny",
  rules: [{ deny_if: "chaining", message: "One command at a time." }],
};

function fieldsOf(change: Partial<CompiledArgumentPolicy>): string[] {
  const made = compilePolicy({ ...BASE, ...change });
  return made.ok ? [] : made.fields.map(({ field }) => field);
}

function judge(change: Partial<CompiledArgumentPolicy>, args: unknown) {
  const made = compilePolicy({ ...BASE, ...change });
  if (!made.ok) throw new Error(JSON.stringify(made.fields));
  return judged(made.policy, typeof args === "string" ? args : JSON.stringify(args));
}

test("a repeated statement gets the same verdict, and each policy decides for itself", async () => {
  const sql = { analyzer: "sql", rules: [{ deny_if: "writes", message: "Reading only." }] } as const;
  const [strict, trusting] = [{}, { read_functions: ["app.report"] }].map((change) => {
    const made = compilePolicy({ ...BASE, ...sql, ...change });
    if (!made.ok) throw new Error(JSON.stringify(made.fields));
    return made.policy;
  });
  await strict?.prepare();
  for (let times = 0; times < 3; times++) {
    expect(judged(strict, '{"a":"SELECT app.report()"}')).toMatchObject({ rule: "writes" });
    expect(judged(trusting, '{"a":"SELECT app.report()"}')).toBeNull();
    expect(judged(strict, '{"a":"SELECT 1"}')).toBeNull();
    expect(judged(strict, '{"a":"SELECT 1; DROP TABLE a"}')).toMatchObject({ rule: "writes" });
    expect(judged(strict, '{"a":"SELEC 1"}')).toMatchObject({ rule: "unparseable" });
  }
});

describe("an invalid policy is refused with the fields at fault:", () => {
  const cases: readonly (readonly [Partial<CompiledArgumentPolicy>, string[]])[] = [
    [{}, []],
    [{ analyzer: "guess" }, ["analyzer"]],
    [{ analyzer: "toString" }, ["analyzer"]],
    [{ rules: [] }, ["rules"]],
    [{ rules: [{ deny_if: "writes", message: "x" }] }, ["rules.0.deny_if"]],
    [{ rules: [{ deny_if: "constructor", message: "x" }] }, ["rules.0.deny_if"]],
    [{ rules: [{ deny_if: "chaining", message: " " }] }, ["rules.0.message"]],
    [{ rules: [{ deny_if: "chaining", message: "x", values: ["y"] }] }, ["rules.0.values"]],
    [
      {
        analyzer: "url",
        rules: [
          { deny_if: "private_address", message: "x" },
          { deny_if: "host_denied", message: "x" },
        ],
      },
      ["rules.1.values"],
    ],
    [{ analyzer: "path", rules: [{ deny_if: "outside_roots", message: "x", values: ["/a", " "] }] }, ["rules.0.values"]],
    [{ argument_key: null }, ["argument_key"]],
    [{ dialect: "postgres" }, ["dialect"]],
    [{ analyzer: "sql", dialect: "db2", rules: [{ deny_if: "writes", message: "x" }] }, ["dialect"]],
    [{ schema: {} }, ["schema"]],
    [{ analyzer: "json_schema", rules: [{ deny_if: "invalid", message: "x" }] }, ["schema"]],
    [{ analyzer: "json_schema", schema: { type: "nonsense" }, rules: [{ deny_if: "invalid", message: "x" }] }, ["schema"]],
    [
      { analyzer: "json_schema", schema: { $ref: "https://example.com/a.json" }, rules: [{ deny_if: "invalid", message: "x" }] },
      ["schema"],
    ],
    [
      {
        analyzer: "json_schema",
        schema: { type: "string", pattern: "^[a-z]+(-[a-z])?$" },
        argument_key: null,
        rules: [{ deny_if: "invalid", message: "x" }],
      },
      [],
    ],
  ];
  for (const [change, expected] of cases) test(JSON.stringify(change), () => expect(fieldsOf(change)).toEqual(expected));
});

describe("a compiled policy", () => {
  test("reports a hit with the policy, the tool, the rule and its message", () => {
    expect(judge({ severity: "warn" }, { a: "ls; rm x" })).toEqual({
      policy_id: "p1",
      policy: "Guard",
      tool: "tool",
      argument_key: "a",
      severity: "warn",
      rule: "chaining",
      message: "One command at a time.",
    });
    expect(judge({}, { a: "ls" })).toBeNull();
  });

  test("reports the first matching rule, and denies unreadable text with the policy's own message if it has one", () => {
    const rules = [
      { deny_if: "redirection", message: "R" },
      { deny_if: "chaining", message: "C" },
    ];
    expect(judge({ rules }, { a: "a; b > c" })?.message).toBe("R");
    expect(judge({ rules }, { a: "'open" })).toMatchObject({ rule: "unparseable", message: expect.stringContaining("quote") });
    expect(judge({ rules: [...rules, { deny_if: "unparseable", message: "U" }] }, { a: "'open" })?.message).toBe("U");
  });

  test("follows a dotted key through objects and lists, and also checks a member with that whole name", () => {
    expect(judge({ argument_key: "x.cmd" }, { x: { cmd: "a;b" } })?.rule).toBe("chaining");
    expect(judge({ argument_key: "x.cmd" }, { "x.cmd": "a;b", x: { cmd: "a" } })?.rule).toBe("chaining");
    expect(judge({ argument_key: "x.cmd" }, { x: [{ cmd: "a" }, { cmd: "a;b" }] })?.rule).toBe("chaining");
    expect(judge({ argument_key: "x.1" }, { x: ["a;b", "a"] })).toBeNull();
    expect(judge({ argument_key: "x" }, { x: ["a", ["b", "a;b"]] })?.rule).toBe("chaining");
    expect(judge({ argument_key: "toString" }, { a: 1 })).toBeNull();
    expect(judge({ argument_key: "x.cmd" }, '{"x":{"cmd":"a","cmd":"a;b"}}')?.rule).toBe("unparseable");
    expect(judge({ argument_key: "x.cmd" }, '{"y":[{"a":1,"\\u0061":2}]}')?.rule).toBe("unparseable");
    expect(judge({ argument_key: "x.cmd" }, '{"x":"text"}')).toBeNull();
  });

  test("compares values with lists, folded in denied lists and exact in allowed ones", () => {
    const denied = { analyzer: "values", rules: [{ deny_if: "in", message: "D", values: ["prod", "5"] }] };
    for (const a of ["prod", " PROD ", "ｐｒｏｄ", "pr\u200bod", 5]) expect(judge(denied, { a })?.message).toBe("D");
    for (const a of ["dev", true, null]) expect(judge(denied, { a })).toBeNull();
    const allowed = { analyzer: "values", rules: [{ deny_if: "not_in", message: "N", values: ["dev", "true"] }] };
    for (const a of ["dev", true, ["dev", "dev"]]) expect(judge(allowed, { a })).toBeNull();
    for (const a of ["Dev", "prod", null, ["dev", "prod"]]) expect(judge(allowed, { a })?.message).toBe("N");
    expect(judge(allowed, { a: { b: 1 } })?.rule).toBe("unparseable");
  });

  test("tells apart long IDs that differ in the last digit, and matches the number a tool may round to", () => {
    const denied = { analyzer: "values", rules: [{ deny_if: "in", message: "D", values: ["9007199254740993", "18014398509481984"] }] };
    for (const a of ["9007199254740993", "18014398509481985"]) expect(judge(denied, `{"a":${a}}`)?.message).toBe("D");
    for (const a of ["9007199254740992", "9007199254740995"]) expect(judge(denied, `{"a":${a}}`)).toBeNull();
    const allowed = { analyzer: "values", rules: [{ deny_if: "not_in", message: "N", values: ["9007199254740992", "9007199254740997"] }] };
    for (const a of ["9007199254740992", "[9007199254740997]"]) expect(judge(allowed, `{"a":${a}}`)).toBeNull();
    for (const a of ["9007199254740993", "9007199254740996"]) expect(judge(allowed, `{"a":${a}}`)?.message).toBe("N");
    for (const policy of [denied, allowed])
      for (const a of ["9007199254740993.0", "0.10000000000000000001"]) expect(judge(policy, `{"a":${a}}`)?.rule).toBe("unparseable");
  });

  test("does not match a number that rounds to one in a JSON Schema", () => {
    const schema = { type: "object", properties: { id: { enum: [9007199254740992] }, n: { type: "number", maximum: 100 } } };
    const whole = { analyzer: "json_schema", schema, argument_key: null, rules: [{ deny_if: "invalid", message: "I" }] };
    for (const args of ['{"id":9007199254740993}', '{"n":100.00000000000000001}']) expect(judge(whole, args)?.rule).toBe("unparseable");
    for (const args of ['{"id":9007199254740992}', '{"n":-0.0,"other":12345678901234567891}']) expect(judge(whole, args)).toBeNull();
    expect(judge(whole, '{"id":9007199254740996}')?.message).toBe("I");
  });

  test("checks one argument or the whole arguments against a JSON Schema", () => {
    const schema = { type: "object", properties: { n: { type: "integer", maximum: 10 } }, required: ["n"], additionalProperties: false };
    const whole = { analyzer: "json_schema", schema, argument_key: null, rules: [{ deny_if: "invalid", message: "I" }] };
    expect(judge(whole, { n: 5 })).toBeNull();
    for (const args of [{ n: 11 }, { n: "5" }, {}, "", { n: 1, m: 2 }, "[]"]) expect(judge(whole, args)?.message).toBe("I");
    expect(judge(whole, "{")?.rule).toBe("unparseable");
    expect(judge({ ...whole, argument_key: "list", schema: { type: "array", maxItems: 1 } }, { list: [1, 2] })?.message).toBe("I");
  });
});
