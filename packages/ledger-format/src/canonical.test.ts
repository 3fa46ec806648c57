import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalText, GENESIS_HASH, NotCanonical, possibleHashes, rowHash } from "./canonical.ts";
import { FIELDS, type AuditRow, type FieldName } from "./fields.ts";
import { HASH_FORMATS } from "./hash-formats.ts";

const FULL: AuditRow = {
  id: "01JQ3V7Z5K9M2N4P6R8T0W1X2Y",
  tenant_id: "5f0c6f0e-8f2b-4d57-9d7c-0d9b6f0c6f0e",
  timestamp: "2026-11-21T09:34:16.000123Z",
  proxy_type: "llm",
  proxy_subtype: "chat_completions",
  http_method: "POST",
  endpoint: "/v1/llm/chat/completions",
  llm_model_used: 'gpt "größe" \u{1F600}\n\u2028',
  guardrail_blocked: false,
  http_status_code: 200,
  success: true,
  request_content_hash: "ab".repeat(32),
};

// Existing chains were sealed with these bytes; changing them makes every such chain unverifiable.
const GOLDEN = {
  emptyHash: "acae8aa12a17d17b2e8d836cd75769cae16a6dfacf429de1245cfa7f276fd4dc",
  text: "5b227632222c2230314a513356375a354b394d324e345036523854305731583259222c2235663063366630652d386632622d346435372d396437632d306439623666306336663065222c22323032362d31312d32315430393a33343a31362e3030303132335a222c226c6c6d222c22636861745f636f6d706c6574696f6e73222c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c22504f5354222c222f76312f6c6c6d2f636861742f636f6d706c6574696f6e73222c6e756c6c2c22677074205c226772c3b6c39f655c2220f09f98805c6ee280a8222c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c6e756c6c2c66616c73652c6e756c6c2c3230302c747275652c6e756c6c2c6e756c6c2c2261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162616261626162222c6e756c6c2c6e756c6c2c6e756c6c5d",
  hashV2: "65bfcd63f3b5e3e869506a30c5f8966b3408838b32c2a2455cf9671ca8e62559",
  hashV1: "867113524fe449c975e675af9331bf5f0bd620e8d04d19492c6a040d769f00aa",
};

test("the canonical text of a row never changes", () => {
  expect(canonicalText({ id: "x" }, "v1")).toBe(`["v1","x"${",null".repeat(29)}]`);
  expect(canonicalText({ id: "x" }, "v2")).toBe(`["v2","x"${",null".repeat(33)}]`);
  expect(Buffer.from(canonicalText(FULL, "v2")).toString("hex")).toBe(GOLDEN.text);
});

test("the hash of a row never changes", () => {
  expect(rowHash({}, "v2", GENESIS_HASH)).toBe(GOLDEN.emptyHash);
  expect(rowHash(FULL, "v2", "0f".repeat(32))).toBe(GOLDEN.hashV2);
  expect(rowHash(FULL, "v1", "0f".repeat(32))).toBe(GOLDEN.hashV1);
});

const scalar = (name: FieldName): fc.Arbitrary<unknown> => {
  if (name === "timestamp")
    return fc
      .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
      .map((date) => `${date.toISOString().slice(0, 23)}456Z`);
  const { type } = FIELDS[name];
  if (type === "boolean") return fc.boolean();
  return type === "integer" ? fc.maxSafeInteger() : fc.string({ unit: "binary" });
};

const anyRow = fc.record(Object.fromEntries(HASH_FORMATS.v2.map((name) => [name, fc.option(scalar(name))])), {
  requiredKeys: [],
}) as unknown as fc.Arbitrary<AuditRow>;

test("canonical text is the JSON of exactly the format's fields, and survives a round trip", () => {
  fc.assert(
    fc.property(anyRow, (row) => {
      const text = canonicalText(row, "v2");
      const [tag, ...values] = JSON.parse(text) as unknown[];
      expect(tag).toBe("v2");
      expect(text).toBe(JSON.stringify([tag, ...values]));
      expect(values).toEqual(HASH_FORMATS.v2.map((name) => row[name] ?? null).map((value) => (Object.is(value, -0) ? 0 : value)));
      const again = Object.fromEntries(HASH_FORMATS.v2.map((name, index) => [name, values[index]])) as AuditRow;
      expect(canonicalText(again, "v2")).toBe(text);
    }),
    { numRuns: 500 },
  );
});

test("a change of a field outside the format keeps the hash; a change of any field inside changes it", () => {
  const before = rowHash(FULL, "v2", GENESIS_HASH);
  expect(rowHash({ ...FULL, error_message: "x", request_body_preview: "y", correlation_id: "z" }, "v2", GENESIS_HASH)).toBe(before);
  for (const name of HASH_FORMATS.v2) {
    const { type } = FIELDS[name];
    const other = name === "timestamp" ? "2026-11-21T09:34:16.000124Z" : type === "text" ? "other" : type === "boolean" ? !FULL[name] : 201;
    expect(rowHash({ ...FULL, [name]: other }, "v2", GENESIS_HASH)).not.toBe(before);
  }
});

test("a value without a unique canonical form is refused with an error that names the field", () => {
  const refused = (row: Record<string, unknown>) => () => canonicalText(row as AuditRow, "v2");
  expect(refused({ endpoint: "\ud800" })).toThrow(new NotCanonical("endpoint is not well-formed Unicode"));
  expect(refused({ timestamp: "2026-11-21T09:34:16Z" })).toThrow(NotCanonical);
  expect(refused({ http_status_code: 1.5 })).toThrow(NotCanonical);
  expect(refused({ http_status_code: 2 ** 53 })).toThrow(NotCanonical);
  expect(refused({ endpoint: ["a"] })).toThrow(NotCanonical);
  expect(() => rowHash({}, "v2", "AB".repeat(32))).toThrow(NotCanonical);
});

test("the v1 hash is accepted only for a row without the fields that v2 added", () => {
  const { request_content_hash: _, ...plain } = FULL;
  const old = { ...plain, prev_hash: GENESIS_HASH, row_hash: rowHash(plain, "v1", GENESIS_HASH) };
  expect(possibleHashes(old)).toContain(old.row_hash);
  expect(possibleHashes({ ...old, server_version: "2" })).not.toContain(old.row_hash);
});
