import { expect, test } from "bun:test";
import fc from "fast-check";
import { rowHash } from "./canonical.ts";
import { printExportLine } from "./export.ts";
import { type AuditRow, FIELD_NAMES, FIELDS, type FieldName } from "./fields.ts";
import type { FieldType } from "./field-types.ts";
import { HASH_FORMATS } from "./hash-formats.ts";
import { provenLine } from "./proven-line.ts";
import { sealed } from "./test-chain.ts";
import { verifyExport } from "./verify-export.ts";

const plain = fc.stringMatching(/^[ !#-[\]-~]{0,12}$/);
const odd = fc.oneof(
  plain,
  fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
  fc.constantFrom("null", "true", '"', "\\", "a\nb", "a\tb", "é", "\u2028", "\u007f", "}}", '","id":"x'),
);
const time = fc.constantFrom("2026-11-21T10:00:00.000000Z", "2026-02-03T04:05:06.700800Z");
const VALUES: Readonly<Record<FieldType, fc.Arbitrary<unknown>>> = {
  text: odd,
  integer: fc.oneof(fc.constantFrom(0, -0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER), fc.maxSafeInteger()),
  number: fc.oneof(fc.constantFrom(0.000375, 1e-9, 1e21), fc.double({ noNaN: true, noDefaultInfinity: true })),
  boolean: fc.boolean(),
  timestamp: time,
  json: fc.oneof(fc.array(odd), fc.dictionary(odd, odd), fc.jsonValue()),
};
const CHAIN: readonly FieldName[] = ["chain_id", "chain_seq", "prev_hash", "row_hash"];
const row = fc.record(
  Object.fromEntries(FIELD_NAMES.filter((name) => !CHAIN.includes(name)).map((name) => [name, fc.option(VALUES[FIELDS[name].type])])),
  { requiredKeys: [] },
) as fc.Arbitrary<AuditRow>;

/** Formats a row as an export does: fields in table order, absent ones omitted. */
function lineOf(content: AuditRow): string {
  return printExportLine({
    type: "row",
    row: Object.fromEntries(FIELD_NAMES.filter((name) => content[name] != null).map((name) => [name, content[name]])),
  });
}

/** The verdicts on a chain of just this row, from the line as text and as parsed lines. */
async function verdicts(line: string): Promise<unknown[]> {
  const chain = printExportLine({
    type: "chain",
    writer: "w",
    exported_at: "2026-11-21T10:00:01.000000Z",
    chain_id: "c",
    first_seq: 1,
    head_seq: null,
    head_hash: null,
    last_checkpoint_seq: null,
    updated_at: null,
  });
  const judge = (given: Iterable<string> | AsyncIterable<string>) => verifyExport(given).catch((error: Error) => error.message);
  return [
    await judge(
      (async function* () {
        yield chain + line;
      })(),
    ),
    await judge([chain.trimEnd(), ...line.split("\n")]),
  ];
}

test("a line gets the same verdict whether its row is parsed or hashed from its text, in any format", async () => {
  await fc.assert(
    fc.asyncProperty(row, fc.constantFrom("v1", "v2"), async (content, format) => {
      const whole = sealed({ timestamp: "2026-11-21T10:00:00.000000Z", ...content }, 1, "0".repeat(64), "c", format);
      const [asText, asLines] = await verdicts(lineOf(whole));
      expect(asText).toEqual(asLines);
    }),
    { numRuns: 150 },
  );
});

test("an arbitrarily edited line gets the same verdict whether its row is parsed or hashed from its text", async () => {
  await fc.assert(
    fc.asyncProperty(
      row,
      fc.nat(),
      fc.nat(4),
      fc.constantFrom("", '"', "\\", ",", "}", "0", " ", "\r", "é", '"id":"x",', "null", "\\u0069"),
      async (content, place, gone, put) => {
        const line = lineOf(sealed({ timestamp: "2026-11-21T10:00:00.000000Z", ...content }, 1, "0".repeat(64), "c"));
        const at = place % line.length;
        const [asText, asLines] = await verdicts(`${line.slice(0, at)}${put}${line.slice(at + gone)}`);
        expect(asText).toEqual(asLines);
      },
    ),
    { numRuns: 250 },
  );
});

test("a row of plain values is verified from its text; no row with another hash is", () => {
  const every = Object.fromEntries(
    HASH_FORMATS.v2.map((name) => [
      name,
      { text: name, integer: 200, boolean: true, timestamp: "2026-11-21T10:00:00.000000Z" }[FIELDS[name].type as "text"],
    ]),
  ) as AuditRow;
  const more: AuditRow = {
    user_agent: "Zürich",
    error_message: 'no model "x"\n',
    tags: ["late"],
    custom_metadata: { a: "b", spans: 1.5, done: true, why: null },
    llm_estimated_cost_usd: 0.000375,
    duration_ms: 12,
  };
  const whole = sealed({ ...every, ...more }, 7, "ab".repeat(32), "c");
  const { id, chain_id, chain_seq, prev_hash, row_hash, created_at } = whole;
  const text = `x${lineOf(whole)}`;
  expect(provenLine(text, 1)).toEqual({
    row: { id, chain_id, chain_seq, prev_hash, row_hash, created_at, bodies_pruned_at: null, erased_at: null } as never,
    end: text.length,
  });
  for (const name of HASH_FORMATS.v2) {
    const edited = {
      ...whole,
      [name]:
        typeof whole[name] === "number"
          ? 201
          : typeof whole[name] === "boolean"
            ? false
            : name === "timestamp"
              ? "2026-11-21T10:00:00.000001Z"
              : "other",
    };
    expect(provenLine(lineOf(edited), 0)).toBeNull();
    expect(provenLine(lineOf({ ...whole, [name]: null }), 0)).toBeNull();
  }
  expect(provenLine(lineOf({ ...whole, row_hash: rowHash(whole, "v1", "ab".repeat(32)) }), 0)).toBeNull();
});
