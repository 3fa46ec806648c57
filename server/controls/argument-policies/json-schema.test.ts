import { describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { inTurns } from "../../kernel/scheduling/in-turns.ts";
import { ContentWork } from "../../road/policy/content-work.ts";
import { fixedWorkMs } from "../../../tests/support/processes/cpu-time.ts";
import { longestTurn } from "../../../tests/support/processes/longest-turn.ts";
import type { CompiledArgumentPolicy } from "./argument-policy.ts";
import { compilePolicy } from "./compile-policy.ts";
import { schemaAnalyzer } from "./json-schema.ts";

const BASE: CompiledArgumentPolicy = {
  id: "p1",
  name: "Shape",
  target: "tool",
  argument_key: null,
  analyzer: "json_schema",
  severity: "deny",
  rules: [{ deny_if: "invalid", message: "Not of the shape." }],
};

/** Each definition refers twice to the previous one, so that evaluating the last evaluates the first a billion times. */
function doubling(first: object): object {
  const $defs: Record<string, object> = { d0: first };
  for (let n = 1; n <= 30; n++) $defs[`d${n}`] = { allOf: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] };
  return { $defs, $ref: "#/$defs/d30" };
}

const many = <T>(count: number, item: (at: number) => T) => Array.from({ length: count }, (_, at) => item(at));

describe("a hostile schema or value does not block the event loop:", () => {
  const cases: readonly (readonly [name: string, schema: object, value: unknown, rule: string | null])[] = [
    ["a pattern that backtracks", { type: "string", pattern: "^a*a*a*a*a*b$" }, "a".repeat(500), "invalid"],
    ["a pattern that backtracks on a long text", { type: "string", pattern: "^a*a*a*a*a*b$" }, "a".repeat(250_000), "invalid"],
    ["nested repeated groups", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(50_000)}b`, "invalid"],
    ["definitions that double in size", doubling({ type: "string" }), "x", "unparseable"],
    ["definitions that double in size, on a long text", doubling({ type: "string", minLength: 3 }), "x".repeat(200_000), "unparseable"],
    ["a definition that refers to itself", { $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" }, "x", "unparseable"],
    ["many items that must be unique", { type: "array", uniqueItems: true }, many(15_000, (at) => ({ n: at })), null],
    [
      "many items and a long enumeration",
      { type: "array", items: { enum: many(8_000, (at) => `v${at}`) } },
      many(30_000, () => "v7999"),
      null,
    ],
    [
      "large values compared with many constants",
      { anyOf: many(400, (n) => ({ const: { n } })) },
      many(20_000, (n) => ({ n })),
      "unparseable",
    ],
    [
      "many items with many properties each",
      { type: "array", items: { type: "object", properties: Object.fromEntries(many(900, (n) => [`p${n}`, { type: "string" }])) } },
      many(60_000, () => ({})),
      "unparseable",
    ],
    [
      "many names compared with many patterns",
      { type: "object", patternProperties: Object.fromEntries(many(150, (n) => [`^(a|b)*${n}$`, { type: "number" }])) },
      Object.fromEntries(many(10_000, (n) => [`ab${n}`, 1])),
      "unparseable",
    ],
  ];
  test.each(cases)("%s", async (_, schema, value, rule) => {
    const made = compilePolicy({ ...BASE, schema });
    if (!made.ok) throw new Error(JSON.stringify(made.fields));
    await made.policy.prepare().catch(() => undefined);
    const work = new ContentWork();
    const text = JSON.stringify(value);
    const { result, longestMs } = await longestTurn(() =>
      inTurns(
        guarded(() => made.policy.judge(text, work)),
        work,
      ),
    );
    expect(result === null ? null : result.rule).toBe(rule);
    expect(longestMs).toBeLessThan(3 * fixedWorkMs());
  });

  /** As in a stored policy: an exception counts against the call. */
  function* guarded(judge: () => ReturnType<Extract<ReturnType<typeof compilePolicy>, { ok: true }>["policy"]["judge"]>) {
    try {
      return yield* judge();
    } catch {
      return { rule: "unparseable" };
    }
  }
});

describe("an invalid schema is refused when it is saved, with the path of its field:", () => {
  const fieldsOf = (schema: object) => {
    const made = compilePolicy({ ...BASE, schema });
    return made.ok ? [] : made.fields;
  };
  test.each([
    [{ properties: { a: { type: "string", pattern: "(?=a)b" } } }, "schema.properties.a.pattern", /no pattern of RE2/],
    [{ items: { anyOf: [{}, { pattern: "(a)\\1" }] } }, "schema.items.anyOf.1.pattern", /no pattern of RE2/],
    [{ patternProperties: { "(?<!x)y": {} } }, "schema.patternProperties.(?<!x)y", /no pattern of RE2/],
    [{ $defs: { a: { pattern: "([a-z]{1,30}){1,30}" } } }, "schema.$defs.a.pattern", /too large a pattern/],
    [{ allOf: many(501, () => ({ $ref: "#/$defs/a" })), $defs: { a: {} } }, "schema", /more than 500 references/],
    [{ allOf: many(1_001, () => ({})) }, "schema", /more than 1000 schemas/],
    [{ properties: Object.fromEntries(many(201, (n) => [`p${n}`, { pattern: "a" }])) }, "schema", /more than 200 patterns/],
    [{ type: "nonsense" }, "schema", /./],
  ] as const)("case %#", (schema, field, message) => {
    expect(fieldsOf(schema)[0]).toEqual({ field, message: expect.stringMatching(message) });
  });
});

test("a schema accepts exactly the values that Ajv accepts", () => {
  const plain = new Ajv2020({ strict: false, logger: false });
  const scalar = fc.oneof(fc.constantFrom<unknown>(null, true, 0, 1, -0, 1.5, "", "a", "b1", "A/12"), fc.integer({ min: -3, max: 3 }));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "b1"), tie("value"), { maxKeys: 3 }),
    ),
  }));
  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: value }),
      fc.record({ type: fc.constantFrom("string", "number", "array", "object", "null", "boolean", "integer") }),
      fc.record({ type: fc.constant("string"), pattern: fc.constantFrom("^a", "\\d+$", "[A-Z]\\/", "^(a|b)+1?$") }),
      fc.record({ type: fc.constant("array"), uniqueItems: fc.boolean(), items: tie("schema") }),
      fc.record({ type: fc.constant("array"), contains: tie("schema") }),
      fc.record({
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
        additionalProperties: tie("schema"),
      }),
      fc.record({ type: fc.constant("object"), patternProperties: fc.dictionary(fc.constantFrom("^b", "1$"), tie("schema")) }),
      fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      fc.record({ not: tie("schema") }),
    ),
  }));
  fc.assert(
    fc.property(schema, value, (one, given) => {
      const made = schemaAnalyzer(one);
      fc.pre("inspect" in made);
      if (!("inspect" in made)) return;
      const parsed = JSON.parse(JSON.stringify(given)) as unknown;
      expect(made.inspect(parsed).holds("invalid", [])).toBe(!plain.compile(one)(parsed));
    }),
    { numRuns: 400, seed: 20_261_123 },
  );
});
